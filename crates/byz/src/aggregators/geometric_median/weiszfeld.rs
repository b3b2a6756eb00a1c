//! Points in weight space, and the iterations of Weiszfeld and of Vardi and Zhang.
//!
//! z = Σ wᵢxᵢ with Σ wᵢ = 1; all geometry follows from the inner products P of the points about one of them:
//! ‖z − xᵢ‖² = Pᵢᵢ − 2(Pw)ᵢ + wᵀPw.

use crate::matrix::{Matrix, dot};

/// `n` messages, followed by reference points that may carry weight but do not count in the objective.
pub(super) struct Cloud {
    pub(super) n: usize,
    pub(super) products: Matrix,
}

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

impl Cloud {
    pub(super) fn new(n: usize, products: Matrix) -> Cloud {
        Cloud { n, products }
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
        let p = &self.products;
        (p[(i, i)] - 2.0 * p[(i, j)] + p[(j, j)]).max(0.0).sqrt()
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
        let target = self.normalized(place.distances.iter().map(|&r| if r > 0.0 { 1.0 / r } else { 0.0 }));
        let here: Vec<usize> = (0..self.n).filter(|&i| place.distances[i] == 0.0).collect();
        if here.is_empty() {
            return Some(target);
        }
        let pull = self.pull(here[0]);
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
    fn pull(&self, j: usize) -> f64 {
        let mut weights = vec![0.0; self.products.rows()];
        for i in 0..self.n {
            let distance = self.between(i, j);
            if distance > 0.0 {
                weights[i] = 1.0 / distance;
                weights[j] -= 1.0 / distance;
            }
        }
        self.length(&weights)
    }

    /// Whether message j minimises the objective: the others pull less than its own copies hold.
    pub(super) fn is_optimal(&self, j: usize) -> bool {
        let copies = (0..self.n).filter(|&i| self.between(i, j) == 0.0).count();
        self.pull(j) <= copies as f64
    }

    /// A bound on (f(z) − f*)/f(z): every minimiser lies within 2f(z)/n, and f is convex with subgradient g.
    pub(super) fn gap(&self, weights: &[f64]) -> f64 {
        let place = self.at(weights);
        if let Some(j) = (0..self.n).find(|&i| place.distances[i] == 0.0) {
            let copies = place.distances.iter().filter(|&&r| r == 0.0).count() as f64;
            return 2.0 * (self.pull(j) - copies).max(0.0) / self.n as f64;
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
