//! A run that survives: rounds, evaluations, lines, checkpoints, a summary; after a kill the same call goes on.

use super::{
    checkpoint::{self, Tally},
    config::Config,
    record::{Line, Record, Status, Summary, write_json},
    setup::{Opened, open},
};
use crate::{
    data::Directory,
    diagnostics::Round,
    engine::Engine,
    error::{Error, Result},
    kernels::Scalar,
    tasks::Metrics,
    trainer::Trainer,
};
use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
    time::{Duration, Instant},
};

/// What a run is given besides its configuration; none of it changes a number.
pub struct Watch<'a> {
    /// Threads and kernels.
    pub engine: Engine<'a>,
    /// Time between checkpoints.
    pub checkpoint_every: Duration,
    /// Rounds between checkpoints, besides the time.
    pub checkpoint_rounds: Option<u64>,
    /// Hears of every round.
    pub progress: &'a (dyn Fn(u64, &Round, Option<&Metrics>) + Sync),
    /// Hears what a person should know.
    pub warn: &'a (dyn Fn(&str) + Sync),
    /// Asked after every round whether to stop there, with a checkpoint.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// How a call of [`run`] went.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// The result.
    pub summary: Summary,
    /// The round it went on from; 0 for a fresh start, all rounds if there was nothing left to do.
    pub resumed: u64,
}

/// Runs a configuration in a directory, from where it stands there.
pub fn run(config: &Config, directory: &Path, data: &Directory, watch: &Watch<'_>) -> Result<Ended> {
    run_opened(config, directory, || open(config, data), watch)
}

/// The same with a trainer that the caller opens, which is asked for only if there is something left to do.
pub fn run_opened(
    config: &Config,
    directory: &Path,
    open: impl FnOnce() -> Result<Opened>,
    watch: &Watch<'_>,
) -> Result<Ended> {
    let record = Record::at(directory)?;
    let stored = record.path("config.toml");
    let other = || {
        let place = directory.display();
        Error::Usage(format!("{place} holds another run; choose another --out or delete it"))
    };
    let mut foreign = ["index.json", "rounds.jsonl", "summary.json"].into_iter().chain(checkpoint::NAMES);
    match std::fs::read_to_string(&stored) {
        Ok(text) if text != config.to_toml() => return Err(other()),
        Err(_) if foreign.any(|name| record.path(name).exists()) => return Err(other()),
        _ => {}
    }
    if let Some(summary) = ended(&record, watch.warn) {
        let resumed = summary.rounds;
        return if summary.key == config.key() { Ok(Ended { summary, resumed }) } else { Err(other()) };
    }
    // What cannot be opened leaves the directory to what can.
    let opened = open()?;
    let lock = record.lock()?;
    // Another process may have finished it meanwhile.
    if let Some(summary) = ended(&record, &|_| ()).filter(|summary| summary.key == config.key()) {
        let resumed = summary.rounds;
        return Ok(Ended { summary, resumed });
    }
    record.write("config.toml", &config.to_toml())?;
    checkpoint::sweep_away_unfinished(directory);
    match opened {
        Opened::F32(trainer) => Running::start(config, record, lock, trainer, watch)?.finish(),
        Opened::F64(trainer) => Running::start(config, record, lock, trainer, watch)?.finish(),
    }
}

/// The summary, if there is one; a damaged one is as good as none, loudly.
fn ended(record: &Record, warn: &dyn Fn(&str)) -> Option<Summary> {
    record.summary().unwrap_or_else(|error| {
        warn(&format!("{error}; running again"));
        None
    })
}

struct Running<'a, T: Scalar> {
    config: &'a Config,
    key: String,
    record: Record,
    trainer: Trainer<T>,
    watch: &'a Watch<'a>,
    rounds: BufWriter<File>,
    timing: BufWriter<File>,
    tally: Tally,
    resumed: u64,
    /// What the summary will tell.
    last: (Option<Round>, Option<Metrics>),
}

impl<'a, T: Scalar> Running<'a, T> {
    fn start(
        config: &'a Config,
        record: Record,
        timing: File,
        mut trainer: Trainer<T>,
        watch: &'a Watch<'a>,
    ) -> Result<Self> {
        let key = config.key();
        // A checkpoint is of use only with the lines of all rounds before it.
        let gap = record.first_gap(config);
        let tally = checkpoint::load(record.directory(), &key, gap, &mut trainer, watch.warn)?;
        let rounds = record.rounds(config, tally.as_ref().map(|_| trainer.round))?;
        Ok(Running {
            resumed: trainer.round,
            tally: tally.unwrap_or_default(),
            timing: BufWriter::new(timing),
            last: (None, None),
            config,
            key,
            record,
            trainer,
            watch,
            rounds,
        })
    }

    fn finish(mut self) -> Result<Ended> {
        let status = match self.rounds() {
            Ok(()) => Status::Finished,
            Err(Error::Diverged { .. }) => Status::Diverged,
            Err(error) => return Err(error),
        };
        self.flush()?;
        let summary = self.summary(status);
        write_json(&self.record.path("summary.json"), &summary)?;
        for name in checkpoint::NAMES {
            // Nothing is lost: the summary is there.
            let _ = std::fs::remove_file(self.record.path(name));
        }
        Ok(Ended { summary, resumed: self.resumed })
    }

