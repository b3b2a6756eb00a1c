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
    theory::{Constants, Definition, Setting},
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
    /// α = f/(n−f); the published form is (8κ+4)αC.
    fn robustness(&self, constants: Constants, setting: &Setting) -> Constants {
        let share = setting.tolerance as f64 / setting.honest();
        let leverage = setting.leverage.unwrap_or(setting.honest() / 2.0);
        let (published, proved): (fn(f64, f64, f64) -> f64, fn(f64, f64, f64) -> f64) =
            match setting.definition {
                Definition::Squared => (|k, a, _| 8.0 * a * (k + 1.0), |k, a, _| 8.0 * a * (k + 1.0)),
                Definition::Linear => {
                    (|k, a, c| (8.0 * k + 4.0) * a * c, |k, a, c| (4.0 * k + 2.0) * a * (1.0 + c))
                }
            };
        Constants {
            paper: constants.paper.map(|kappa| published(kappa, share, leverage)),
            proved: constants.proved.map(|kappa| proved(kappa, share, leverage)),
            ..Constants::UNKNOWN
        }
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
