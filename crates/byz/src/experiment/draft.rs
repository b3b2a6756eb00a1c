//! What a person writes, in TOML or as flags: [`Draft::resolve`] fills in presets and defaults and checks that the parts exist
//! and fit together.

use super::{
    config::{ByzantineData, Config, DataOrder, Diagnostics, not_usable, with_hint},
    grid::Grid,
    presets,
};
use crate::{
    attacks::{self, Stage},
    error::{Error, Result},
    registry, tasks,
};
use serde::{Deserialize, Serialize};

/// Workers where nobody says how many.
pub(super) const DEFAULT_WORKERS: usize = 20;

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
    pub data_order: Option<DataOrder>,
    pub evaluate_every: Option<u64>,
    pub record_every: Option<u64>,
    pub evaluate_on: Option<String>,
    pub diagnostics: Option<Diagnostics>,
    /// Where the workers are and how they are known, for runs over a network; it changes no number and is not resolved.
    pub network: Option<toml::Table>,
}

impl Draft {
    /// Reads TOML.
    pub fn from_toml(text: &str) -> Result<Draft> {
        toml::from_str(text).map_err(|error| match toml::from_str::<Grid>(text) {
            Ok(_) => {
                Error::Usage("the file is a grid, not the configuration of one run: byz sweep FILE".into())
            }
            Err(_) => not_usable("the configuration", text, &error),
        })
    }

    /// Reads one `key=value` of the command line; text needs no quotes.
    pub fn assignment(assignment: &str) -> Result<Draft> {
        let Some((key, value)) = assignment.split_once('=') else {
            return Err(Error::Usage(format!("--set {assignment}: expected key=value, such as rate=0.1")));
        };
        let (key, value) = (key.trim(), value.trim());
        let mut first = None;
        // `0.1` and `true` are numbers and truths, `nnm+krum` is text without its quotes.
        for text in [value.to_string(), toml::Value::from(value).to_string()] {
            let Ok(table) = format!("{key} = {text}").parse::<toml::Table>() else { continue };
            match table.try_into::<Draft>() {
                Ok(choices) => return Ok(choices),
                Err(error) => first = first.or(Some(error)),
            }
        }
        let problem = first.map_or_else(|| "it is no value".into(), |error| with_hint(error.message()));
        Err(Error::Usage(format!("--set {assignment}: {problem}")))
    }

    /// Lets everything chosen at one time override this draft, and with it what only followed from the old choices: an optimiser
    /// brings its own chains, and a file that was resolved spells out defaults that nobody chose.
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
        self.add(choices);
    }

    /// Lets later choices of the same time override these: what was chosen beside them stays.
    pub fn add(&mut self, choices: &Draft) {
        macro_rules! override_each {
            ($($field:ident)*) => { $( if choices.$field.is_some() { self.$field.clone_from(&choices.$field); } )* };
        }
        override_each!(
            task workers byzantine tolerance attack attack_acts_on byzantine_momentum byzantine_data defense strict
            optimizer worker server rate schedule rounds batch batches_per_epoch partition seed data_seed data_order
            evaluate_every record_every evaluate_on diagnostics
        );
        if let Some(network) = &choices.network {
            self.network.get_or_insert_default().extend(network.clone());
        }
    }

    /// Fills in presets and defaults, and checks everything that can be checked without data.
    pub fn resolve(&self) -> Result<Config> {
        let config = self.resolve_own()?;
        registry::read("task", tasks::TABLE, &config.task)?;
        Ok(config)
    }

    /// The same for a task that the caller brings; its name is a label.
    pub fn resolve_own(&self) -> Result<Config> {
        let config = self.filled()?;
        config.check()?;
        Ok(config)
    }

    /// Everything filled in, nothing checked.
    pub(super) fn filled(&self) -> Result<Config> {
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
        Ok(Config {
            task,
            workers: self.workers.unwrap_or(DEFAULT_WORKERS),
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
            data_order: self.data_order.unwrap_or_default(),
            evaluate_every: self.evaluate_every.unwrap_or(50),
            record_every: self.record_every,
            evaluate_on: self.evaluate_on.clone().unwrap_or_else(|| "test".into()),
            diagnostics: self.diagnostics.clone(),
        })
    }
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Gradients => "gradients",
        Stage::Messages => "messages",
    }
}
