//! What a run is: every choice that can change one of its numbers, and none that cannot.
//!
//! A [`Draft`](super::Draft) is what a person writes, and resolving it makes a configuration. Threads, directories and the
//! pace of checkpoints are no part of it: they change no number.

use crate::{
    attacks::{self, Stage},
    data::Order,
    defense::Defense,
    error::{Error, Result},
    partitions, registry, schedules,
    tasks::{self, Split},
    transforms,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A configuration with every choice made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The task, with its parameters.
    pub task: String,
    /// All workers; the last `byzantine` of them are.
    pub workers: usize,
    /// Byzantine workers in truth.
    pub byzantine: usize,
    /// Byzantine workers that the defence assumes.
    pub tolerance: usize,
    /// What the Byzantine workers do.
    pub attack: String,
    /// What the attack replaces: `gradients` or `messages`.
    pub attack_acts_on: String,
    /// Whether the Byzantine workers' rows pass through the worker chain.
    pub byzantine_momentum: bool,
    /// What the Byzantine workers train on.
    pub byzantine_data: ByzantineData,
    /// The aggregation pipeline.
    pub defense: String,
    /// Refuse where the defence promises nothing.
    pub strict: bool,
    /// What each worker does to its gradient.
    pub worker: Vec<String>,
    /// What the server does to the aggregate.
    pub server: Vec<String>,
    /// γ₀.
    pub rate: f64,
    /// How the rate changes.
    pub schedule: String,
    /// Rounds in all.
    pub rounds: u64,
    /// Examples per worker and round.
    pub batch: usize,
    /// Batches after which a worker shuffles anew, if fewer than its shard has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batches_per_epoch: Option<usize>,
    /// How examples are spread over the workers.
    pub partition: String,
    /// Seed of everything drawn.
    pub seed: u64,
    /// Seed of the partition and the batches.
    pub data_seed: u64,
    /// In which order workers take their examples.
    #[serde(default, skip_serializing_if = "DataOrder::is_seeded")]
    pub data_order: DataOrder,
    /// Rounds between evaluations.
    pub evaluate_every: u64,
    /// Rounds between lines of the record, if not every round has one; the last round always has. Evaluations in between count
    /// in the summary and are not written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_every: Option<u64>,
    /// What evaluations look at: `test` or `validation`.
    pub evaluate_on: String,
    /// A look at the theorem's constants while training; it changes no other number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diagnostics: Option<Diagnostics>,
}

/// The `[diagnostics]` of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Diagnostics {
    /// Rounds between looks; each costs three gradients per honest worker and an aggregation per tolerance.
    pub every: u64,
}

impl Default for Diagnostics {
    fn default() -> Diagnostics {
        Diagnostics { every: 10 }
    }
}

/// What Byzantine workers train on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ByzantineData {
    /// A shard of their own, out of as many as there are workers.
    #[default]
    Own,
    /// All examples; the honest workers share them out among themselves.
    Iid,
    /// The shards of the first honest workers.
    Reuse,
}

/// In which order workers take their examples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataOrder {
    /// Drawn by `data_seed`.
    #[default]
    Seeded,
    /// As the released code of Byz-NSGDM draws it on MNIST.
    Released,
}

impl DataOrder {
    /// Left out of the stored configuration, so that keys of runs stay what they were.
    fn is_seeded(&self) -> bool {
        *self == DataOrder::Seeded
    }
}

impl Config {
    /// Reads a resolved configuration back.
    pub fn from_toml(text: &str) -> Result<Config> {
        let config: Config =
            toml::from_str(text).map_err(|error| not_usable("the stored configuration", text, &error))?;
        config.check()?;
        registry::read("task", tasks::TABLE, &config.task)?;
        Ok(config)
    }

