//! What is refused before anything runs, with what to do about it.

use crate::federation::{Federation, byz, no_broker};
use byz_net::plan;
use std::{fs, process::Stdio};

fn refused(arguments: &[&str], code: i32, words: &str) {
    let output = byz(arguments).stdin(Stdio::null()).output().expect("started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(said.contains(words), "{said}");
}

#[test]
fn plain_text_beyond_this_machine_needs_to_be_insisted_on() {
    let federation = tempfile::tempdir().expect("a folder");
    let keys = federation.path().join("keys");
    let keys = keys.to_str().expect("text");
    let made = byz(&["net", "config", "--workers", "2", "--out", keys]).output().expect("started");
    assert!(made.status.success());
    let told = String::from_utf8_lossy(&made.stdout);
    assert!(told.lines().skip(1).all(|line| line.chars().count() <= 80), "{told}");
    let creds = format!("{keys}/{}", plan::worker_file(1));
    refused(&["worker", "--nats", "nats://broker.example:4222", "--creds", &creds], 2, "without encryption");
    refused(&["worker", "--nats", "nats://127.0.0.1:1", "--creds", &creds, "--id", "0"], 2, "worker 1's");
    refused(&["net", "config", "--workers", "2", "--out", keys], 2, "not empty");
    refused(&["net", "config", "--workers", "0", "--out", "/nowhere/x"], 2, "1 to 65536");
    refused(&["net", "config", "--workers", "1", "--out", "y", "--name", "a.b"], 2, "network.name");
    refused(&["worker", "--creds", "/nowhere/creds"], 2, "/nowhere/creds");
    refused(&["worker", "--creds", &creds, "--tls", "/nowhere/ca.pem"], 2, "/nowhere/ca.pem");
    refused(&["worker", "--creds", &creds, "--tls", &creds], 2, "no certificate");
    let secret = "nats://someone:secret@broker.example";
    let output = byz(&["worker", "--nats", secret, "--creds", &creds]).output().expect("started");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("secret"));
    let config = federation.path().join("config.toml");
    fs::write(&config, "task = \"quartic\"\n").expect("written");
    let config = config.to_str().expect("text");
    let twice = ["--attack", "1=silent", "--attack", "1=slow"];
    refused(&[&["cluster", config, "--workers", "3"][..], &twice].concat(), 2, "worker 1 has two drills");
    // A secret is for its owner alone.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(&creds).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn a_configuration_that_cannot_be_networked_says_why() {
    if no_broker() {
        return;
    }
    let good = "task = \"quartic\"\ntolerance = 1\ndefense = \"nnm+geometric_median\"\nrounds = 5";
    let federation = Federation::start(5, good, "");
    let text = fs::read_to_string(federation.config()).expect("a configuration");
    let creds = federation.key(plan::COORDINATOR);
    let (url, creds) = (federation.url(), creds.to_str().expect("text"));
    for (from, to, words) in [
        ("workers = 5", "workers = 6", "5 keys for workers = 6"),
        ("rounds = 5", "rounds = 5\nbyzantine = 1\nattack = \"sign_flip\"", "attack by themselves"),
        ("rounds = 5", "rounds = 5\n[diagnostics]", "in one process"),
        ("tolerance = 1", "tolerance = 3", "nearest_neighbor_mixing is not defined"),
        ("patience = 4.0", "patience = 0.5", "network.patience"),
        ("deadline = 60.0", "deadline = nan", "network.deadline"),
        ("deadline = 60.0", "deadline = 1e19", "0.1 to 1000000 seconds"),
        ("chunk = 524288", "chunk = 1", "network.chunk"),
        ("retries = 2", "retris = 2", "retris"),
        ("[network]", "[net]", "unknown field"),
    ] {
        assert!(text.contains(from), "{from}");
        let path = federation.path("wrong.toml");
        fs::write(&path, text.replace(from, to)).expect("written");
        let path = path.to_str().expect("text");
        let output = byz(&["coordinator", path, "--nats", &url, "--creds", creds]).output().expect("started");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(2 | 3)) && said.contains(words), "{words}: {said}");
    }
    // What the command line says of the network holds as what the file says.
    let path = federation.config();
    let path = path.to_str().expect("text");
    for (set, words) in [("network.deadline=0", "network.deadline = 0"), ("network.retris=1", "retris")] {
        refused(&["coordinator", path, "--nats", &url, "--creds", creds, "--set", set], 2, words);
    }
    // Another's key is not the coordinator's.
    let other = federation.key(&plan::worker_file(2));
    let path = federation.config();
    let (path, other) = (path.to_str().expect("text"), other.to_str().expect("text"));
    let out = federation.path("never");
    refused(
        &["coordinator", path, "--nats", &url, "--creds", other, "--out", out.to_str().expect("text")],
        2,
        "not the key of these credentials",
    );
}

#[test]
fn the_broker_turns_strangers_away() {
    if no_broker() {
        return;
    }
    let here = Federation::start(2, "task = \"quartic\"\nrounds = 5\ndefense = \"mean\"", "");
    let there = Federation::start(2, "task = \"quartic\"\nrounds = 5\ndefense = \"mean\"", "");
    let stranger = there.key(&plan::worker_file(0));
    refused(
        &["worker", "--nats", &here.url(), "--creds", stranger.to_str().expect("text")],
        1,
        "credentials",
    );
}

#[test]
fn a_broker_that_could_not_start_is_not_planned() {
    let folder = tempfile::tempdir().expect("a folder");
    let (out, small) = (folder.path().join("keys"), folder.path().join("small"));
    let (out, small) = (out.to_str().expect("text"), small.to_str().expect("text"));
    for (flag, value) in [
        ("--listen", "foo"),
        ("--listen", "127.0.0.1:"),
        ("--listen", "127.0.0.1:70000"),
        ("--listen", ":4222"),
        ("--listen", "::1:4222"),
        ("--listen", "a\"b:4222"),
        ("--max-payload", "100"),
        ("--max-payload", "999999999999"),
    ] {
        refused(&["net", "config", "--workers", "2", "--out", out, flag, value], 2, flag);
    }
    // A frame has a header of 192 bytes.
    let plan = [
        "net",
        "config",
        "--workers",
        "2",
        "--out",
        small,
        "--max-payload",
        "4096",
        "--listen",
        "[::1]:4222",
    ];
    assert!(byz(&plan).output().expect("started").status.success());
    let section = fs::read_to_string(folder.path().join("small").join(plan::NETWORK)).expect("a section");
    assert!(section.contains("chunk = 3904"), "{section}");
}
