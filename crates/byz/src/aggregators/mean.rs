//! The arithmetic mean: (1/n) Σ xᵢ.
//!
//! Optimal without Byzantine workers and broken by a single one: guaranteed only for f = 0. Defined for any f < n,
//! because comparisons need it. Linear, so it is the yardstick of all other rules. Costs one pass.

use super::Aggregator;
use crate::{
    defense::{Requirements, Round},
    error::Result,
    geometry::Geometry,
    plan::Decision,
    registry::{Entry, Properties},
    theory::{Constants, Counts},
};

struct Mean;

pub(super) const ENTRY: Entry<dyn Aggregator> = Entry {
    name: "mean",
    aliases: &["average", "avg"],
    summary: "the arithmetic mean; any single Byzantine worker controls it",
    parameters: &[],
    requirement: "f = 0",
    reference: "–",
    properties: Properties { bounded: false, ..Properties::ALL },
    build: |_| Ok(Box::new(Mean)),
};

impl Aggregator for Mean {
    fn requirements(&self) -> Requirements {
        Requirements::NONE
    }

    fn defined(&self, messages: usize, _tolerance: usize) -> bool {
        messages > 0
    }

    fn guaranteed(&self, _messages: usize, tolerance: usize) -> bool {
        tolerance == 0
    }

    fn robustness(&self, counts: &Counts) -> Constants {
        match counts.tolerance {
            0 => Constants::exact(0.0),
            _ => Constants::unbounded("one message that goes to infinity takes the mean along"),
        }
    }

    fn plan(&self, geometry: &Geometry<'_>, _round: &Round<'_>) -> Result<Decision> {
        let rows: Vec<usize> = (0..geometry.messages()).collect();
        Ok(Decision::mean_of(&rows, geometry.points()))
    }
}