    /// As TOML.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a configuration is plain data")
    }

    /// The key of the run: 16 hexadecimal digits of the hash of everything that can change a number.
    pub fn key(&self) -> String {
        let digest = Sha256::digest(self.to_toml());
        digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether the record has a line for this round.
    pub(super) fn records(&self, round: u64) -> bool {
        let looked = |look: &Diagnostics| round == 1 || round.is_multiple_of(look.every);
        round == self.rounds
            || round.is_multiple_of(self.record_every.unwrap_or(1))
            || self.diagnostics.as_ref().is_some_and(looked)
    }

    /// What a person should know before it runs.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.byzantine == 0 && self.attack != "none" {
            warnings.push(format!("nobody is Byzantine, so {} does nothing; set --byzantine", self.attack));
        }
        let promised = Defense::new(&self.defense, self.tolerance)
            .and_then(|defense| defense.check_counts(self.workers, self.tolerance));
        warnings.extend(promised.unwrap_or_default());
        warnings
    }

    /// Honest workers; they come first.
    pub fn honest(&self) -> usize {
        self.workers - self.byzantine
    }

    pub(super) fn order(&self) -> Order {
        match self.data_order {
            DataOrder::Seeded => Order::Seeded(self.data_seed),
            DataOrder::Released => Order::Released { honest: self.honest() },
        }
    }

    pub(super) fn stage(&self) -> Stage {
        if self.attack_acts_on == "gradients" { Stage::Gradients } else { Stage::Messages }
    }

    pub(super) fn split(&self) -> Split {
        if self.evaluate_on == "validation" { Split::Validation } else { Split::Test }
    }

    /// Everything that can be checked without data.
    pub(super) fn check(&self) -> Result<()> {
        let usage = |problem: String| Err(Error::Usage(problem));
        if self.byzantine >= self.workers {
            return usage(format!(
                "byzantine = {} of workers = {} leaves nobody honest; lower byzantine",
                self.byzantine, self.workers
            ));
        }
        if self.workers > MOST_WORKERS {
            return usage(format!("workers = {}: at most {MOST_WORKERS} are supported", self.workers));
        }
        if !self.rate.is_finite() || self.rate <= 0.0 {
            return usage(format!("rate = {}: expected a finite number above zero", self.rate));
        }
        for (name, seed) in [("seed", self.seed), ("data_seed", self.data_seed)] {
            if seed > i64::MAX as u64 {
                return usage(format!("{name} = {seed}: at most {}, the largest number of TOML", i64::MAX));
            }
        }
        let shared = self.byzantine == 0 || self.byzantine_data == ByzantineData::Iid;
        if self.data_order == DataOrder::Released && !shared {
            return usage("data_order = released is the order of byzantine_data = iid; set that too".into());
        }
        let many = u64::from(u32::MAX);
        for (name, value, most) in [
            ("rounds", self.rounds, many),
            ("batch", self.batch as u64, MOST_EXAMPLES),
            ("evaluate_every", self.evaluate_every, many),
            ("record_every", self.record_every.unwrap_or(1), many),
            ("diagnostics.every", self.diagnostics.as_ref().map_or(1, |look| look.every), many),
            ("batches_per_epoch", self.batches_per_epoch.unwrap_or(1) as u64, many),
        ] {
            if value == 0 || value > most {
                return usage(format!("{name} = {value}: expected 1 to {most}"));
            }
        }
        for (name, value, words) in [
            ("attack_acts_on", &self.attack_acts_on, ["gradients", "messages"]),
            ("evaluate_on", &self.evaluate_on, ["test", "validation"]),
        ] {
            if !words.contains(&value.as_str()) {
                return usage(format!("{name} = {value}: expected one of {}", words.join(", ")));
            }
        }
        registry::read("attack", attacks::table::<f64>(), &self.attack)?;
        registry::read("schedule", schedules::TABLE, &self.schedule)?;
        registry::read("partition", partitions::TABLE, &self.partition)?;
        for link in self.worker.iter().chain(&self.server) {
            registry::read("transform", transforms::table::<f64>(), link)?;
        }
        let defense = Defense::new(&self.defense, self.tolerance)?.strict(self.strict);
        defense.check_counts(self.workers, self.tolerance).map(drop)
    }
}

/// What is wrong with a file and where, on one line.
pub(super) fn not_usable(what: &str, text: &str, error: &toml::de::Error) -> Error {
    let line =
        error.span().and_then(|span| text.get(..span.start)).map(|before| before.matches('\n').count() + 1);
    let place = line.map_or(String::new(), |line| format!("line {line}: "));
    Error::Usage(format!("{what} is not usable: {place}{}", with_hint(error.message())))
}

/// What the reader of TOML says, on one line and with the known key that was probably meant.
pub(super) fn with_hint(message: &str) -> String {
    let message = message.replace('\n', " ");
    let mut quoted = message.split('`').skip(1).step_by(2);
    let unknown = quoted.next().filter(|_| message.starts_with("unknown field"));
    match unknown.and_then(|unknown| registry::nearest(unknown, quoted)) {
        Some(nearest) => format!("{message} (did you mean '{nearest}'?)"),
        None => message,
    }
}

/// Larger batches fit no memory.
const MOST_EXAMPLES: u64 = 1 << 20;
/// More would overflow the counters of random streams long after memory.
const MOST_WORKERS: usize = 1 << 16;
