//! The majority vote on signs: sign(Σ sign xᵢ) in every coordinate; a tied vote gives 0.
//!
//! Needs n ≥ 2f + 1. Only directions survive, so it is biased and not equivariant; the result has entries −1, 0, 1. Costs one
//! pass.
//! Reference: Bernstein, Zhao, Azizzadenesheli, Anandkumar: "signSGD with majority vote is communication efficient
//! and fault tolerant", ICLR 2019.

use super::Aggregator;
use crate::{
    defense::{Requirements, Round},
    error::Result,
    geometry::Geometry,
    kernels::coordinate::CoordinateRule,
    plan::Decision,
    registry::{Entry, Properties},
    theory::{Constants, Counts},
};

struct SignMajority;

pub(super) const ENTRY: Entry<dyn Aggregator> = Entry {
    name: "sign_majority",
    aliases: &["majority_vote", "signsgd"],
    summary: "the majority of signs in every coordinate: −1, 0 or 1",
    parameters: &[],
    requirement: "n ≥ 2f+1",
    reference: "Bernstein et al., signSGD with majority vote, ICLR 2019",
    properties: Properties { translation: false, scale: false, ..Properties::ALL },
    build: |_| Ok(Box::new(SignMajority)),
};

impl Aggregator for SignMajority {
    fn requirements(&self) -> Requirements {
        Requirements::NONE
    }

    fn robustness(&self, _setting: &Counts) -> Constants {
        Constants::unbounded("signs forget lengths: where all say 3, the answer is 1")
    }

    fn plan(&self, _geometry: &Geometry<'_>, _round: &Round<'_>) -> Result<Decision> {
        Ok(Decision::coordinate_wise(CoordinateRule::SignMajority))
    }
}
