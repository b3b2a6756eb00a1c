//! How long an experiment will take, from a few of its own rounds.

use crate::{sweep::Plan, text::wrap};
use byz::{
    Engine, Error, Scalar, Trainer,
    experiment::{Opened, open},
};
use std::time::{Duration, Instant};

/// Longest time spent on the estimate, once a round is done.
const BUDGET: Duration = Duration::from_millis(150);

/// What is to be done and how long it will take, in words.
pub(super) fn of(plan: &Plan<'_>) -> Result<String, Error> {
    let (total, done) = plan.rounds()?;
    let (cells, seeds) = (plan.cells()?, plan.grid.seeds.len());
    let mut text = format!("{}: cells: {cells}, seeds: {seeds}, rounds: {total}", plan.name);
    if done >= total {
        text += "; all done";
    } else {
        let (jobs, threads) = plan.shape()?;
        let seconds = round(plan, threads)? * (total - done) as f64 / jobs as f64;
        text += &format!("; {} to go, about {}", total - done, words(seconds));
    }
    Ok(wrap("", 2, &text).trim_end().to_string())
}

/// Seconds of one round of the first cell.
fn round(plan: &Plan<'_>, threads: usize) -> Result<f64, Error> {
    let engine = Engine { threads, ..Engine::default() };
    match open(&plan.first()?, plan.data)? {
        Opened::F32(trainer) => timed(trainer, engine),
        Opened::F64(trainer) => timed(trainer, engine),
    }
}

fn timed<T: Scalar>(mut trainer: Trainer<T>, engine: Engine<'_>) -> Result<f64, Error> {
    let start = Instant::now();
    let mut rounds = 0;
    while rounds == 0 || (start.elapsed() < BUDGET && rounds < 200) {
        match trainer.round(engine, false) {
            Ok(_) => rounds += 1,
            // A rate that diverges says as much about the time as any other.
            Err(Error::Diverged { .. }) if rounds > 0 => break,
            Err(error) => return Err(error),
        }
    }
    Ok(start.elapsed().as_secs_f64() / f64::from(rounds))
}

fn words(seconds: f64) -> String {
    match seconds {
        ..90.0 => format!("{:.0} s", seconds.ceil()),
        ..5400.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_the_unit_one_would_use() {
        assert_eq!((words(0.2), words(89.0), words(600.0)), ("1 s".into(), "89 s".into(), "10 min".into()));
        assert_eq!(words(9000.0), "2.5 h");
    }
}
