//! Points in weight space, and the iterations of Weiszfeld and of Vardi and Zhang.
//!
//! z = Σ wᵢxᵢ with Σ wᵢ = 1; all geometry follows from the inner products P of the points about one of them:
//! ‖z − xᵢ‖² = Pᵢᵢ − 2(Pw)ᵢ + wᵀPw.

use crate::{
    geometry::{Geometry, lowest},
    matrix::{Matrix, dot},
};

/// `n` messages, followed by reference points that may carry weight but do not count in the objective.
#[derive(Clone)]
pub(super) struct Cloud<'a> {
    pub(super) n: usize,
    pub(super) products: Matrix,
    center: usize,
    geometry: &'a Geometry<'a>,
}

/// Messages nearer than this, in units of the middle distance (no minority can stretch that), count as one: what lies between
/// them is no matter at that scale, and the direction from one to another is rounding.
const NEAR: f64 = 1e-13;

/// A message nearer than this, in units of the distance to the centre, becomes the centre.
const SHARP: f64 = 1e-3;

/// A place and what is known about it.
pub(super) struct Place {
    /// P·w.
    pub(super) along: Vec<f64>,
    /// wᵀPw.
    pub(super) own: f64,
    /// Distances to the messages.
    pub(super) distances: Vec<f64>,
}

impl Place {
    /// The sum of distances that the geometric median minimises.
    pub(super) fn objective(&self) -> f64 {
        self.distances.iter().sum()
    }
}

