//! The geometric median: the point with the least sum of distances, argmin_z Σ‖z − xᵢ‖.
//!
//! By default the true one. In weight space (z = Σ wᵢxᵢ) an iteration costs n² or n³ and no pass over the data. The
//! medoid is tested for optimality first; otherwise a Vardi–Zhang step leaves it, and Newton steps, with Weiszfeld
//! steps where they do not descend, run until the relative optimality gap is below 1e-12 or rounding stops it. The
//! reported `gap` bounds (f(z) − f*)/f(z) by 2‖g‖/n, g the subgradient.
//!
//! `smoothing` = ν asks for the smoothed Weiszfeld iteration of the literature instead, wᵢ ∝ 1/max(ν, ‖z − xᵢ‖), with ν
//! absolute; Byz-NSGDM's RFA is `geometric_median(iterations=8,smoothing=0.1,start=zero)`. `iterations` without
//! `smoothing` runs that many Vardi–Zhang steps. Plain Weiszfeld from the medoid would stay there for ever.
//! Needs n ≥ 2f + 1; constant (n−f)/(n−2f), linear definition. Steps from the medoid never leave the points that are as good
//! as it, so any number of them is robust; a few steps from the mean or from zero may still be anywhere, and an absolute ν
//! that is large beside the spread gives the mean: neither is guaranteed.
//! References: Vardi, Zhang, PNAS 2000; Pillutla, Kakade, Harchaoui: "Robust aggregation for federated learning", 2022.

mod newton;
mod weiszfeld;

use super::Aggregator;
use crate::{
    defense::{Requirements, Round},
    error::Result,
    geometry::{Geometry, Reference, lowest},
    matrix::zeros,
    measure::pairs,
    plan::{Decision, Note},
    registry::{Entry, Kind, Parameter, Properties},
    theory::{Constants, Counts, Definition},
};
use weiszfeld::Cloud;

/// Iterations at most when none are asked for.
const PATIENCE: usize = 1000;

#[derive(Clone, Copy, PartialEq)]
enum Start {
    Medoid,
    Mean,
    Zero,
}

struct GeometricMedian {
    iterations: Option<usize>,
    smoothing: Option<f64>,
    start: Start,
}

pub(super) const ENTRY: Entry<dyn Aggregator> = Entry {
    name: "geometric_median",
    aliases: &["gm", "rfa"],
    summary: "the point with the least sum of distances to the messages",
    parameters: &[
        Parameter {
            name: "iterations",
            default: "to convergence",
            summary: "number of iterations",
            kind: Kind::Count { least: 1 },
        },
        Parameter {
            name: "smoothing",
            default: "none: the exact median",
            summary: "absolute ν of the smoothed Weiszfeld iteration; gives up scale equivariance",
            kind: Kind::Positive,
        },
        Parameter {
            name: "start",
            default: "medoid",
            summary: "where to start",
            kind: Kind::Choice(&["medoid", "mean", "zero"]),
        },
    ],
    requirement: "n ≥ 2f+1, without smoothing, from the medoid or to convergence",
    reference: "Pillutla et al., Robust aggregation for federated learning, IEEE TSP 2022",
    properties: Properties::ALL,
    build: |arguments| {
        Ok(Box::new(GeometricMedian {
            iterations: arguments.count("iterations"),
            smoothing: arguments.number("smoothing"),
            start: match arguments.choice("start") {
                Some("mean") => Start::Mean,
                Some("zero") => Start::Zero,
                _ => Start::Medoid,
            },
        }))
    },
};

impl Aggregator for GeometricMedian {
    fn requirements(&self) -> Requirements {
        Requirements { origin: self.start == Start::Zero, ..Requirements::DISTANCES }
    }

    fn guaranteed(&self, messages: usize, tolerance: usize) -> bool {
        let arrives = self.iterations.is_none() || self.start == Start::Medoid;
        messages > 2 * tolerance && self.smoothing.is_none() && arrives
    }

