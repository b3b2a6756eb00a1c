//! A broker that was taken over: it can drop, delay and send again what it has seen, and forge nothing.

use crate::federation::{Federation, ignored, no_broker, verdicts};
use std::{
    collections::VecDeque,
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    thread::spawn,
};

const CONFIG: &str = "task = \"quartic(dimension=20)\"\ntolerance = 1\ndefense = \"nnm+geometric_median\"\nstrict = true\n\
                      rate = 0.05\nrounds = 100\nevaluate_every = 10";
const USER: &str = "    { user: \"eve\", password: \"eve\" }\n";
/// How many messages ago what is sent again was first sent: another for each message, so that models and answers of the last
/// round and of many rounds before mix.
const AGO: [usize; 5] = [1, 3, 7, 20, 61];

/// Sends old messages again on their own subjects whenever a new one comes.
fn replay(port: u16) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the broker");
    stream
        .write_all(b"CONNECT {\"user\":\"eve\",\"pass\":\"eve\",\"echo\":false,\"verbose\":false}\r\nSUB > 1\r\nPING\r\n")
        .expect("sent");
    let mut incoming = BufReader::new(stream.try_clone().expect("a stream"));
    let (mut line, mut seen, mut count) = (String::new(), VecDeque::new(), 0);
    // Until it has subscribed: what comes after is heard.
    while line != "PONG\r\n" {
        line.clear();
        incoming.read_line(&mut line).expect("an answer");
        assert!(!line.starts_with("-ERR"), "{line}");
    }
    spawn(move || {
        loop {
            line.clear();
            if incoming.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["PING"] => drop(stream.write_all(b"PONG\r\n")),
                ["MSG", subject, .., length] => {
                    let mut payload = vec![0; length.parse::<usize>().expect("a length") + 2];
                    if incoming.read_exact(&mut payload).is_err() {
                        return;
                    }
                    seen.push_front((format!("PUB {subject} {length}\r\n"), payload));
                    seen.truncate(AGO[AGO.len() - 1] + 1);
                    count += 1;
                    if let Some((command, payload)) = seen.get(AGO[count % AGO.len()]) {
                        let _ = stream.write_all(command.as_bytes()).and_then(|()| stream.write_all(payload));
                    }
                }
                _ => {}
            }
        }
    });
}

/// The bits of one process, whoever keeps the momentum, and nobody blamed.
fn run_under_replay(momentum: &str) {
    let mut federation = Federation::start(
        5,
        CONFIG,
        &format!("momentum = \"{momentum}\"\npatience = 10000.0\ndeadline = 30.0"),
    );
    let configuration = federation.key(byz_net::plan::BROKER);
    let text = fs::read_to_string(&configuration).expect("a configuration");
    fs::write(&configuration, text.replace("users = [\n", &format!("users = [\n{USER}"))).expect("written");
    federation.start_broker();
    replay(federation.port);
    let _workers = federation.workers(5);
    assert_eq!(federation.coordinator(&[]).wait(120), 0, "{}", federation.said("coordinator"));
    federation.has_the_bits_of_one_process();
    let lines = federation.lines("run");
    let sent_again =
        ["late", "duplicate", "stale", "replayed"].map(|kind| ignored(&lines, kind)).iter().sum::<u64>();
    assert!(sent_again > 100, "{sent_again} of the answers that were sent again were counted");
    (0..5).for_each(|worker| assert_eq!(verdicts(&lines, worker), Vec::<String>::new()));
}

#[test]
fn frames_sent_again_change_no_bit() {
    if !no_broker() {
        run_under_replay("server");
        run_under_replay("worker");
    }
}
