//! `byz net config`, and what the commands of networked runs share.

use crate::exit::{self, Outcome};
use byz_net::{
    drill::Drill,
    link::Access,
    plan::{self, Plan},
};
use clap::builder::PossibleValuesParser;
use std::{
    io::{self, Read, Write},
    path::PathBuf,
};

/// Prepare runs whose workers are elsewhere.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Config(Config),
}

/// Write the broker's configuration, one file of credentials per worker, and
/// the [network] section.
#[derive(clap::Args)]
struct Config {
    /// How many workers
    #[arg(long, value_name = "N")]
    workers: usize,
    /// A new directory; what is in it is secret
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// What the federation is called
    #[arg(long, value_name = "NAME", default_value = "training")]
    name: String,
    /// Where the broker listens
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:4222")]
    listen: String,
    /// The broker's certificate, as the broker finds it
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The key of that certificate
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Bytes that a message may have
    #[arg(long, value_name = "BYTES", default_value_t = plan::USUAL_PAYLOAD)]
    max_payload: usize,
}

/// Where the broker is and who we are to it.
#[derive(clap::Args)]
pub(crate) struct Broker {
    /// The broker, such as tls://broker.example:4222
    #[arg(long, value_name = "URL", default_value = "nats://127.0.0.1:4222")]
    nats: String,
    /// The file of credentials that `byz net config` made
    #[arg(long, value_name = "FILE")]
    pub(crate) creds: PathBuf,
    /// Encrypt; the certificate of who signed the broker's, if the system does
    /// not know it
    #[arg(long, value_name = "CA", num_args = 0..=1)]
    tls: Option<Option<PathBuf>>,
    /// Do without encryption beyond this machine
    #[arg(long)]
    insecure: bool,
}

impl Broker {
    pub(crate) fn access(&self, seed: Option<String>) -> Access {
        Access {
            url: self.nats.clone(),
            seed,
            authority: self.tls.clone().flatten(),
            tls: self.tls.is_some(),
            insecure: self.insecure,
        }
    }
}

/// The drills by name.
pub(crate) fn drills() -> PossibleValuesParser {
    PossibleValuesParser::new(Drill::ALL.map(|(name, _)| name))
}

/// Ends the process when standard input ends: with whoever started it, however that ended. As if interrupted, so that a
/// coordinator ends its round and keeps it.
pub(crate) fn end_with_input() {
    std::thread::spawn(|| {
        let mut rest = [0; 64];
        while io::stdin().read(&mut rest).is_ok_and(|read| read > 0) {}
        exit::interrupt();
    });
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let Command::Config(config) = &arguments.command;
    let certificate = config.tls_cert.clone().zip(config.tls_key.clone());
    let plan = Plan {
        name: config.name.clone(),
        workers: config.workers,
        listen: config.listen.clone(),
        tls: certificate,
        max_payload: config.max_payload,
    };
    plan.write(&config.out)?;
    let mut out = io::stdout().lock();
    let place = crate::text::clean(&config.out.display().to_string());
    writeln!(out, "{place} has")?;
    let last = plan::worker_file(config.workers - 1);
    for (file, what) in [
        (plan::BROKER.to_string(), "for nats-server -c"),
        (plan::NETWORK.to_string(), "to append to the run's configuration"),
        (plan::COORDINATOR.to_string(), "secret: for byz coordinator --creds"),
        (format!("{} to {last}", plan::worker_file(0)), "secret: one per worker"),
    ] {
        writeln!(out, "  {file:<36} {what}")?;
    }
    Ok(())
}
