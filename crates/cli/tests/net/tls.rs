//! Encrypted, with a certificate of our own.

use crate::federation::{byz, no_broker};
use byz_net::{
    broker::{Broker, free_port},
    plan,
};
use std::{fs, path::Path, process::Command};

/// A certificate for this machine and who signed it, if there is `openssl`.
fn certificates(folder: &Path) -> Option<()> {
    let openssl = |arguments: &str| {
        let mut command = Command::new("openssl");
        command.current_dir(folder).args(arguments.split(' '));
        command.output().ok()?.status.success().then_some(())
    };
    fs::write(folder.join("names"), "subjectAltName=IP:127.0.0.1,DNS:localhost").ok()?;
    openssl("req -x509 -newkey rsa:2048 -nodes -keyout ca-key.pem -out ca.pem -days 2 -subj /CN=test")?;
    openssl("req -newkey rsa:2048 -nodes -keyout key.pem -out request.pem -subj /CN=localhost")?;
    openssl(
        "x509 -req -in request.pem -CA ca.pem -CAkey ca-key.pem -CAcreateserial -out cert.pem -days 2 -extfile names",
    )
}

#[test]
fn an_encrypted_run_ends_well_and_a_stranger_s_certificate_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    if no_broker() || certificates(folder.path()).is_none() {
        eprintln!("skipped: needs nats-server and openssl");
        return;
    }
    let path = |name: &str| folder.path().join(name).to_str().expect("text").to_string();
    let port = free_port().expect("a port");
    let (listen, keys) = (format!("127.0.0.1:{port}"), path("keys"));
    let mut net = byz(&["net", "config", "--workers", "3", "--out", &keys, "--listen", &listen]);
    net.args(["--tls-cert", &path("cert.pem"), "--tls-key", &path("key.pem")]);
    assert!(net.output().expect("started").status.success());
    let key = |name: &str| path(&format!("keys/{name}"));
    let _broker =
        Broker::start(Path::new(&key(plan::BROKER)), port, Path::new(&path("broker.log"))).expect("a broker");
    let network = fs::read_to_string(key(plan::NETWORK)).expect("a section");
    let config =
        format!("task = \"quartic\"\nworkers = 3\ntolerance = 1\nstrict = false\nrounds = 20\n{network}");
    fs::write(path("config.toml"), config).expect("written");
    let url = format!("tls://localhost:{port}");
    let mut workers: Vec<_> = (0..3)
        .map(|id| {
            let creds = key(&plan::worker_file(id));
            let mut command = byz(&["worker", "--nats", &url, "--creds", &creds, "--tls", &path("ca.pem")]);
            command.spawn().expect("started")
        })
        .collect();
    let mut coordinator = byz(&["coordinator", &path("config.toml"), "--nats", &url, "--out", &path("run")]);
    coordinator.args(["--creds", &key(plan::COORDINATOR), "--tls", &path("ca.pem")]);
    let done = coordinator.output().expect("started");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    workers.iter_mut().for_each(|worker| assert!(worker.wait().expect("ended").success()));
    // Without the authority the certificate is nobody's.
    let creds = key(&plan::worker_file(0));
    let refused = byz(&["worker", "--nats", &url, "--creds", &creds]).output().expect("started");
    let said = String::from_utf8_lossy(&refused.stderr).to_string();
    assert!(refused.status.code() == Some(1) && said.contains("encrypted"), "{said}");
}
