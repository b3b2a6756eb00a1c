//! From a configuration to a trainer that is ready for round 1.

use super::config::{ByzantineData, Config};
use crate::{
    attacks,
    data::{Directory, Sampler},
    defense::Defense,
    error::{Error, Result},
    kernels::Scalar,
    partitions, registry, schedules,
    tasks::{self, AnyTask, LabelMap, Setting, Task},
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
    let attack = registry::read("attack", attacks::table::<T>(), &config.attack)?;
    if let Some(labels) = attack.poisons_labels() {
        check_labels(config, labels, task.examples().classes)?;
    }
    let (dimension, mut rows) = (task.layout().dimension(), Vec::new());
    let size = config.workers.checked_mul(dimension);
    if size.is_none_or(|size| rows.try_reserve_exact(size).is_err()) {
        let (n, d) = (config.workers, dimension);
        return Err(Error::Usage(format!(
            "{n} messages of {d} numbers do not fit memory; use fewer workers"
        )));
    }
    rows.resize(config.workers * dimension, T::default());
    let parameters = task.initial_parameters(config.seed);
    let shards = shards(config, task.as_ref())?;
    Ok(Trainer {
        defense: Defense::new(&config.defense, config.tolerance)?.strict(config.strict),
        attack,
        stage: config.stage(),
        workers,
        server,
        schedule: registry::read("schedule", schedules::TABLE, &config.schedule)?,
        rate: config.rate,
        rounds: config.rounds,
        sampler: Sampler::new(shards, config.batch, config.order(), config.batches_per_epoch),
        collector: None,
        honest: config.honest(),
        seed: config.seed,
        round: 0,
        center: None,
        zero_updates: 0,
        look_every: config.diagnostics.as_ref().map(|diagnostics| diagnostics.every),
        envelope: Default::default(),
        spent: Spent::default(),
        rows,
        examples: vec![Vec::new(); config.workers],
        parameters,
        task,
    })
}

/// An attack on labels that changes none is a mistake.
fn check_labels(config: &Config, labels: LabelMap, classes: usize) -> Result<()> {
    let Config { task, attack, .. } = config;
    match (0..classes).any(|label| labels.apply(label, classes) != label) {
        true => Ok(()),
        false if classes == 0 => Err(Error::Usage(format!("{task} has no labels for {attack} to change"))),
        false => Err(Error::Usage(format!("{attack} changes no label of {classes} classes"))),
    }
}

/// Every worker's examples; none for tasks without data.
pub(super) fn shards<T: Scalar>(config: &Config, task: &dyn Task<Scalar = T>) -> Result<Vec<Vec<usize>>> {
    let examples = task.examples();
    if examples.count == 0 {
        return match config.partition.as_str() {
            "iid" => Ok(Vec::new()),
            other => Err(Error::Usage(format!(
                "{} has no examples to divide by {other}; leave the partition out",
                config.task
            ))),
        };
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
