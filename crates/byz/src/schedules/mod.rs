//! How the rate changes from round to round. One schedule per file.

use crate::registry::Entry;

/// What a schedule says about one round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// The learning rate γ of this round.
    pub rate: f64,
    /// The momentum parameter η, where the schedule sets it too.
    pub momentum: Option<f64>,
    /// Whether momentum starts afresh before this round.
    pub restart: bool,
}

/// A sequence of rates.
pub trait Schedule: Send + Sync {
    /// Round `round` (1, 2, …) of a run of `rounds`, with base rate γ₀.
    fn pace(&self, base: f64, round: u64, rounds: u64) -> Pace;
}

/// Every schedule.
pub static TABLE: &[Entry<dyn Schedule>] = &[];
