//! The `[network]` section of a configuration: who may take part. n is the length of this list, never who connected.

use crate::{keys::PublicKey, subjects::Subjects};
use byz::{Error, experiment::Config};
use serde::{Deserialize, Serialize};

/// Who takes part, and how long rounds wait for them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Membership {
    /// The federation: part of every subject.
    pub name: String,
    /// What the coordinator signs with.
    pub coordinator: PublicKey,
    /// What worker 0, 1, … signs with.
    pub members: Vec<PublicKey>,
    /// Who keeps the workers' momentum.
    #[serde(default)]
    pub momentum: Momentum,
    /// Seconds that a round waits at most before it is sent again.
    #[serde(default = "deadline")]
    pub deadline: f64,
    /// How long a round waits for the others, in units of what the majority took.
    #[serde(default = "patience")]
    pub patience: f64,
    /// How often a round is sent again before the run says that it is paused.
    #[serde(default = "retries")]
    pub retries: u32,
    /// Bytes of numbers per frame.
    #[serde(default = "chunk")]
    pub chunk: usize,
}

/// Who keeps the workers' momentum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Momentum {
    /// The coordinator: workers send gradients and remember nothing.
    #[default]
    Server,
    /// Each worker, in a file of its own.
    Worker,
}

fn deadline() -> f64 {
    60.0
}

fn patience() -> f64 {
    4.0
}

fn retries() -> u32 {
    2
}

/// With the header below the 1 MiB that brokers take unless told otherwise.
fn chunk() -> usize {
    512 * 1024
}

impl Membership {
    /// A federation of these keys, everything else as usual.
    pub fn new(name: &str, coordinator: PublicKey, members: Vec<PublicKey>) -> Membership {
        Membership {
            name: name.to_string(),
            coordinator,
            members,
            momentum: Momentum::default(),
            deadline: deadline(),
            patience: patience(),
            retries: retries(),
            chunk: chunk(),
        }
    }

    /// Reads the section of a configuration and checks that the run can be made of it.
    pub fn read(section: Option<&toml::Table>, config: &Config) -> Result<Membership, Error> {
        let section = section.ok_or_else(|| {
            Error::Usage("the configuration has no [network]; `byz net config` writes one".into())
        })?;
        let membership: Membership = section.clone().try_into().map_err(|error: toml::de::Error| {
            Error::Usage(format!("[network] is not usable: {}", error.message().replace('\n', " ")))
        })?;
        membership.check(config)?;
        Ok(membership)
    }

    fn check(&self, config: &Config) -> Result<(), Error> {
        let usage = |problem: String| Err(Error::Usage(problem));
        Subjects::new(&self.name)?;
        let (members, workers) = (self.members.len(), config.workers);
        if members != workers {
            return usage(format!("network.members has {members} keys for workers = {workers}"));
        }
        for (index, key) in self.members.iter().enumerate() {
            if self.members[..index].contains(key) || *key == self.coordinator {
                return usage(format!("network.members: worker {index}'s key is somebody else's too"));
            }
        }
        if !(0.1..=1e6).contains(&self.deadline) {
            return usage(format!("network.deadline = {}: expected 0.1 to 1000000 seconds", self.deadline));
        }
        if !(1.0..=1e6).contains(&self.patience) {
            return usage(format!("network.patience = {}: expected 1 to 1000000", self.patience));
        }
        if !(1024..=MOST_BYTES).contains(&self.chunk) {
            return usage(format!("network.chunk = {}: expected 1024 to {MOST_BYTES}", self.chunk));
        }
        if config.byzantine > 0 || config.attack != "none" {
            return usage(
                "workers elsewhere attack by themselves: set attack = \"none\" and byzantine = 0, state the tolerance, and \
                 start some with --attack for a drill"
                    .into(),
            );
        }
        if config.diagnostics.is_some() {
            return usage("[diagnostics] needs the workers' data; it is for runs in one process".into());
        }
        Ok(())
    }

    /// The public keys' subjects.
    pub fn subjects(&self) -> Subjects {
        Subjects::new(&self.name).expect("checked when it was read")
    }
}

/// More than brokers take at most.
const MOST_BYTES: usize = 32 << 20;