    /// e = ‖z − m‖ ≤ (1/G) Σ‖z − xᵢ‖, and z is no worse than m: Σ‖z − xᵢ‖ ≤ Σ‖m − xᵢ‖ + f·e over the honest; so e ≤ G/(G − f) of the
    /// honest spread. Squared by Jensen.
    fn robustness(&self, counts: &Counts) -> Constants {
        if self.smoothing.is_some() && counts.tolerance > 0 {
            return Constants::unbounded(
                "messages within the absolute smoothing all count alike, as in the mean",
            );
        }
        if self.smoothing.is_some() || self.iterations.is_some() {
            return Constants::UNKNOWN;
        }
        let proved = counts.honest() / counts.majority();
        match counts.definition {
            Definition::Linear => Constants::proved(proved).published(2.0 * proved),
            Definition::Squared => Constants::proved(proved * proved).published(4.0 * proved * proved),
        }
    }

    fn plan(&self, geometry: &Geometry<'_>, _round: &Round<'_>) -> Result<Decision> {
        let n = geometry.messages();
        let medoid = medoid(geometry);
        // The minimiser does not depend on the start; but from a mean that some message has carried beyond what the distances
        // resolve there is no way back.
        let lost = self.iterations.is_none() && self.smoothing.is_none() && !geometry.resolves(medoid);
        let cloud = Cloud::new(geometry, medoid);
        let mut start = vec![0.0; geometry.points()];
        match self.start {
            Start::Mean if !lost => start[..n].fill(1.0 / n as f64),
            Start::Medoid | Start::Mean => start[medoid] = 1.0,
            Start::Zero => start[geometry.reference(Reference::Origin)] = 1.0,
        }
        let (weights, iterations) = match (self.smoothing, self.iterations) {
            (Some(smoothing), limit) => cloud.smoothed(start, smoothing, limit.unwrap_or(PATIENCE)),
            (None, Some(limit)) => cloud.vardi_zhang(start, limit),
            (None, None) => newton::minimize(cloud.clone(), start, PATIENCE),
        };
        let gap = cloud.gap(&weights);
        let decision = Decision::weights(weights).note("iterations", Note::Count(iterations));
        Ok(decision.note("gap", Note::Number(gap)))
    }
}

/// The message with the least sum of distances to the others, as far as the distances tell.
///
/// Beside a message of 1e38 all sums round to the same, also that of a liar at 1e20. So only messages near the central one,
/// c, are asked: h = ⌊n/2⌋ + 1 messages lie within ρ of it, hence Σₖ‖xᵢ − xₖ‖ − Σₖ‖c − xₖ‖ ≥ (2h − n)‖xᵢ − c‖ − 2hρ, and no
/// medoid is farther than 2hρ. And what is so far away that its distance is known less well than ρ tells them nothing.
fn medoid(geometry: &Geometry<'_>) -> usize {
    let n = geometry.messages();
    if !geometry.is_stretched() {
        let mut sums = zeros(n);
        for (i, j) in pairs(n) {
            let distance = geometry.squared(i, j).sqrt();
            sums[i] += distance;
            sums[j] += distance;
        }
        return lowest(&sums);
    }
    let half = n / 2 + 1;
    let center = geometry.central(half);
    let radius: Vec<f64> = geometry.squared_row(center)[..n].iter().map(|squared| squared.sqrt()).collect();
    let mut sorted = radius.clone();
    let reach = *sorted.select_nth_unstable_by(half.min(n) - 1, f64::total_cmp).1;
    let near = |i: usize| radius[i] <= 2.0 * half as f64 * reach;
    let told = |k: usize| geometry.resolution() * radius[k] <= reach;
    let sum = |i: usize| -> f64 {
        let row = geometry.squared_row(i);
        (0..n).filter(|&k| told(k)).map(|k| row[k].sqrt()).sum()
    };
    let sums: Vec<f64> = (0..n).map(|i| if near(i) { sum(i) } else { f64::INFINITY }).collect();
    lowest(&sums)
}