impl<'a> Cloud<'a> {
    /// The messages, with inner products about one of them.
    pub(super) fn new(geometry: &'a Geometry<'a>, center: usize) -> Cloud<'a> {
        let products = geometry.inner_products_about(center);
        Cloud { n: geometry.messages(), products, center, geometry }
    }

    /// The same about the message next to a place that is much farther from the centre: there, distances between
    /// neighbours would cancel. Not at a message itself: a start may be one that lies far out, a poor centre for all others.
    pub(super) fn sharper(&self, place: &Place) -> Option<Cloud<'a>> {
        let nearest = lowest(&place.distances);
        let distance = place.distances[nearest];
        let blurred = distance > 0.0 && distance < SHARP * place.own.max(0.0).sqrt();
        (blurred && nearest != self.center).then(|| Cloud::new(self.geometry, nearest))
    }

    pub(super) fn at(&self, weights: &[f64]) -> Place {
        let along = self.products.apply(weights);
        let own = dot(&along, weights);
        // On a message the formula leaves rounding where zero belongs.
        let sole = (0..self.n).find(|&i| weights[i] == 1.0);
        let squared = |i: usize| self.products[(i, i)] - 2.0 * along[i] + own;
        let distances = (0..self.n)
            .map(|i| match sole {
                Some(sole) => self.between(i, sole),
                None => squared(i).max(0.0).sqrt(),
            })
            .collect();
        Place { along, own, distances }
    }

    fn between(&self, i: usize, j: usize) -> f64 {
        self.geometry.squared(i, j).sqrt()
    }

    /// The messages that are where these distances are measured from.
    fn here(&self, distances: &[f64]) -> Vec<usize> {
        let mut sorted = distances.to_vec();
        let near = NEAR * *sorted.select_nth_unstable_by(self.n / 2, f64::total_cmp).1;
        (0..self.n).filter(|&i| distances[i] <= near).collect()
    }

    /// Length of Σ aᵢxᵢ for weights that add up to zero.
    pub(super) fn length(&self, weights: &[f64]) -> f64 {
        dot(&self.products.apply(weights), weights).max(0.0).sqrt()
    }

    /// wᵢ ∝ 1/max(ν, ‖z − xᵢ‖), until `limit` or until nothing moves.
    pub(super) fn smoothed(&self, mut weights: Vec<f64>, smoothing: f64, limit: usize) -> (Vec<f64>, usize) {
        for iteration in 1..=limit {
            let place = self.at(&weights);
            let next = self.normalized(place.distances.iter().map(|r| 1.0 / r.max(smoothing)));
            let still = next.iter().zip(&weights).all(|(a, b)| (a - b).abs() <= 1e-15);
            weights = next;
            if still {
                return (weights, iteration);
            }
        }
        (weights, limit)
    }

    /// Exactly `limit` steps, fewer if one arrives.
    pub(super) fn vardi_zhang(&self, mut weights: Vec<f64>, limit: usize) -> (Vec<f64>, usize) {
        for iteration in 1..=limit {
            match self.step(&self.at(&weights)) {
                Some(next) => weights = next,
                None => return (weights, iteration - 1),
            }
        }
        (weights, limit)
    }

    /// One step of Vardi and Zhang: Weiszfeld's away from messages; on a message, as far as its own pull allows.
    /// None where the message itself is optimal.
    pub(super) fn step(&self, place: &Place) -> Option<Vec<f64>> {
        if place.distances.iter().all(|&r| r > 0.0) {
            return Some(self.normalized(place.distances.iter().map(|r| 1.0 / r)));
        }
        let here = self.here(&place.distances);
        let away = (0..self.n).map(|i| if here.contains(&i) { 0.0 } else { 1.0 / place.distances[i] });
        // Nobody is elsewhere.
        if here.len() == self.n {
            return None;
        }
        let target = self.normalized(away);
        let pull = self.pull(here[0], &here);
        let stay = here.len() as f64 / pull;
        // A pull of zero, where everyone is here, stays too.
        if stay.is_nan() || stay >= 1.0 {
            return None;
        }
        let mut next: Vec<f64> = target.iter().map(|weight| (1.0 - stay) * weight).collect();
        next[here[0]] += stay;
        Some(next)
    }

    /// ‖Σ (xᵢ − xⱼ)/‖xᵢ − xⱼ‖‖ over the messages not at xⱼ.
    fn pull(&self, j: usize, here: &[usize]) -> f64 {
        let away = |i: &usize| !here.contains(i);
        if !self.geometry.resolves(j) {
            let mut weights = vec![0.0; self.products.rows()];
            for i in (0..self.n).filter(away) {
                weights[i] = 1.0 / self.between(i, j);
                weights[j] -= weights[i];
            }
            return self.length(&weights);
        }
        // ⟨xᵢ − xⱼ, xₖ − xⱼ⟩ from distances about xⱼ itself: about another centre, two messages that are close to one
        // another would cancel.
        let mut squared = 0.0;
        for i in (0..self.n).filter(away) {
            for k in (0..self.n).filter(away) {
                let (a, b) = (self.geometry.squared(i, j), self.geometry.squared(k, j));
                squared += 0.5 * (a + b - self.geometry.squared(i, k)) / (a.sqrt() * b.sqrt());
            }
        }
        squared.max(0.0).sqrt()
    }

    /// How much the others pull at message j beyond what its own copies hold; none is optimal.
    fn excess_pull(&self, j: usize) -> f64 {
        let distances: Vec<f64> = (0..self.n).map(|i| self.between(i, j)).collect();
        let here = self.here(&distances);
        (self.pull(j, &here) - here.len() as f64).max(0.0)
    }

    /// Whether message j minimises the objective: the others pull less than its own copies hold.
    pub(super) fn is_optimal(&self, j: usize) -> bool {
        self.excess_pull(j) == 0.0
    }

    /// A bound on (f(z) − f*)/f(z): every minimiser lies within 2f(z)/n, and f is convex with subgradient g.
    pub(super) fn gap(&self, weights: &[f64]) -> f64 {
        let place = self.at(weights);
        if let Some(sharper) = self.sharper(&place) {
            return sharper.gap(weights);
        }
        if let Some(j) = (0..self.n).find(|&i| place.distances[i] == 0.0) {
            return 2.0 * self.excess_pull(j) / self.n as f64;
        }
        self.gap_at(weights, &place)
    }

    /// The same, away from messages: g = W (z − T(z)), W = Σ 1/rᵢ, T Weiszfeld's map.
    pub(super) fn gap_at(&self, weights: &[f64], place: &Place) -> f64 {
        let total: f64 = place.distances.iter().map(|r| 1.0 / r).sum();
        let target = self.normalized(place.distances.iter().map(|r| 1.0 / r));
        let difference: Vec<f64> = weights.iter().zip(&target).map(|(a, b)| a - b).collect();
        2.0 * total * self.length(&difference) / self.n as f64
    }

    /// Weights on the messages that add up to one; reference points get none.
    fn normalized(&self, raw: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut weights = vec![0.0; self.products.rows()];
        weights.iter_mut().zip(raw).for_each(|(weight, raw)| *weight = raw);
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= total);
        weights
    }
}
