//! The coordinate-wise median; the midpoint of the two middle values when n is even.
//!
//! Needs n ≥ 2f + 1. Robustness constants, linear definition: (n−f)/(n+1−2f) for odd n, (n−f)/(n+2−2f) for even n,
//! in any dimension. Costs one pass.
//! Reference: Yin, Chen, Kannan, Bartlett: "Byzantine-robust distributed learning", ICML 2018.

use super::Aggregator;
use crate::{
    defense::{Requirements, Round},
    error::Result,
    geometry::Geometry,
    kernels::coordinate::CoordinateRule,
    plan::Decision,
    registry::{Entry, Properties},
    theory::{Constants, Counts, Definition},
};

struct Median;

pub(super) const ENTRY: Entry<dyn Aggregator> = Entry {
    name: "median",
    aliases: &["cm", "cwmed", "coordinate_wise_median"],
    summary: "the median of every coordinate",
    parameters: &[],
    requirement: "n ≥ 2f+1",
    reference: "Yin et al., Byzantine-robust distributed learning, ICML 2018",
    properties: Properties::ALL,
    build: |_| Ok(Box::new(Median)),
};

impl Aggregator for Median {
    fn requirements(&self) -> Requirements {
        Requirements::NONE
    }

    /// The median lies between the means of the lowest and of the highest t honest values, where t honest values and all the
    /// others still make a majority.
    fn robustness(&self, counts: &Counts) -> Constants {
        let r = counts.ratio();
        Constants::exact(coefficient(counts)).published(match counts.definition {
            Definition::Linear => 2.0 * (counts.dimension as f64).sqrt() * (1.0 + r),
            Definition::Squared => 4.0 * (1.0 + r) * (1.0 + r),
        })
    }

    fn plan(&self, _geometry: &Geometry<'_>, _round: &Round<'_>) -> Result<Decision> {
        Ok(Decision::coordinate_wise(CoordinateRule::Median))
    }
}

/// The median's own robustness coefficient.
pub(super) fn coefficient(counts: &Counts) -> f64 {
    let even = f64::from(counts.messages.is_multiple_of(2));
    let twice = counts.majority() + 1.0 + even;
    match counts.definition {
        // Of one or two messages it is the mean.
        _ if counts.tolerance == 0 && counts.messages <= 2 => 0.0,
        Definition::Linear => counts.honest() / twice,
        Definition::Squared => (counts.messages as f64 - 1.0 - even) / twice,
    }
}
