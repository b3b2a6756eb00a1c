//! No horizon known: stages of N, 2N, 4N, … rounds, each with the theorem's rate and momentum for its own length.
//!
//! Stage s = 0, 1, … begins at round N·(2ˢ − 1) + 1. At the beginning of every stage but the first, momentum is kept or
//! starts afresh (`momentum` = keep, reset). Warm-up happens once, at the beginning of the run. Defaults: first = 1,
//! moment = 2, momentum = keep.
//! Reference: the doubling trick, Hazan: "Introduction to online convex optimization", 2016, which the remark
//! after Theorem 1 of Byz-NSGDM names.

use super::{
    Pace, Schedule,
    theory::{MOMENT, Theory},
    warmup,
};
use crate::registry::{Entry, Kind, Parameter, Properties};

struct Doubling {
    theory: Theory,
    first: u64,
    reset: bool,
}

pub(super) const ENTRY: Entry<dyn Schedule> = Entry {
    name: "doubling",
    aliases: &[],
    summary: "stages that double in length, each with the theorem's rate and momentum for its length",
    parameters: &[
        Parameter {
            name: "first",
            default: "1",
            summary: "rounds of the first stage",
            kind: Kind::Count { least: 1 },
        },
        Parameter {
            name: "momentum",
            default: "keep",
            summary: "what becomes of momentum when a stage begins",
            kind: Kind::Choice(&["keep", "reset"]),
        },
        MOMENT,
        warmup::PARAMETER,
    ],
    requirement: "",
    reference: "Hazan, Introduction to online convex optimization, 2016",
    properties: Properties::NONE,
    build: |arguments| {
        let doubling = Doubling {
            theory: Theory::new(arguments)?,
            first: arguments.count("first").unwrap_or(1) as u64,
            reset: arguments.choice("momentum") == Some("reset"),
        };
        Ok(warmup::ramp(arguments, doubling))
    },
};

impl Schedule for Doubling {
    fn pace(&self, base: f64, round: u64, _: u64) -> Pace {
        let before = round.max(1) - 1;
        // N·(2ˢ − 1) ≤ before, for the largest such s.
        let stage = (before / self.first + 1).ilog2();
        let begins =
            before > 0 && before.is_multiple_of(self.first) && (before / self.first + 1).is_power_of_two();
        let pace = self.theory.of_horizon(base, self.first as f64 * 2f64.powi(stage as i32));
        Pace { restart: self.reset && begins, ..pace }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::read;

    fn paces(expression: &str, rounds: u64) -> Vec<Pace> {
        let schedule = read("schedule", super::super::TABLE, expression).unwrap();
        (1..=rounds).map(|round| schedule.pace(1.0, round, rounds)).collect()
    }

    #[test]
    fn stages_double_and_use_their_own_length() {
        // Lengths 3, 6, 12: η = (length + 1)^−½.
        let lengths: Vec<f64> =
            paces("doubling(first=3)", 21).iter().map(|pace| pace.momentum.unwrap().powi(-2) - 1.0).collect();
        for (index, length) in lengths.iter().enumerate() {
            let expected = if index < 3 {
                3.0
            } else if index < 9 {
                6.0
            } else {
                12.0
            };
            assert!((length - expected).abs() < 1e-9, "round {}: {length}", index + 1);
        }
        assert!((paces("doubling", 1)[0].rate - 2f64.powf(-0.75)).abs() < 1e-15);
    }

    #[test]
    fn momentum_restarts_only_where_asked_and_only_when_a_stage_begins() {
        let restarts = |expression| {
            let paces = paces(expression, 31);
            (1..=31).filter(|round| paces[round - 1].restart).collect::<Vec<_>>()
        };
        assert_eq!(restarts("doubling(momentum=reset)"), [2, 4, 8, 16]);
        assert_eq!(restarts("doubling(momentum=reset,first=10)"), [11, 31]);
        assert!(restarts("doubling").is_empty());
    }
}
