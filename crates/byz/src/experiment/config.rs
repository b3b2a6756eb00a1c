//! What a run is: every choice that can change one of its numbers, and none that cannot.
//!
//! A [`Draft`] is what a person writes, in TOML or as flags; [`Draft::resolve`] fills in presets and defaults and checks
//! that the parts exist and fit together. Threads, directories and the pace of checkpoints are no part of it: they change no
//! number.

use super::presets;
use crate::{
    attacks::{self, Stage},
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
    /// Rounds between evaluations.
    pub evaluate_every: u64,
    /// Rounds between lines of the record, if not every round has one; the last round always has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_every: Option<u64>,
    /// What evaluations look at: `test` or `validation`.
    pub evaluate_on: String,
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

/// What a person writes. Everything has a default but the task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "the fields are those of Config")]
pub struct Draft {
    pub task: Option<String>,
    pub workers: Option<usize>,
    pub byzantine: Option<usize>,
    pub tolerance: Option<usize>,
    pub attack: Option<String>,
    pub attack_acts_on: Option<String>,
    pub byzantine_momentum: Option<bool>,
    pub byzantine_data: Option<ByzantineData>,
    pub defense: Option<String>,
    pub strict: Option<bool>,
    pub optimizer: Option<String>,
    pub worker: Option<Vec<String>>,
    pub server: Option<Vec<String>>,
    pub rate: Option<f64>,
    pub schedule: Option<String>,
    pub rounds: Option<u64>,
    pub batch: Option<usize>,
    pub batches_per_epoch: Option<usize>,
    pub partition: Option<String>,
    pub seed: Option<u64>,
    pub data_seed: Option<u64>,
    pub evaluate_every: Option<u64>,
    pub record_every: Option<u64>,
    pub evaluate_on: Option<String>,
}

impl Draft {
    /// Reads TOML.
    pub fn from_toml(text: &str) -> Result<Draft> {
        toml::from_str(text).map_err(|error| not_usable("the configuration", text, &error))
    }

    /// Takes one `key=value` of the command line; text needs no quotes.
    pub fn set(&mut self, assignment: &str) -> Result<()> {
        let Some((key, value)) = assignment.split_once('=') else {
            return Err(Error::Usage(format!("--set {assignment}: expected key=value, such as rate=0.1")));
        };
        let (key, value) = (key.trim(), value.trim());
        let mut first = None;
        // `0.1` and `true` are numbers and truths, `nnm+krum` is text without its quotes.
        for text in [value.to_string(), toml::Value::from(value).to_string()] {
            let Ok(table) = format!("{key} = {text}").parse::<toml::Table>() else { continue };
            match table.try_into::<Draft>() {
                Ok(choices) => {
                    self.choose(&choices);
                    return Ok(());
                }
                Err(error) => first = first.or(Some(error)),
            }
        }
        let problem = first.map_or_else(|| "it is no value".into(), |error| error.message().to_string());
        Err(Error::Usage(format!("--set {assignment}: {problem}")))
    }

    /// Lets choices override this draft, and with them what only followed from the old ones: an optimiser brings its own
    /// chains, and a file that was resolved spells out defaults that nobody chose.
    pub fn choose(&mut self, choices: &Draft) {
        if choices.optimizer.is_some() {
            (self.worker, self.server, self.schedule) = (None, None, None);
        }
        if choices.byzantine.is_some() && self.tolerance == self.byzantine {
            self.tolerance = None;
        }
        if choices.seed.is_some() && self.data_seed == self.seed {
            self.data_seed = None;
        }
        let stage = |attack: &Option<String>| {
            registry::read("attack", attacks::table::<f64>(), attack.as_deref()?)
                .ok()
                .map(|a| stage_name(a.acts_on()))
        };
        if choices.attack.is_some() && self.attack_acts_on.as_deref() == stage(&self.attack) {
            self.attack_acts_on = None;
        }
        macro_rules! override_each {
            ($($field:ident)*) => { $( if choices.$field.is_some() { self.$field.clone_from(&choices.$field); } )* };
        }
        override_each!(
            task workers byzantine tolerance attack attack_acts_on byzantine_momentum byzantine_data defense strict
            optimizer worker server rate schedule rounds batch batches_per_epoch partition seed data_seed
            evaluate_every record_every evaluate_on
        );
    }

    /// Fills in presets and defaults, and checks everything that can be checked without data.
    pub fn resolve(&self) -> Result<Config> {
        let config = self.resolve_own()?;
        registry::read("task", tasks::TABLE, &config.task)?;
        Ok(config)
    }

    /// The same for a task that the caller brings; its name is a label.
    pub fn resolve_own(&self) -> Result<Config> {
        let optimizer = presets::find(self.optimizer.as_deref().unwrap_or("byz_nsgdm"))?;
        let owned = |chain: &[&str]| chain.iter().map(|link| link.to_string()).collect();
        let task = self.task.clone().ok_or_else(|| {
            let known: Vec<_> = tasks::TABLE.iter().map(|entry| entry.name).collect();
            Error::Usage(format!("no task given; choose one of {}", known.join(", ")))
        })?;
        let byzantine = self.byzantine.unwrap_or(0);
        let attack = self.attack.clone().unwrap_or_else(|| "none".into());
        let acts_on = stage_name(registry::read("attack", attacks::table::<f64>(), &attack)?.acts_on());
        let seed = self.seed.unwrap_or(0);
        let config = Config {
            task,
            workers: self.workers.unwrap_or(20),
            byzantine,
            tolerance: self.tolerance.unwrap_or(byzantine),
            attack,
            attack_acts_on: self.attack_acts_on.clone().unwrap_or_else(|| acts_on.into()),
            byzantine_momentum: self.byzantine_momentum.unwrap_or(true),
            byzantine_data: self.byzantine_data.unwrap_or_default(),
            defense: self.defense.clone().unwrap_or_else(|| "nnm+geometric_median".into()),
            strict: self.strict.unwrap_or(false),
            worker: self.worker.clone().unwrap_or_else(|| owned(optimizer.worker)),
            server: self.server.clone().unwrap_or_else(|| owned(optimizer.server)),
            rate: self.rate.unwrap_or(0.1),
            schedule: self.schedule.clone().unwrap_or_else(|| optimizer.schedule.into()),
            rounds: self.rounds.unwrap_or(1000),
            batch: self.batch.unwrap_or(64),
            batches_per_epoch: self.batches_per_epoch,
            partition: self.partition.clone().unwrap_or_else(|| "iid".into()),
            seed,
            data_seed: self.data_seed.unwrap_or(seed),
            evaluate_every: self.evaluate_every.unwrap_or(50),
            record_every: self.record_every,
            evaluate_on: self.evaluate_on.clone().unwrap_or_else(|| "test".into()),
        };
        config.check()?;
        Ok(config)
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
        round == self.rounds || round.is_multiple_of(self.record_every.unwrap_or(1))
    }

    /// Honest workers; they come first.
    pub fn honest(&self) -> usize {
        self.workers - self.byzantine
    }

    pub(super) fn stage(&self) -> Stage {
        if self.attack_acts_on == "gradients" { Stage::Gradients } else { Stage::Messages }
    }

    pub(super) fn split(&self) -> Split {
        if self.evaluate_on == "validation" { Split::Validation } else { Split::Test }
    }

    /// Everything that can be checked without data.
    fn check(&self) -> Result<()> {
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
        let many = u64::from(u32::MAX);
        for (name, value, most) in [
            ("rounds", self.rounds, many),
            ("batch", self.batch as u64, MOST_EXAMPLES),
            ("evaluate_every", self.evaluate_every, many),
            ("record_every", self.record_every.unwrap_or(1), many),
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
    Error::Usage(format!("{what} is not usable: {place}{}", error.message().replace('\n', " ")))
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Gradients => "gradients",
        Stage::Messages => "messages",
    }
}

/// Larger batches fit no memory.
const MOST_EXAMPLES: u64 = 1 << 20;
/// More would overflow the counters of random streams long after memory.
const MOST_WORKERS: usize = 1 << 16;
