//! What `byz net config` writes: the broker's configuration, the `[network]` section, and everybody's credentials.
//!
//! Worker 7 may publish on `byz.NAME.up.7` and on nothing else, and hears `byz.NAME.down` and `byz.NAME.to.7` and nothing else.

use crate::{
    credentials::Credentials,
    frame::HEADER,
    keys::{PublicKey, SigningKey},
    membership::Membership,
    subjects::Subjects,
};
use byz::Error;
use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

/// A federation to be.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// How many workers.
    pub workers: usize,
    /// Where the broker listens.
    pub listen: String,
    /// The broker's certificate and its key, for TLS.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Bytes that a message may have.
    pub max_payload: usize,
}

/// A frame with the smallest chunk, and the most that nats-server takes.
const LEAST_PAYLOAD: usize = 1024 + HEADER;
const MOST_PAYLOAD: usize = 64 << 20;

/// A frame with the usual chunk, and a little: a queue holds so many messages, however large they are.
pub const USUAL_PAYLOAD: usize = 513 << 10;
/// What the broker keeps for a slow reader: bytes per worker.
const PENDING: usize = 16 << 20;

/// The file names in the directory of a plan.
pub const BROKER: &str = "nats-server.conf";
/// The `[network]` section.
pub const NETWORK: &str = "network.toml";
/// The coordinator's secrets.
pub const COORDINATOR: &str = "coordinator.creds";

/// A worker's secrets.
pub fn worker_file(worker: usize) -> String {
    format!("worker-{worker}.creds")
}

impl Plan {
    /// Writes everything into a new directory and gives the membership.
    pub fn write(&self, directory: &Path) -> Result<Membership, Error> {
        let subjects = Subjects::new(&self.name)?;
        if self.workers == 0 || self.workers > 1 << 16 {
            return Err(Error::Usage(format!("--workers {}: expected 1 to 65536", self.workers)));
        }
        if !is_address(&self.listen) {
            return Err(Error::Usage(format!("--listen {:?}: expected such as 0.0.0.0:4222", self.listen)));
        }
        if !(LEAST_PAYLOAD..=MOST_PAYLOAD).contains(&self.max_payload) {
            return Err(Error::Usage(format!(
                "--max-payload {}: expected {LEAST_PAYLOAD} to {MOST_PAYLOAD}",
                self.max_payload
            )));
        }
        let file = |path: &Path, problem: std::io::Error| Error::File {
            path: path.to_path_buf(),
            problem: format!("cannot be made: {problem}"),
        };
        fs::create_dir_all(directory).map_err(|error| file(directory, error))?;
        if fs::read_dir(directory).map_err(|error| file(directory, error))?.next().is_some() {
            // Keys that are in use must not vanish.
            return Err(Error::Usage(format!(
                "{} is not empty; choose a new directory",
                directory.display()
            )));
        }
        let (keys, brokers): (Vec<SigningKey>, Vec<SigningKey>) =
            (0..=self.workers).map(|_| (SigningKey::random(), SigningKey::random())).unzip();
        let coordinator = keys[self.workers].public();
        for (index, (key, broker)) in keys.iter().zip(&brokers).enumerate() {
            let worker = (index < self.workers).then_some(index);
            let credentials = Credentials {
                worker,
                name: self.name.clone(),
                broker: Some(broker.seed()),
                signing: key.seed(),
                coordinator: coordinator.clone(),
            };
            credentials.write(&directory.join(worker.map_or(COORDINATOR.to_string(), worker_file)))?;
        }
        let members = keys[..self.workers].iter().map(SigningKey::public).collect();
        let mut membership = Membership::new(&self.name, coordinator, members);
        membership.chunk = membership.chunk.min(self.max_payload - HEADER);
        let brokers: Vec<PublicKey> = brokers.iter().map(SigningKey::public).collect();
        byz::files::write_whole(&directory.join(BROKER), self.server(&subjects, &brokers).as_bytes())?;
        byz::files::write_whole(&directory.join(NETWORK), section(&membership).as_bytes())?;
        Ok(membership)
    }

    /// The broker's configuration.
    fn server(&self, subjects: &Subjects, brokers: &[PublicKey]) -> String {
        let mut text = format!(
            "# nats-server for the federation {}: nats-server -c {BROKER}\nlisten: \"{}\"\nmax_payload: {}\n\
             # Enough for all workers' answers to wait for one coordinator.\nmax_pending: {}\n\n",
            self.name,
            self.listen,
            self.max_payload,
            (PENDING * self.workers).max(128 << 20),
        );
        text += &match &self.tls {
            Some((certificate, key)) => format!(
                "tls {{\n  cert_file: {:?}\n  key_file: {:?}\n  timeout: 5\n}}\n\n",
                certificate.display().to_string(),
                key.display().to_string()
            ),
            None => "# Without this, connections from other machines are not encrypted, and byz refuses them.\n# tls {\n#   \
                     cert_file: \"server.pem\"\n#   key_file: \"server-key.pem\"\n#   timeout: 5\n# }\n\n"
                .to_string(),
        };
        text += "authorization {\n  users = [\n";
        for (worker, key) in brokers.iter().enumerate() {
            let key = String::from(key.clone());
            // Writing to a string cannot fail.
            let _ = match worker < brokers.len() - 1 {
                true => writeln!(
                    text,
                    "    # worker {worker}\n    {{ nkey: {key}, permissions: {{ publish: [\"{}\"], subscribe: [\"{}\", \
                     \"{}\"] }} }}",
                    subjects.up(worker),
                    subjects.down(),
                    subjects.to(worker)
                ),
                false => writeln!(
                    text,
                    "    # coordinator\n    {{ nkey: {key}, permissions: {{ publish: [\"{}\", \"{}\"], subscribe: \
                     [\"{}\"] }} }}",
                    subjects.down(),
                    subjects.everyone(),
                    subjects.anyone()
                ),
            };
        }
        text + "  ]\n}\n"
    }
}

/// Whether it is a host or an address, a colon and a port, in letters that the broker's configuration can quote.
fn is_address(text: &str) -> bool {
    let plain = |host: &str| {
        host.chars().all(|letter| letter.is_ascii_alphanumeric() || ".-_:[]".contains(letter))
            && (!host.contains(':') || host.starts_with('[') && host.ends_with(']'))
    };
    text.rsplit_once(':').is_some_and(|(host, port)| {
        !host.is_empty() && plain(host) && port.parse::<u16>().is_ok_and(|port| port > 0)
    })
}

/// The section for the coordinator's configuration.
pub fn section(membership: &Membership) -> String {
    let body = toml::to_string(membership).expect("a membership is plain data");
    format!("# Append this to the configuration that `byz coordinator` runs.\n[network]\n{body}")
}
