//! What is missed or asked twice: invitations, rounds, the end, a broker of the cluster that is elsewhere.

use crate::federation::{Federation, Process, byz, ignored, no_broker, verdicts};
use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    process::Command,
    sync::mpsc,
    thread::{sleep, spawn},
    time::Duration,
};

const CONFIG: &str = "task = \"quartic(dimension=20)\"\ntolerance = 1\ndefense = \"nnm+geometric_median\"\nstrict = true\n\
                      rate = 0.05\nrounds = 40\nevaluate_every = 10";

fn signal(process: &Process, name: &str) {
    assert!(Command::new("kill").args([name, &process.0.id().to_string()]).status().expect("kill").success());
}

#[test]
fn a_worker_killed_within_a_round_has_the_bits_of_one_that_was_not() {
    if no_broker() {
        return;
    }
    // The first round lasts until the last worker comes.
    let federation = Federation::start(5, CONFIG, "momentum = \"worker\"\npatience = 10000.0");
    let mut workers = federation.workers(4);
    let mut coordinator = federation.coordinator(&[]);
    let is_kept = |name: &str| name.starts_with("worker-0-") && name.ends_with(".momentum");
    let files = || fs::read_dir(federation.folder.path()).expect("a folder").flatten();
    federation.until(30, "momentum", || files().any(|file| file.file_name().to_str().is_some_and(is_kept)));
    workers[0].kill();
    workers[0] = federation.worker(0, &[]);
    federation.until(30, "return", || federation.said("worker-0").contains("momentum of round 1 taken up"));
    workers.push(federation.worker(4, &[]));
    assert_eq!(coordinator.wait(120), 0, "{}", federation.said("coordinator"));
    federation.has_the_bits_of_one_process();
}

#[test]
fn a_worker_that_missed_the_invitation_asks_for_one() {
    if no_broker() {
        return;
    }
    let mut federation = Federation::start(5, &CONFIG.replace("40", "1000000"), "deadline = 0.5");
    let workers = federation.workers(5);
    let mut coordinator = federation.coordinator(&["--checkpoint-rounds", "10"]);
    federation.await_round(10, 60);
    // Held up while another run begins: it hears models of a run that it was not invited to.
    signal(&workers[4], "-STOP");
    coordinator.kill();
    federation.stop_broker();
    fs::remove_dir_all(federation.path("run")).expect("removed");
    federation.start_broker();
    let _coordinator = federation.coordinator(&["--checkpoint-rounds", "10"]);
    federation.await_round(10, 60);
    signal(&workers[4], "-CONT");
    let joined = || federation.said("worker-4").matches("joins run").count() == 2;
    federation.until(30, "second run of worker 4", joined);
}

#[test]
fn a_run_that_was_done_dismisses_workers_that_come_late() {
    if no_broker() {
        return;
    }
    let federation = Federation::start(5, CONFIG, "");
    let _workers = federation.workers(5);
    assert_eq!(federation.coordinator(&[]).wait(120), 0, "{}", federation.said("coordinator"));
    let mut late = federation.worker(2, &[]);
    sleep(Duration::from_millis(500));
    assert!(late.0.try_wait().expect("a child").is_none(), "it waits");
    assert_eq!(federation.coordinator(&[]).wait(60), 0, "{}", federation.said("coordinator"));
    assert!(federation.said("coordinator").contains("was already done"));
    assert_eq!(late.wait(10), 0);
}

#[test]
fn a_flood_of_one_member_holds_up_nobody_beyond_the_deadline() {
    if no_broker() {
        return;
    }
    let federation = Federation::start(5, CONFIG, "deadline = 3.0");
    let mut workers = federation.workers(4);
    workers.push(federation.worker(4, &["--attack", "flood"]));
    assert_eq!(federation.coordinator(&[]).wait(120), 0, "{}", federation.said("coordinator"));
    let lines = federation.lines("run");
    assert_eq!(lines.len(), 41);
    assert!(ignored(&lines, "flood") > 1000, "{}", ignored(&lines, "flood"));
    for honest in 0..4 {
        assert!(verdicts(&lines, honest).len() < 20, "{honest}: {:?}", verdicts(&lines, honest));
    }
}

/// A broker that names another elsewhere to go to, and then is gone: the commands of whoever connected.
fn broker_of_a_cluster(elsewhere: u16) -> (u16, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (tell, told) = mpsc::channel();
    spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        let info = format!(
            "INFO {{\"server_id\":\"a\",\"version\":\"2.10.0\",\"proto\":1,\"headers\":true,\"host\":\"127.0.0.1\",\"port\":{port},\
             \"max_payload\":4194304,\"nonce\":\"abc\",\"connect_urls\":[\"localhost.localdomain:{elsewhere}\",\"127.0.0.2:{elsewhere}\"]}}\r\n"
        );
        stream.write_all(info.as_bytes()).expect("sent");
        answer_pings(stream, &tell);
    });
    (port, told)
}

fn answer_pings(mut stream: TcpStream, tell: &mpsc::Sender<String>) {
    let lines = BufReader::new(stream.try_clone().expect("a stream")).lines().map_while(Result::ok);
    for line in lines.take_while(|line| !line.starts_with("SUB")) {
        if line.starts_with("PING") {
            stream.write_all(b"PONG\r\n").expect("sent");
        }
        let _ = tell.send(line);
    }
}

#[test]
fn in_plain_text_nobody_follows_a_broker_elsewhere() {
    if no_broker() {
        return;
    }
    let federation = Federation::start(3, CONFIG, "");
    let elsewhere = TcpListener::bind("127.0.0.2:0").expect("another address of this machine");
    let (port, told) = broker_of_a_cluster(elsewhere.local_addr().expect("an address").port());
    let (url, creds) = (format!("nats://127.0.0.1:{port}"), federation.key("worker-0.creds"));
    let _worker = Process(byz(&["worker", "--nats", &url, "--creds"]).arg(creds).spawn().expect("a worker"));
    assert!(told.recv_timeout(Duration::from_secs(20)).expect("a client").starts_with("CONNECT"));
    let (came, comes) = mpsc::channel();
    spawn(move || came.send(elsewhere.accept().is_ok()));
    assert!(comes.recv_timeout(Duration::from_secs(4)).is_err(), "it went elsewhere without encryption");
}

#[test]
fn two_coordinators_of_one_federation_are_noticed() {
    if no_broker() {
        return;
    }
    let federation = Federation::start(5, &CONFIG.replace("40", "1000000"), "deadline = 0.5");
    let _workers = federation.workers(5);
    let _one = federation.coordinator(&[]);
    federation.await_round(1, 60);
    let mut other = byz(&["coordinator", "--nats", &federation.url(), "--creds"]);
    other.arg(federation.key(byz_net::plan::COORDINATOR)).arg(federation.config());
    let _other = federation.spawn(other.arg("--out").arg(federation.path("other")), "other");
    let noticed =
        || ["coordinator", "other"].iter().any(|name| federation.said(name).contains("answers another run"));
    federation.until(30, "a warning", noticed);
}
