//! The round: collect → corrupt → aggregate → transform → step.
//!
//! Honest workers come first, Byzantine ones last. Every worker's gradient passes through its own chain of transforms and
//! becomes its message; the attack replaces the Byzantine rows before or after that; the defence makes one vector of the
//! messages; the server's chain makes the update of it; the parameters move by −γ·update. With a [`Collector`] the gradients
//! come from workers elsewhere, and nobody needs to be simulated.

mod foresight;

use crate::{
    attacks::{Attack, Stage, View},
    collector::{Arrival, Collected, Collector, Question},
    data::Sampler,
    defense::{Aggregate, Defense, Options},
    diagnostics::{self, Envelope, Look, Round},
    engine::Engine,
    error::{Error, Result},
    kernels::Scalar,
    messages::Messages,
    rows_mut::RowsMut,
    schedules::{Pace, Schedule},
    tasks::{Batch, Task},
    transforms::{Chain, Step},
};
use foresight::{Foresight, descend};
use std::{
    ops::Range,
    time::{Duration, Instant},
};

/// Everything that trains, and how far it has come.
pub struct Trainer<T: Scalar> {
    /// What is trained.
    pub task: Box<dyn Task<Scalar = T>>,
    /// How messages become one vector.
    pub defense: Defense,
    /// What Byzantine workers do.
    pub attack: Box<dyn Attack<T>>,
    /// What the attack replaces.
    pub stage: Stage,
    /// One chain per worker; none for Byzantine workers that keep no momentum.
    pub workers: Vec<Chain<T>>,
    /// The server's chain.
    pub server: Chain<T>,
    /// How the rate changes.
    pub schedule: Box<dyn Schedule>,
    /// γ₀.
    pub rate: f64,
    /// Rounds in all; schedules with a horizon need them.
    pub rounds: u64,
    /// Who draws which examples.
    pub sampler: Sampler,
    /// Where gradients come from, if not from here.
    pub collector: Option<Box<dyn Collector<T>>>,
    /// Honest workers; they come first.
    pub honest: usize,
    /// Seed of noise and forgery.
    pub seed: u64,
    /// The model.
    pub parameters: Vec<T>,
    /// Rounds done.
    pub round: u64,
    /// The last aggregate, where the defence clips about it.
    pub center: Option<Vec<T>>,
    /// Rounds in which the update was zero.
    pub zero_updates: u64,
    /// Rounds between looks at the theorem's constants; none to take none. The first round is always looked at.
    pub look_every: Option<u64>,
    /// Smoothness against gradient length, as far as it was seen.
    pub envelope: Envelope,
    /// Where the time of all rounds went.
    pub spent: Spent,
    /// The workers' rows.
    pub(crate) rows: Vec<T>,
    pub(crate) examples: Vec<Vec<usize>>,
}

/// Where the time of rounds goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Drawing batches, computing gradients and what workers make of them.
    pub gradients: Duration,
    /// Forging.
    pub attack: Duration,
    /// The defence.
    pub aggregation: Duration,
    /// The server's transforms, the step, and the look back at the round.
    pub step: Duration,
}

/// Rows of so many bytes stay in the cache of one core, all of them.
const CACHE: usize = 1 << 20;

struct Clock(Instant);

impl Clock {
    fn start() -> Clock {
        Clock(Instant::now())
    }

    /// Adds the time since the last lap.
    fn lap(&mut self, to: &mut Duration) {
        let now = Instant::now();
        *to += now - self.0;
        self.0 = now;
    }
}

impl<T: Scalar> Trainer<T> {
    /// One round; `explain` also measures what takes another look at the messages.
    pub fn round(&mut self, engine: Engine<'_>, explain: bool) -> Result<Round> {
        self.round += 1;
        let pace = self.schedule.pace(self.rate, self.round, self.rounds);
        let mut clock = Clock::start();
        let collected = self.collect(pace, engine)?;
        clock.lap(&mut self.spent.gradients);
        self.corrupt(pace, engine)?;
        clock.lap(&mut self.spent.attack);
        let aggregate = self.aggregate(&collected, engine, explain)?;
        clock.lap(&mut self.spent.aggregation);
        let mut report = diagnostics::of_round(self, &collected, &aggregate, pace, explain);
        let look = self.looks().then(|| Look::before(self, &aggregate.vector, engine)).transpose()?;
        let update = self.transform(aggregate.vector, pace);
        self.step(&update, pace.rate);
        report.estimates = look.map(|look| look.after(self, engine)).transpose()?;
        clock.lap(&mut self.spent.step);
        Ok(report)
    }

    fn looks(&self) -> bool {
        self.look_every.is_some_and(|every| self.round == 1 || self.round.is_multiple_of(every))
    }

    /// Every worker's message; its gradient, where the attack replaces those.
    fn collect(&mut self, pace: Pace, engine: Engine<'_>) -> Result<Collected> {
        let Some(collector) = &mut self.collector else { return self.simulate(pace, engine) };
        let (defense, dimension) = (&self.defense, self.parameters.len());
        let enough = |rows: usize, invalid: usize| {
            defense
                .tolerance
                .checked_sub(invalid)
                .is_some_and(|left| defense.check_counts(rows, left).is_ok())
        };
        let question = Question { round: self.round, parameters: &self.parameters, enough: &enough };
        let collected = collector.collect(&question, RowsMut::new(&mut self.rows, dimension))?;
        self.carry(|worker| matches!(collected.arrivals[worker], Arrival::Row { .. }), pace, engine);
        Ok(collected)
    }

