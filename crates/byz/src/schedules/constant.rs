//! The same rate in every round: γ_k = γ₀.

use super::{Pace, Schedule, warmup};
use crate::registry::{Entry, Properties};

struct Constant;

pub(super) const ENTRY: Entry<dyn Schedule> = Entry {
    name: "constant",
    aliases: &[],
    summary: "the same rate in every round",
    parameters: &[warmup::PARAMETER],
    requirement: "",
    reference: "folklore",
    properties: Properties::NONE,
    build: |arguments| Ok(warmup::ramp(arguments, Constant)),
};

impl Schedule for Constant {
    fn pace(&self, base: f64, _: u64, _: u64) -> Pace {
        Pace { rate: base, momentum: None, restart: false }
    }
}
