//! One worker's part of a run, for workers that are processes of their own: its gradients, and its momentum where it keeps
//! that itself.

use super::{
    config::Config,
    parts::{self, Parts},
    setup::shards,
};
use crate::{
    data::{Directory, Sampler},
    error::{Error, Result},
    kernels::Scalar,
    registry,
    rows_mut::RowsMut,
    schedules::{self, Schedule},
    tasks::{self, AnyTask, Batch, LabelMap, Setting, Task},
    transforms::{Chain, Step},
};
use serde::{Deserialize, Serialize};
use std::{fs, path::Path};

const MAGIC: &[u8] = b"byz member 1\n";

/// What one worker needs to answer.
pub struct Member<T: Scalar> {
    /// What is trained.
    pub task: Box<dyn Task<Scalar = T>>,
    /// What it does to its labels, if it poisons them.
    pub labels: Option<LabelMap>,
    worker: usize,
    sampler: Sampler,
    chain: Chain<T>,
    schedule: Box<dyn Schedule>,
    /// The run's base rate, rounds and seed.
    rate: f64,
    rounds: u64,
    seed: u64,
    examples: Vec<usize>,
}

/// A member of the task's number type.
pub enum AnyMember {
    /// Networks.
    F32(Member<f32>),
    /// Small exact problems.
    F64(Member<f64>),
}

#[derive(Serialize, Deserialize)]
struct Header {
    run: String,
    round: u64,
    parts: Vec<Vec<usize>>,
}

/// Reads the data and makes ready to answer as this worker. With `own_momentum` it runs the worker's chain itself.
pub fn open_member(
    config: &Config,
    worker: usize,
    own_momentum: bool,
    data: &Directory,
) -> Result<AnyMember> {
    let setting = Setting { workers: config.workers, byzantine: config.byzantine, seed: config.seed, data };
    Ok(match registry::read("task", tasks::TABLE, &config.task)?.open(&setting)? {
        AnyTask::F32(task) => AnyMember::F32(Member::new(config, task, worker, own_momentum)?),
        AnyTask::F64(task) => AnyMember::F64(Member::new(config, task, worker, own_momentum)?),
    })
}

impl<T: Scalar> Member<T> {
    /// The same for a task that the caller brings.
    pub fn new(
        config: &Config,
        task: Box<dyn Task<Scalar = T>>,
        worker: usize,
        own_momentum: bool,
    ) -> Result<Member<T>> {
        if worker >= config.workers {
            let last = config.workers - 1;
            return Err(Error::Usage(format!("the run has workers 0 to {last}, and no worker {worker}")));
        }
        let shards = shards(config, task.as_ref())?;
        let sampler = Sampler::new(shards, config.batch, config.order(), config.batches_per_epoch);
        Ok(Member {
            labels: None,
            worker,
            sampler,
            chain: if own_momentum { Chain::read(&config.worker)? } else { Chain::empty() },
            schedule: registry::read("schedule", schedules::TABLE, &config.schedule)?,
            rate: config.rate,
            rounds: config.rounds,
            seed: config.seed,
            examples: Vec::new(),
            task,
        })
    }

    /// Writes the message for this round at these parameters, and gives the loss of the batch behind it.
    pub fn answer(&mut self, round: u64, parameters: &[T], row: &mut [T], threads: usize) -> Result<f64> {
        self.sampler.batch(self.worker, round, &mut self.examples);
        let (worker, seed, labels) = (self.worker, self.seed, self.labels);
        let batch = Batch { worker, round, seed, examples: &self.examples, labels };
        let dimension = row.len();
        let losses = self.task.gradients(parameters, &[batch], RowsMut::new(row, dimension), threads)?;
        let pace = self.schedule.pace(self.rate, round, self.rounds);
        let step = Step { round, pace, parameters, layout: self.task.layout() };
        self.chain.apply(row, &step);
        Ok(losses[0])
    }

    /// Whether it remembers anything between rounds.
    pub fn remembers(&self) -> bool {
        !self.chain.0.is_empty()
    }

    /// Writes what it remembers after this round of this run.
    pub fn save(&self, path: &Path, run: &str, round: u64) -> Result<()> {
        let parts: Parts<T> = self.chain.0.iter().map(|link| link.state()).collect();
        let header = Header { run: run.to_string(), round, parts: parts::lengths(&parts) };
        parts::write(path, MAGIC, &header, &parts)
    }

    /// Forgets what it remembers from `round` on, as far as a file tells what was before; says whether it did.
    pub fn step_back(&mut self, path: &Path, run: &str, round: u64) -> Result<bool> {
        if round == 1 {
            self.chain.0.iter_mut().try_for_each(|link| link.restore(Vec::new()))?;
            return Ok(true);
        }
        Ok(self.load(path, run)?.is_some_and(|kept| kept < round))
    }

    /// Takes up what it remembered of this run; gives the round after which, or none if there is nothing.
    pub fn load(&mut self, path: &Path, run: &str) -> Result<Option<u64>> {
        let Ok(bytes) = fs::read(path) else { return Ok(None) };
        let unusable = |problem: String| {
            Error::file(path, format_args!("is not usable ({problem}); delete it to start without momentum"))
        };
        let (header, numbers) = parts::open::<Header>(&bytes, MAGIC).map_err(unusable)?;
        if header.run != run {
            return Ok(None);
        }
        let parts = parts::read(numbers, &header.parts).map_err(unusable)?;
        if parts.len() != self.chain.0.len() {
            return Err(unusable("it is of another chain".into()));
        }
        for (link, state) in self.chain.0.iter_mut().zip(parts) {
            link.restore(state)?;
        }
        Ok(Some(header.round))
    }
}
