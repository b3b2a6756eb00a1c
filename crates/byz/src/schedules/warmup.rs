//! A linear ramp at the beginning of any schedule: round k of the first W gets k/W of its rate. W = 0, the default, is none.
//!
//! Momentum and restarts stay as the schedule has them.
//! Reference: Goyal et al.: "Accurate, large minibatch SGD", 2017.

use super::{Pace, Schedule};
use crate::registry::{Arguments, Kind, Parameter};

pub(super) const PARAMETER: Parameter = Parameter {
    name: "warmup",
    default: "0",
    summary: "rounds over which the rate rises linearly to its full value",
    kind: Kind::Count { least: 0 },
};

struct Ramp<S> {
    schedule: S,
    rounds: u64,
}

/// The schedule, with the ramp that the arguments ask for.
pub(super) fn ramp<S: Schedule + 'static>(arguments: &Arguments, schedule: S) -> Box<dyn Schedule> {
    match arguments.count("warmup").unwrap_or(0) as u64 {
        0 => Box::new(schedule),
        rounds => Box::new(Ramp { schedule, rounds }),
    }
}

impl<S: Schedule> Schedule for Ramp<S> {
    fn pace(&self, base: f64, round: u64, rounds: u64) -> Pace {
        let pace = self.schedule.pace(base, round, rounds);
        match round < self.rounds {
            true => Pace { rate: pace.rate * (round as f64 / self.rounds as f64), ..pace },
            false => pace,
        }
    }
}
