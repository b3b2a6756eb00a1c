//! CAF, covariance-bound agnostic filter: weigh down what stretches the covariance, keep the best mean seen.
//!
//!   c = 1; repeat: μ = Σ c̃ᵢxᵢ, (λ, v) the leading eigenpair of Σ c̃ᵢ(xᵢ−μ)(xᵢ−μ)ᵀ, τᵢ = ⟨xᵢ−μ, v⟩²,
//!   cᵢ ← cᵢ (1 − τᵢ/τmax); while Σc > n − 2f; return the μ of least λ, the earliest among equals.
//!
//! Every round removes the message of largest τ, so it ends after n rounds at the latest. The eigenpair is exact, in
//! n × n space. With f = 0, or when all remaining messages agree, it stops at once. Needs n ≥ 2f + 1. Costs two passes and O(n⁴).
//! Reference: Allouah, Guerraoui, Stephan: "Towards trustworthy federated learning with untrusted participants", 2025.

use super::Aggregator;
use crate::{
    defense::Round,
    error::Result,
    geometry::Geometry,
    plan::{Decision, Note},
    registry::{Entry, Properties},
    spectral::{largest_eigenpair, scatter},
};

struct Caf;

/// Relative error of a score, with room.
const ROUNDING: f64 = 1e-12;

pub(super) const ENTRY: Entry<dyn Aggregator> = Entry {
    name: "caf",
    aliases: &["covariance_bound_agnostic_filter"],
    summary: "weighs down messages along the leading eigenvector and keeps the mean of least variance",
    parameters: &[],
    requirement: "n ≥ 2f+1",
    reference: "Allouah et al., Towards trustworthy federated learning with untrusted participants, 2025",
    properties: Properties::ALL,
    build: |_| Ok(Box::new(Caf)),
};

impl Aggregator for Caf {
    fn plan(&self, geometry: &Geometry<'_>, round: &Round<'_>) -> Result<Decision> {
        let n = geometry.messages();
        let mut c = vec![1.0; n];
        let mut best = (f64::INFINITY, vec![1.0 / n as f64; n]);
        let mut iterations = 0;
        while c.iter().sum::<f64>() > (n - 2 * round.tolerance) as f64 {
            iterations += 1;
            let total: f64 = c.iter().sum();
            let members: Vec<usize> = (0..n).filter(|&i| c[i] > 0.0).collect();
            let share: Vec<f64> = members.iter().map(|&i| c[i] / total).collect();
            let (value, scores) = leading_scores(geometry, &members, &share);
            if value < best.0 {
                best = (value, c.iter().map(|c| c / total).collect());
            }
            let largest = scores.iter().copied().fold(0.0, f64::max);
            if largest == 0.0 {
                break;
            }
            // One that ties with the largest up to rounding is removed with it, not kept at a weight of 1e-16.
            let left =
                |score: f64| Some(1.0 - score / largest).filter(|left| *left > ROUNDING).unwrap_or(0.0);
            members.iter().zip(scores).for_each(|(&i, score)| c[i] *= left(score));
        }
        let mut weights = best.1;
        weights.resize(geometry.points(), 0.0);
        Ok(Decision::weights(weights).note("iterations", Note::Count(iterations)))
    }
}

/// λ of the weighted covariance and τ of every member.
fn leading_scores(geometry: &Geometry<'_>, members: &[usize], share: &[f64]) -> (f64, Vec<f64>) {
    let products = scatter(geometry, members, share);
    let roots: Vec<f64> = share.iter().map(|share| share.sqrt()).collect();
    let mut weighted = products.clone();
    for i in 0..members.len() {
        for j in 0..members.len() {
            weighted[(i, j)] *= roots[i] * roots[j];
        }
    }
    let (value, vector) = largest_eigenpair(&weighted);
    if value <= 0.0 {
        return (0.0, vec![0.0; members.len()]);
    }
    let direction: Vec<f64> = vector.iter().zip(&roots).map(|(x, root)| x * root).collect();
    // Divided before it is squared: messages of 1e146 have squares of squares beyond the largest f64.
    let scores = products.apply(&direction).iter().map(|along| (along / value.sqrt()).powi(2)).collect();
    (value, scores)
}