    fn simulate(&mut self, pace: Pace, engine: Engine<'_>) -> Result<Collected> {
        let all = self.workers.len();
        // Of large models a few at a time: then a gradient is still in the cache when its chain takes it.
        let large = size_of_val(&self.rows[..]) > CACHE && self.stage == Stage::Messages;
        let group = if large { engine.threads.max(1) } else { all };
        let mut losses = Vec::with_capacity(all);
        for first in (0..all).step_by(group) {
            let workers = first..all.min(first + group);
            losses.extend(self.gradients(workers.clone(), engine.threads)?);
            if self.stage == Stage::Messages {
                self.carry(|worker| workers.contains(&worker), pace, engine);
            }
        }
        Ok(Collected::all(losses))
    }

    /// The chains of these workers make messages of their gradients.
    fn carry(&mut self, whose: impl Fn(usize) -> bool, pace: Pace, engine: Engine<'_>) {
        let step = Step { round: self.round, pace, parameters: &self.parameters, layout: self.task.layout() };
        let rows = self.rows.chunks_exact_mut(self.parameters.len());
        let all = self.workers.iter_mut().zip(rows).enumerate();
        let mut jobs: Vec<_> = all.filter(|(worker, _)| whose(*worker)).map(|(_, job)| job).collect();
        engine.each(&mut jobs, self.parameters.len(), |(chain, row)| chain.apply(row, &step));
    }

    fn gradients(&mut self, workers: Range<usize>, threads: usize) -> Result<Vec<f64>> {
        let (labels, dimension) = (self.attack.poisons_labels(), self.parameters.len());
        for worker in workers.clone() {
            self.sampler.batch(worker, self.round, &mut self.examples[worker]);
        }
        let mut batches = batches(&self.examples, self.round, self.seed);
        batches[self.honest..].iter_mut().for_each(|batch| batch.labels = labels);
        let rows = &mut self.rows[workers.start * dimension..workers.end * dimension];
        self.task.gradients(&self.parameters, &batches[workers], RowsMut::new(rows, dimension), threads)
    }

    /// Lets the attack replace the Byzantine rows. Where it replaces gradients, the chains come after it.
    fn corrupt(&mut self, pace: Pace, engine: Engine<'_>) -> Result<()> {
        if self.honest < self.workers.len() {
            self.forge(pace, engine)?;
        }
        if self.stage == Stage::Gradients {
            self.carry(|_| true, pace, engine);
        }
        Ok(())
    }

    fn forge(&mut self, pace: Pace, engine: Engine<'_>) -> Result<()> {
        let dimension = self.parameters.len();
        let (honest, forged) = self.rows.split_at_mut(self.honest * dimension);
        let honest: Vec<&[T]> = honest.chunks_exact(dimension).collect();
        let (defense, round) = (&self.defense, self.round);
        let center = self.center.as_deref();
        let probe = |forged: &[&[T]]| {
            let rows: Vec<&[T]> = honest.iter().chain(forged).copied().collect();
            let options = Options { engine, round, center, explain: false };
            Ok(defense.aggregate(&Messages::from_rows(&rows), &options)?.vector)
        };
        let (seed, tolerance) = (self.seed, defense.tolerance);
        let step = Step { round, pace, parameters: &self.parameters, layout: self.task.layout() };
        let trusted = batches(&self.examples[..self.honest], round, seed);
        let foresight = Foresight::new(&*self.task, &mut self.server, step, trusted, engine.threads);
        let next_loss = |aggregate: &[T]| foresight.loss(aggregate);
        let view =
            View { round, seed, tolerance, honest: &honest, probe: &probe, next_loss: &next_loss, engine };
        self.attack.forge(&view, RowsMut::new(forged, dimension))
    }

    fn aggregate(&self, collected: &Collected, engine: Engine<'_>, explain: bool) -> Result<Aggregate<T>> {
        let dimension = self.parameters.len();
        let rows = self.rows.chunks_exact(dimension).zip(&collected.arrivals);
        let workers = rows.map(|(row, arrival)| arrival.message(row)).collect();
        let messages = Messages { workers, dimension: Some(dimension) };
        let options = Options { engine, round: self.round, center: self.center.as_deref(), explain };
        self.defense.aggregate(&messages, &options).map_err(|error| self.diverged(error, collected))
    }

    /// The server's chain makes the update of the aggregate, which is the next centre where the defence needs one.
    fn transform(&mut self, mut update: Vec<T>, pace: Pace) -> Vec<T> {
        if self.defense.needs_center() {
            self.center = Some(update.clone());
        }
        let step = Step { round: self.round, pace, parameters: &self.parameters, layout: self.task.layout() };
        self.server.apply(&mut update, &step);
        update
    }

    fn step(&mut self, update: &[T], rate: f64) {
        self.zero_updates += u64::from(update.iter().all(|&value| value == T::default()));
        descend(&mut self.parameters, rate, update);
    }

    /// More invalid messages than Byzantine workers: where the honest ones went non-finite, that is the run's end and no
    /// accusation. Of workers elsewhere nobody knows who is honest: only when most of them fail is it the model.
    fn diverged(&self, error: Error, collected: &Collected) -> Error {
        let gone = if self.collector.is_some() {
            let invalid = collected.arrivals.iter().filter(|arrival| matches!(arrival, Arrival::Invalid(_)));
            2 * invalid.count() > collected.arrivals.len()
        } else {
            let honest = &self.rows[..self.honest * self.parameters.len()];
            !honest.iter().all(|value| value.is_admissible())
        };
        match error {
            Error::Refused { .. } if gone => Error::Diverged { round: self.round },
            other => other,
        }
    }
}

/// What these workers compute in a round, if honest.
fn batches(examples: &[Vec<usize>], round: u64, seed: u64) -> Vec<Batch<'_>> {
    let one = |(worker, examples)| Batch { worker, round, seed, examples, labels: None };
    examples.iter().map(Vec::as_slice).enumerate().map(one).collect()
}