    fn rounds(&mut self) -> Result<()> {
        if self.trainer.round == 0 {
            let metrics = self.evaluate()?;
            self.write(&Line { round: 0, training: None, evaluation: Some(&metrics) })?;
        }
        let mut saved = (Instant::now(), self.trainer.round);
        let mut timed = (Instant::now(), self.trainer.round);
        while self.trainer.round < self.config.rounds {
            let next = self.trainer.round + 1;
            let evaluates = next.is_multiple_of(self.config.evaluate_every) || next == self.config.rounds;
            let report = self.trainer.round(self.watch.engine, evaluates)?;
            let invalid = report.verdicts.iter().filter(|(_, verdict)| verdict.starts_with("invalid"));
            self.tally.invalid_messages += invalid.count() as u64;
            if !report.loss.is_finite() {
                return Err(Error::Diverged { round: next });
            }
            let metrics = if evaluates { Some(self.evaluate()?) } else { None };
            if metrics.as_ref().is_some_and(|metrics| !metrics.loss.is_finite()) {
                return Err(Error::Diverged { round: next });
            }
            if self.config.records(next) {
                self.write(&Line { round: next, training: Some(&report), evaluation: metrics.as_ref() })?;
            }
            (self.watch.progress)(next, &report, metrics.as_ref());
            if evaluates {
                self.time(timed)?;
                timed = (Instant::now(), next);
            }
            self.last.0 = Some(report);
            let due = saved.0.elapsed() >= self.watch.checkpoint_every
                || self.watch.checkpoint_rounds.is_some_and(|rounds| next - saved.1 >= rounds);
            let stop = next < self.config.rounds && (self.watch.stop)();
            if (due || stop) && next < self.config.rounds {
                self.save()?;
                saved = (Instant::now(), next);
            }
            if stop {
                return Err(Error::Interrupted { round: next });
            }
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<Metrics> {
        let trainer = &self.trainer;
        let metrics =
            trainer.task.evaluate(&trainer.parameters, self.config.split(), self.watch.engine.threads)?;
        let higher = trainer.task.objective().higher_is_better;
        let better = |best: f64| if higher { metrics.metric > best } else { metrics.metric < best };
        if metrics.metric.is_finite() && metrics.loss.is_finite() && self.tally.best_metric.is_none_or(better)
        {
            self.tally.best_metric = Some(metrics.metric);
        }
        if trainer.round > 0 {
            self.tally.sum += metrics.metric;
            self.tally.evaluations += 1;
        }
        self.last.1 = Some(metrics.clone());
        Ok(metrics)
    }

    fn write(&mut self, line: &Line<'_>) -> Result<()> {
        let written = serde_json::to_writer(&mut self.rounds, line)
            .map_err(std::io::Error::from)
            .and_then(|()| self.rounds.write_all(b"\n"));
        written.map_err(|error| {
            Error::file(self.record.path("rounds.jsonl"), format_args!("cannot be written: {error}"))
        })
    }

    /// Seconds since the last such line.
    fn time(&mut self, (since, round): (Instant, u64)) -> Result<()> {
        let (now, seconds) = (self.trainer.round, since.elapsed().as_secs_f64());
        let line = format!("{{\"from\":{round},\"to\":{now},\"seconds\":{seconds:.6}}}\n");
        self.timing.write_all(line.as_bytes()).map_err(|error| {
            Error::file(self.record.path("timing.jsonl"), format_args!("cannot be written: {error}"))
        })
    }

    /// Lines first: a checkpoint never knows of rounds that the record has not.
    fn save(&mut self) -> Result<()> {
        self.flush()?;
        let path = self.record.path("rounds.jsonl");
        let synced = self.rounds.get_ref().sync_data();
        synced.map_err(|error| Error::file(path, format_args!("cannot be written: {error}")))?;
        checkpoint::save(self.record.directory(), &self.key, &self.trainer, &self.tally)
    }

    fn flush(&mut self) -> Result<()> {
        let path = self.record.path("rounds.jsonl");
        let flushed = self.rounds.flush().and_then(|()| self.timing.flush());
        flushed.map_err(|error| Error::file(path, format_args!("cannot be written: {error}")))
    }

    fn summary(&self, status: Status) -> Summary {
        let objective = self.trainer.task.objective();
        // A diverged run has no last values worth telling.
        let metrics = self.last.1.as_ref().filter(|_| status == Status::Finished);
        let round = self.last.0.as_ref().filter(|_| status == Status::Finished);
        Summary {
            status,
            key: self.key.clone(),
            rounds: self.trainer.round,
            metric_name: objective.metric.to_string(),
            higher_is_better: objective.higher_is_better,
            metric: metrics.map(|metrics| metrics.metric),
            best_metric: self.tally.best_metric,
            mean_metric: metrics.map(|_| self.tally.sum / self.tally.evaluations as f64),
            loss: metrics.map(|metrics| metrics.loss),
            training_loss: round.map(|round| round.loss),
            aggregate_norm: round.map(|round| round.aggregate_norm),
            gradient_norm: metrics.and_then(|metrics| metrics.gradient_norm),
            per_class: metrics
                .and_then(|metrics| metrics.per_class.as_ref())
                .map(|classes| classes.iter().map(|&class| class.is_finite().then_some(class)).collect()),
            zero_updates: self.trainer.zero_updates,
            invalid_messages: self.tally.invalid_messages,
        }
    }
}
