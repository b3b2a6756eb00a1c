//! Pre-aggregators turn messages into mixed rows that a rule digests better.

mod adaptive_clipping;
mod bucketing;
mod clipping;
mod nearest_neighbor_mixing;

use crate::{
    defense::{Requirements, Round},
    error::Result,
    geometry::Geometry,
    matrix::Matrix,
    registry::Entry,
    theory::{Constants, Counts},
};

/// A step before the rule.
pub trait PreAggregator: Send + Sync {
    /// What must be measured.
    fn requirements(&self) -> Requirements;
    /// How many rows come out of `messages`.
    fn rows(&self, messages: usize) -> usize {
        messages
    }
    /// Whether row i still belongs to worker i.
    fn keeps_workers(&self) -> bool {
        true
    }
    /// Whether the formula has a meaning for these counts; by default, with an honest majority.
    fn defined(&self, messages: usize, tolerance: usize) -> bool {
        messages > 2 * tolerance
    }
    /// What is known of the coefficient of robustness when a rule with these `constants` follows; `counts` tells of what comes in.
    fn robustness(&self, _constants: Constants, _setting: &Counts) -> Constants {
        Constants::UNKNOWN
    }
    /// The mixed rows as combinations of the points; each adds up to one.
    fn mix(&self, geometry: &Geometry<'_>, round: &Round<'_>) -> Result<Matrix>;
}

/// Every pre-aggregator.
pub static TABLE: &[Entry<dyn PreAggregator>] =
    &[nearest_neighbor_mixing::ENTRY, bucketing::ENTRY, clipping::ENTRY, adaptive_clipping::ENTRY];
