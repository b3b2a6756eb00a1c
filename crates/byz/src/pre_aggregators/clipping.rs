//! Static clipping: messages longer than a radius are scaled back to it.
//!
//!   yᵢ = xᵢ · min(1, C/‖xᵢ‖)
//!
//! As a combination of points: c·xᵢ + (1−c)·origin. Any n; bounds every message, but by a constant of the user's
//! and about the origin, so it is neither translation- nor scale-equivariant. Default C = 2.

use super::PreAggregator;
use crate::{
    defense::{Requirements, Round},
    error::Result,
    geometry::{Geometry, Reference},
    matrix::Matrix,
    registry::{Entry, Kind, Parameter, Properties},
    theory::{Constants, Counts},
};

struct Clipping {
    radius: f64,
}

pub(super) const ENTRY: Entry<dyn PreAggregator> = Entry {
    name: "clipping",
    aliases: &["static_clipping", "clip"],
    summary: "scales messages longer than the radius back to it",
    parameters: &[Parameter { name: "radius", default: "2", summary: "largest norm", kind: Kind::Positive }],
    requirement: "any n",
    reference: "folklore; compared in Allouah et al., Adaptive gradient clipping, 2024",
    properties: Properties { translation: false, scale: false, ..Properties::ALL },
    build: |arguments| Ok(Box::new(Clipping { radius: arguments.number("radius").unwrap_or(2.0) })),
};

impl PreAggregator for Clipping {
    fn requirements(&self) -> Requirements {
        Requirements { origin: true, ..Requirements::DISTANCES }
    }

    fn defined(&self, messages: usize, _tolerance: usize) -> bool {
        messages > 0
    }

    fn robustness(&self, _constants: Constants, _setting: &Counts) -> Constants {
        Constants::unbounded("messages that agree, but are longer than the radius, are cut short")
    }

    fn mix(&self, geometry: &Geometry<'_>, _round: &Round<'_>) -> Result<Matrix> {
        Ok(shrink(geometry, self.radius))
    }
}

/// Scales every message i about the origin to at most `radius`.
pub(super) fn shrink(geometry: &Geometry<'_>, radius: f64) -> Matrix {
    let origin = geometry.reference(Reference::Origin);
    let mut mixing = Matrix::zeros(geometry.messages(), geometry.points());
    for i in 0..geometry.messages() {
        let norm = geometry.squared(i, origin).sqrt();
        let factor = if norm > radius { radius / norm } else { 1.0 };
        mixing[(i, i)] = factor;
        mixing[(i, origin)] = 1.0 - factor;
    }
    mixing
}
