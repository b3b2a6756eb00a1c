//! The mean around the median: per coordinate the average of the n − f values nearest the median.
//!
//! Ties in the distance to the median go to the lowest worker. Needs n ≥ 2f + 1. Costs one pass.
//! Reference: Xie, Koyejo, Gupta: "Generalized Byzantine-tolerant SGD", arXiv 1802.10116.

use super::Aggregator;
use crate::{
    defense::{Requirements, Round},
    error::Result,
    geometry::Geometry,
    kernels::coordinate::CoordinateRule,
    plan::Decision,
    registry::{Entry, Properties},
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

    fn plan(&self, geometry: &Geometry<'_>, round: &Round<'_>) -> Result<Decision> {
        let keep = geometry.messages() - round.tolerance;
        Ok(Decision::coordinate_wise(CoordinateRule::MeanAroundMedian { keep }))
    }
}
