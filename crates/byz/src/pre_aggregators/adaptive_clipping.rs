//! Adaptive robust clipping (ARC): the longest messages are clipped to the longest of the rest.
//!
//!   k = ⌊2 (f/n) (n−f)⌋;  the k messages of largest norm are scaled to the (k+1)-th largest norm.
//!
//! Needs f < n/2. Scale-equivariant and without a constant of the user's; about the origin, so not
//! translation-equivariant. Keeps a rule's robustness up to constants.
//! Reference: Allouah, Guerraoui, Gupta, Jellouli, Rizk, Stephan: "Adaptive gradient clipping for robust federated learning", arXiv 2405.14432.

use super::{PreAggregator, clipping::shrink};
use crate::{
    defense::{Requirements, Round},
    error::Result,
    geometry::{Geometry, Reference, ascending},
    matrix::Matrix,
    registry::{Entry, Properties},
};

struct AdaptiveClipping;

pub(super) const ENTRY: Entry<dyn PreAggregator> = Entry {
    name: "adaptive_clipping",
    aliases: &["arc"],
    summary: "clips the ⌊2(f/n)(n−f)⌋ longest messages to the longest of the rest",
    parameters: &[],
    requirement: "n ≥ 2f+1",
    reference: "Allouah et al., Adaptive gradient clipping for robust federated learning, arXiv 2405.14432",
    properties: Properties { translation: false, ..Properties::ALL },
    build: |_| Ok(Box::new(AdaptiveClipping)),
};

impl PreAggregator for AdaptiveClipping {
    fn requirements(&self) -> Requirements {
        Requirements { origin: true, ..Requirements::DISTANCES }
    }

    fn mix(&self, geometry: &Geometry<'_>, round: &Round<'_>) -> Result<Matrix> {
        let (n, f) = (geometry.messages(), round.tolerance);
        let origin = geometry.reference(Reference::Origin);
        let norms: Vec<f64> = (0..n).map(|i| geometry.squared(i, origin).sqrt()).collect();
        // 2f(n−f)/n in whole numbers, so that no rounding moves the count; f < n/2 keeps it below n.
        let clipped = 2 * f * (n - f) / n;
        let radius = norms[ascending(&norms)[n - 1 - clipped]];
        Ok(shrink(geometry, radius))
    }
}
