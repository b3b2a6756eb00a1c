//! Nearest-neighbour mixing: every message becomes the mean of the n − f messages nearest to it.
//!
//!   yᵢ = (1/(n−f)) Σ_{j ∈ N(i)} xⱼ,   N(i) = the n − f nearest to xᵢ, itself included, ties to the lowest index.
//!
//! Needs n ≥ 2f + 1. Costs nothing beyond the distances. It makes the honest rows agree before the rule
//! sees them: with (f, κ)-robust rules the error constant becomes 8f/(n−f)·(κ+1) in the squared definition.
//! Reference: Allouah, Farhadkhani, Guerraoui, Gupta, Pinot, Stephan: "Fixing by mixing", AISTATS 2023.

use super::PreAggregator;
use crate::{
    defense::{Requirements, Round},
    error::Result,
    geometry::Geometry,
    matrix::Matrix,
    registry::{Entry, Properties},
    theory::{Constants, Counts, Definition},
};

struct NearestNeighborMixing;

pub(super) const ENTRY: Entry<dyn PreAggregator> = Entry {
    name: "nearest_neighbor_mixing",
    aliases: &["nnm"],
    summary: "each message becomes the mean of the n−f messages nearest to it",
    parameters: &[],
    requirement: "n ≥ 2f+1",
    reference: "Allouah et al., Fixing by mixing, AISTATS 2023",
    properties: Properties::ALL,
    build: |_| Ok(Box::new(NearestNeighborMixing)),
};

impl PreAggregator for NearestNeighborMixing {
    fn requirements(&self) -> Requirements {
        Requirements::DISTANCES
    }

    /// Squared: Allouah et al. 2023. Linear: the mixed honest rows are in the mean 2α(1 + C) of the honest spread from the honest mean,
    /// α = f/(n−f); the published form is (8κ+4)αC. Where the honest agree, they are mixed to what they were, and f copies far away to f
    /// copies of anything: so a rule without a constant, which such rows show, has none behind mixing either.
    fn robustness(&self, constants: Constants, counts: &Counts) -> Constants {
        let share = counts.tolerance as f64 / counts.honest();
        let leverage = counts.leverage();
        let squared = |kappa: f64| 8.0 * share * (kappa + 1.0);
        let (paper, proved) = match counts.definition {
            Definition::Squared => (constants.paper.map(squared), constants.proved.map(squared)),
            Definition::Linear => (
                constants.paper.map(|kappa| (8.0 * kappa + 4.0) * share * leverage),
                constants.proved.map(|kappa| (4.0 * kappa + 2.0) * share * (1.0 + leverage)),
            ),
        };
        Constants { paper, proved, exact: None, unbounded: constants.unbounded }
    }

    fn mix(&self, geometry: &Geometry<'_>, round: &Round<'_>) -> Result<Matrix> {
        let n = geometry.messages();
        let kept = n - round.tolerance;
        let mut mixing = Matrix::zeros(n, geometry.points());
        let mut dropped = Vec::new();
        for i in 0..n {
            let row = mixing.row_mut(i);
            row[..n].fill(1.0 / kept as f64);
            geometry.farthest(i, round.tolerance, &mut dropped);
            dropped.iter().for_each(|&j| row[j] = 0.0);
        }
        Ok(mixing)
    }
}
