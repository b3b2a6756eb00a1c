//! γ_k = γ₀ / √k for k = 1, 2, …: what the paper's experiments use, with constant momentum.
//!
//! Reference: the experiments of Byz-NSGDM.

use super::{Pace, Schedule, warmup};
use crate::registry::{Entry, Properties};

struct InverseSqrt;

pub(super) const ENTRY: Entry<dyn Schedule> = Entry {
    name: "inverse_sqrt",
    aliases: &[],
    summary: "the rate over the square root of the round",
    parameters: &[warmup::PARAMETER],
    requirement: "",
    reference: "the experiments of Byz-NSGDM",
    properties: Properties::NONE,
    build: |arguments| Ok(warmup::ramp(arguments, InverseSqrt)),
};

impl Schedule for InverseSqrt {
    fn pace(&self, base: f64, round: u64, _: u64) -> Pace {
        Pace { rate: base / (round.max(1) as f64).sqrt(), momentum: None, restart: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_rounds_from_one() {
        let rates: Vec<f64> = [1, 4, 100].map(|round| InverseSqrt.pace(0.5, round, 0).rate).to_vec();
        assert_eq!(rates, [0.5, 0.25, 0.05]);
    }
}
