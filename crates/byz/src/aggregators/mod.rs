//! Aggregators turn the rows that reach them into one vector. One rule per file.

mod bulyan;
mod caf;
mod centered_clipping;
mod divide_and_conquer;
mod geometric_median;
mod krum;
mod mean;
mod mean_around_median;
mod median;
mod minimum_diameter_averaging;
mod monna;
mod multi_krum;
mod sign_majority;
mod smea;
mod trimmed_mean;

use crate::{
    defense::{Requirements, Round},
    error::Result,
    geometry::Geometry,
    plan::Decision,
    registry::Entry,
    theory::{Constants, Counts},
};

/// A rule.
pub trait Aggregator: Send + Sync {
    /// What must be measured.
    fn requirements(&self) -> Requirements {
        Requirements::DISTANCES
    }
    /// Whether the formula has a meaning for these counts; if not, the round is refused. Most rules ask for an honest
    /// majority, n ≥ 2f + 1.
    fn defined(&self, messages: usize, tolerance: usize) -> bool {
        messages > 2 * tolerance
    }
    /// Whether robustness is promised for these counts; if not, the caller is warned, or refused when strict.
    fn guaranteed(&self, messages: usize, tolerance: usize) -> bool {
        messages > 2 * tolerance
    }
    /// What is known of the coefficient of robustness.
    fn robustness(&self, _setting: &Counts) -> Constants {
        Constants::UNKNOWN
    }
    /// Decides in n × n space.
    fn plan(&self, geometry: &Geometry<'_>, round: &Round<'_>) -> Result<Decision>;
}

/// Every aggregator.
pub static TABLE: &[Entry<dyn Aggregator>] = &[
    mean::ENTRY,
    median::ENTRY,
    trimmed_mean::ENTRY,
    mean_around_median::ENTRY,
    krum::ENTRY,
    multi_krum::ENTRY,
    bulyan::ENTRY,
    minimum_diameter_averaging::ENTRY,
    geometric_median::ENTRY,
    centered_clipping::ENTRY,
    smea::ENTRY,
    caf::ENTRY,
    monna::ENTRY,
    sign_majority::ENTRY,
    divide_and_conquer::ENTRY,
];
