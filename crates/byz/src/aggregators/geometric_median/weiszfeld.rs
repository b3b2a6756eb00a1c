//! Points in weight space, and the iterations of Weiszfeld and of Vardi and Zhang.
//!
//! z = Σ wᵢxᵢ with Σ wᵢ = 1; all geometry follows from the inner products P of the points about one of them:
//! ‖z − xᵢ‖² = Pᵢᵢ − 2(Pw)ᵢ + wᵀPw.

use crate::{
    geometry::{Geometry, lowest},
    matrix::{Matrix, dot, zeros},
};

/// `n` messages, followed by reference points that may carry weight but do not count in the objective.
#[derive(Clone)]
pub(super) struct Cloud<'a> {
    pub(super) n: usize,
    pub(super) products: Matrix,
    /// Their diagonal.
    squares: Vec<f64>,
    center: usize,
    geometry: &'a Geometry<'a>,
}

/// Messages nearer than this, in units of the middle distance (no minority can stretch that), count as one: what lies between
/// them is no matter at that scale, and the direction from one to another is rounding.
const NEAR: f64 = 1e-13;

/// A message nearer than this, in units of the distance to the centre, becomes the centre.
const SHARP: f64 = 1e-3;

/// A place and what is known about it.
#[derive(Default)]
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
        let squares = (0..products.rows()).map(|i| products[(i, i)]).collect();
        Cloud { n: geometry.messages(), products, squares, center, geometry }
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
        let mut place = Place::default();
        self.locate(weights, &mut place);
        place
    }

    /// What `at` returns, in memory that is there already.
    fn locate(&self, weights: &[f64], place: &mut Place) {
        let Place { along, own, distances } = place;
        // The products are symmetric, and adding up rows is quicker than multiplying them.
        along.resize(self.products.rows(), 0.0);
        self.products.combine_rows(weights, along);
        *own = dot(along, weights);
        distances.clear();
        // On a message the formula leaves rounding where zero belongs.
        match (0..self.n).find(|&i| weights[i] == 1.0) {
            Some(sole) => distances.extend((0..self.n).map(|i| self.between(i, sole))),
            None => {
                let squared = |i: usize| self.squares[i] - 2.0 * along[i] + *own;
                distances.extend((0..self.n).map(|i| squared(i).max(0.0).sqrt()));
            }
        }
    }

    fn between(&self, i: usize, j: usize) -> f64 {
        self.geometry.squared(i, j).sqrt()
    }

    /// The messages that are where these distances are measured from.
    fn here(&self, distances: &[f64]) -> Vec<usize> {
        let mut sorted = distances.to_vec();
        let near = NEAR * *sorted.select_nth_unstable_by(self.n / 2, f64::total_cmp).1;
        let mut here = Vec::with_capacity(self.n);
        here.extend((0..self.n).filter(|&i| distances[i] <= near));
        here
    }

    /// Length of Σ aᵢxᵢ for weights that add up to zero.
    pub(super) fn length(&self, weights: &[f64]) -> f64 {
        dot(&self.products.transpose_apply(weights), weights).max(0.0).sqrt()
    }

    /// wᵢ ∝ 1/max(ν, ‖z − xᵢ‖), until `limit` or until nothing moves.
    pub(super) fn smoothed(&self, mut weights: Vec<f64>, smoothing: f64, limit: usize) -> (Vec<f64>, usize) {
        let (mut place, mut next) = (Place::default(), weights.clone());
        for iteration in 1..=limit {
            self.locate(&weights, &mut place);
            // In units of the least, whose inverse may be more than there are numbers.
            let least = place.distances.iter().fold(f64::INFINITY, |least, &r| least.min(r)).max(smoothing);
            self.normalize(place.distances.iter().map(|r| least / r.max(smoothing)), &mut next);
            let still = next.iter().zip(&weights).all(|(a, b)| (a - b).abs() <= 1e-15);
            std::mem::swap(&mut weights, &mut next);
            if still {
                return (weights, iteration);
            }
        }
        (weights, limit)
    }

    /// Exactly `limit` steps, fewer if one arrives.
    pub(super) fn vardi_zhang(&self, mut weights: Vec<f64>, limit: usize) -> (Vec<f64>, usize) {
        let mut place = Place::default();
        for iteration in 1..=limit {
            self.locate(&weights, &mut place);
            if !self.step(&place, &mut weights) {
                return (weights, iteration - 1);
            }
        }
        (weights, limit)
    }

    /// One step of Vardi and Zhang from the place that `weights` describe: Weiszfeld's away from messages; on a message,
    /// as far as its own pull allows. False where the message itself is optimal; the weights stay.
    pub(super) fn step(&self, place: &Place, weights: &mut [f64]) -> bool {
        if place.distances.iter().all(|&r| r > 0.0) {
            self.normalize(place.distances.iter().map(|r| 1.0 / r), weights);
            return true;
        }
        let here = self.here(&place.distances);
        let away = (0..self.n).map(|i| if here.contains(&i) { 0.0 } else { 1.0 / place.distances[i] });
        // Nobody is elsewhere.
        if here.len() == self.n {
            return false;
        }
        let pull = self.pull(here[0], &here);
        let stay = here.len() as f64 / pull;
        // A pull of zero, where everyone is here, stays too.
        if stay.is_nan() || stay >= 1.0 {
            return false;
        }
        self.normalize(away, weights);
        weights.iter_mut().for_each(|weight| *weight *= 1.0 - stay);
        weights[here[0]] += stay;
        true
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
        let radius = &self.geometry.squared_row(j)[..self.n];
        let inverse = |i: usize| if away(&i) { 1.0 / radius[i].sqrt() } else { 0.0 };
        let inverse: Vec<f64> = (0..self.n).map(inverse).collect();
        let cosines = |i: usize| {
            let terms = self.geometry.squared_row(i).iter().zip(radius).zip(&inverse);
            inverse[i] * terms.map(|((between, b), inverse)| (radius[i] + b - between) * inverse).sum::<f64>()
        };
        let squared: f64 = (0..self.n).filter(away).map(cosines).sum();
        (0.5 * squared).max(0.0).sqrt()
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
        let mut difference = zeros(weights.len());
        self.normalize(place.distances.iter().map(|r| 1.0 / r), &mut difference);
        difference.iter_mut().zip(weights).for_each(|(target, weight)| *target = weight - *target);
        2.0 * total * self.length(&difference) / self.n as f64
    }

    /// Weights on the messages that add up to one; reference points get none.
    fn normalize(&self, raw: impl Iterator<Item = f64>, weights: &mut [f64]) {
        let (messages, references) = weights.split_at_mut(self.n);
        references.fill(0.0);
        messages.iter_mut().zip(raw).for_each(|(weight, raw)| *weight = raw);
        let total: f64 = messages.iter().sum();
        messages.iter_mut().for_each(|weight| *weight /= total);
    }
}
