//! The coordinate-wise trimmed mean: drop the f smallest and f largest values, average the n − 2f others.
//!
//! Needs n ≥ 2f + 1. Its robustness constant is the best any rule can have: f/(n−2f) in the squared definition,
//! (n−f)/(2(n−2f)) in the linear one, in any dimension. Costs one pass.
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

struct TrimmedMean;

pub(super) const ENTRY: Entry<dyn Aggregator> = Entry {
    name: "trimmed_mean",
    aliases: &["tm", "cwtm", "trmean", "coordinate_wise_trimmed_mean"],
    summary: "the mean of every coordinate without its f smallest and f largest values",
    parameters: &[],
    requirement: "n ≥ 2f+1",
    reference: "Yin et al., Byzantine-robust distributed learning, ICML 2018",
    properties: Properties::ALL,
    build: |_| Ok(Box::new(TrimmedMean)),
};

impl Aggregator for TrimmedMean {
    fn requirements(&self) -> Requirements {
        Requirements::NONE
    }

    /// No rule does better: see [`Counts::lower_bound`].
    fn robustness(&self, counts: &Counts) -> Constants {
        let exact = Constants::exact(counts.lower_bound());
        let r = counts.ratio();
        match counts.definition {
            Definition::Linear => exact,
            Definition::Squared => exact.published(6.0 * r * (1.0 + r)),
        }
    }

    fn plan(&self, _geometry: &Geometry<'_>, round: &Round<'_>) -> Result<Decision> {
        Ok(Decision::coordinate_wise(CoordinateRule::TrimmedMean { trim: round.tolerance }))
    }
}
