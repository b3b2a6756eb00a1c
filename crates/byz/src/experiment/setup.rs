//! From a configuration to a trainer that is ready for round 1.

use super::config::{ByzantineData, Config};
use crate::{
    attacks,
    data::{Directory, Sampler},
    defense::Defense,
    error::{Error, Result},
    kernels::Scalar,
    partitions, registry, schedules,
    tasks::{self, AnyTask, Setting, Task},
    trainer::{Spent, Trainer},
    transforms::Chain,
};

/// A trainer of the task's number type.
pub enum Opened {
    /// Networks.
    F32(Trainer<f32>),
    /// Small exact problems.
    F64(Trainer<f64>),
}

/// Reads the data and puts the parts together.
pub fn open(config: &Config, data: &Directory) -> Result<Opened> {
    let setting = Setting { workers: config.workers, byzantine: config.byzantine, seed: config.seed, data };
    Ok(match registry::read("task", tasks::TABLE, &config.task)?.open(&setting)? {
        AnyTask::F32(task) => Opened::F32(trainer(config, task)?),
        AnyTask::F64(task) => Opened::F64(trainer(config, task)?),
    })
}

/// Puts the parts together for a task that the caller brings.
pub fn trainer<T: Scalar>(config: &Config, task: Box<dyn Task<Scalar = T>>) -> Result<Trainer<T>> {
    let chain = |worker: usize| match worker < config.honest() || config.byzantine_momentum {
        true => Chain::read(&config.worker),
        false => Ok(Chain::empty()),
    };
    let server: Chain<T> = Chain::read(&config.server)?;
    let workers: Vec<Chain<T>> = (0..config.workers).map(chain).collect::<Result<_>>()?;
    for link in server.0.iter().chain(workers.iter().flat_map(|chain| &chain.0)) {
        link.check(task.layout())?;
    }
    let parameters = task.initial_parameters(config.seed);
    let shards = shards(config, task.as_ref())?;
    let size = config.workers.checked_mul(parameters.len());
    let mut rows = Vec::new();
    if size.is_none_or(|size| rows.try_reserve_exact(size).is_err()) {
        let (n, d) = (config.workers, parameters.len());
        return Err(Error::Usage(format!(
            "{n} messages of {d} numbers do not fit memory; use fewer workers"
        )));
    }
    rows.resize(config.workers * parameters.len(), T::default());
    Ok(Trainer {
        defense: Defense::new(&config.defense, config.tolerance)?.strict(config.strict),
        attack: registry::read("attack", attacks::table::<T>(), &config.attack)?,
        stage: config.stage(),
        workers,
        server,
        schedule: registry::read("schedule", schedules::TABLE, &config.schedule)?,
        rate: config.rate,
        rounds: config.rounds,
        sampler: Sampler::new(shards, config.batch, config.data_seed, config.batches_per_epoch),
        honest: config.honest(),
        seed: config.seed,
        round: 0,
        center: None,
        zero_updates: 0,
        spent: Spent::default(),
        rows,
        examples: vec![Vec::new(); config.workers],
        parameters,
        task,
    })
}

/// Every worker's examples; none for tasks without data.
fn shards<T: Scalar>(config: &Config, task: &dyn Task<Scalar = T>) -> Result<Vec<Vec<usize>>> {
    let examples = task.examples();
    if examples.count == 0 {
        return Ok(Vec::new());
    }
    let partition = registry::read("partition", partitions::TABLE, &config.partition)?;
    let count = match config.byzantine_data {
        ByzantineData::Own => config.workers,
        ByzantineData::Iid | ByzantineData::Reuse => config.honest(),
    };
    let mut shards = partition.shards(&examples, count, config.data_seed)?;
    for worker in shards.len()..config.workers {
        let shard = match config.byzantine_data {
            ByzantineData::Reuse => shards[worker % count].clone(),
            _ => (0..examples.count).collect(),
        };
        shards.push(shard);
    }
    match shards.iter().position(Vec::is_empty) {
        None => Ok(shards),
        Some(worker) => Err(Error::Usage(format!(
            "{} leaves worker {worker} without examples; use fewer workers or another partition",
            config.partition
        ))),
    }
}
