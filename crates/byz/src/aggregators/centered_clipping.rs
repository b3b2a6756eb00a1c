//! Centred clipping: from a centre v, average the differences to the messages, each clipped to a radius.
//!
//!   v ← v + (1/n) Σ (xᵢ − v) · min(1, τ/‖xᵢ − v‖),   L times, from the caller's centre (the origin without one).
//!
//! The centre is usually the last aggregate, which makes the rule stateful; the defence never keeps it, the caller
//! gives it. τ = 10 and L = 1 by default. In theory f < 0.1 n; the radius is absolute, so it is not scale-equivariant.
//! Costs two passes, whatever L.
//! Reference: Karimireddy, He, Jaggi: "Learning from history for Byzantine robust optimization", ICML 2021.

use super::Aggregator;
use crate::{
    defense::{Requirements, Round},
    error::Result,
    geometry::{Geometry, Reference},
    matrix::dot,
    plan::{Decision, Note},
    registry::{Entry, Kind, Parameter, Properties},
    theory::{Constants, Counts},
};

struct CenteredClipping {
    radius: f64,
    iterations: usize,
}

pub(super) const ENTRY: Entry<dyn Aggregator> = Entry {
    name: "centered_clipping",
    aliases: &["cc", "centred_clipping"],
    summary: "the centre plus the mean of differences clipped to a radius",
    parameters: &[
        Parameter { name: "radius", default: "10", summary: "largest difference, τ", kind: Kind::Positive },
        Parameter {
            name: "iterations",
            default: "1",
            summary: "repetitions, L",
            kind: Kind::Count { least: 1 },
        },
    ],
    requirement: "n ≥ 10f+1",
    reference: "Karimireddy et al., Learning from history for Byzantine robust optimization, ICML 2021",
    properties: Properties { translation: false, scale: false, ..Properties::ALL },
    build: |arguments| {
        let radius = arguments.number("radius").unwrap_or(10.0);
        Ok(Box::new(CenteredClipping { radius, iterations: arguments.count("iterations").unwrap_or(1) }))
    },
};

impl Aggregator for CenteredClipping {
    fn requirements(&self) -> Requirements {
        Requirements { center: true, ..Requirements::DISTANCES }
    }

    fn guaranteed(&self, messages: usize, tolerance: usize) -> bool {
        messages > 10 * tolerance
    }

    fn robustness(&self, _setting: &Counts) -> Constants {
        Constants::unbounded(
            "messages that agree, but far outside the radius about the centre, are not reached",
        )
    }

    fn plan(&self, geometry: &Geometry<'_>, _round: &Round<'_>) -> Result<Decision> {
        let n = geometry.messages();
        let center = geometry.reference(Reference::Center);
        let mut weights = vec![0.0; geometry.points()];
        weights[center] = 1.0;
        let mut distances: Vec<f64> = (0..n).map(|i| geometry.squared(i, center).sqrt()).collect();
        // Inner products about the centre: a clipped message has weight times distance at most the radius, so
        // nothing cancels however far away it is.
        let products = (self.iterations > 1).then(|| geometry.inner_products_about(center));
        for iteration in 0..self.iterations {
            if let (Some(products), true) = (&products, iteration > 0) {
                let along = products.apply(&weights);
                let own = dot(&along, &weights);
                distances =
                    (0..n).map(|i| (products[(i, i)] - 2.0 * along[i] + own).max(0.0).sqrt()).collect();
            }
            let steps: Vec<f64> = distances.iter().map(|&r| self.factor(r) / n as f64).collect();
            let moved: f64 = steps.iter().sum();
            weights.iter_mut().for_each(|weight| *weight *= 1.0 - moved);
            weights.iter_mut().zip(&steps).for_each(|(weight, step)| *weight += step);
        }
        let clipped = distances.iter().filter(|&&r| r > self.radius).count();
        Ok(Decision::weights(weights).note("clipped", Note::Count(clipped)))
    }
}

impl CenteredClipping {
    fn factor(&self, distance: f64) -> f64 {
        if distance > self.radius { self.radius / distance } else { 1.0 }
    }
}
