//! The mean around the median: per coordinate the average of the n − f values nearest the median.
//!
//! Ties in the distance to the median go to the lowest worker. Needs n ≥ 2f + 1. Robustness constant, linear definition:
//! 1 + 2f/(n−f) times that of the median, in any dimension. Costs one pass.
//! Reference: Xie, Koyejo, Gupta: "Generalized Byzantine-tolerant SGD", arXiv 1802.10116.

use super::{Aggregator, median};
use crate::{
    defense::{Requirements, Round},
    error::Result,
    geometry::Geometry,
    kernels::coordinate::CoordinateRule,
    plan::Decision,
    registry::{Entry, Properties},
    theory::{Constants, Counts, Definition},
};

struct MeanAroundMedian;

pub(super) const ENTRY: Entry<dyn Aggregator> = Entry {
    name: "mean_around_median",
    aliases: &["meamed", "mam"],
    summary: "the mean of the n−f values nearest the median, in every coordinate",
    parameters: &[],
    requirement: "n ≥ 2f+1",
    reference: "Xie et al., Generalized Byzantine-tolerant SGD, arXiv 1802.10116",
    properties: Properties::ALL,
    build: |_| Ok(Box::new(MeanAroundMedian)),
};

impl Aggregator for MeanAroundMedian {
    fn requirements(&self) -> Requirements {
        Requirements::NONE
    }

    /// On one coordinate, let b ≤ f others be taken for b honest values: each is no farther from the median than any of those,
    /// which adds at most 2b times the median's error to what those may sum up to on one side of their mean, twice.
    fn robustness(&self, counts: &Counts) -> Constants {
        if counts.tolerance == 0 {
            return Constants::exact(0.0);
        }
        let (honest, tolerance) = (counts.honest(), counts.tolerance as f64);
        let median = median::coefficient(counts);
        let replaced = tolerance.min(honest / 2.0);
        Constants::proved(match counts.definition {
            Definition::Linear => 1.0 + 2.0 * tolerance / honest * median,
            Definition::Squared => {
                let one_sided = (replaced * (honest - replaced)).sqrt();
                (2.0 / honest * (one_sided + tolerance * median.sqrt())).powi(2)
            }
        })
    }

    fn plan(&self, geometry: &Geometry<'_>, round: &Round<'_>) -> Result<Decision> {
        let keep = geometry.messages() - round.tolerance;
        Ok(Decision::coordinate_wise(CoordinateRule::MeanAroundMedian { keep }))
    }
}
