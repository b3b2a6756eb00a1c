//! The exact minimiser: Newton's method on Σ‖z − xᵢ‖ in weight space.
//!
//! With uᵢ = (z − xᵢ)/rᵢ, W = Σ 1/rᵢ and K = (⟨uᵢ,uⱼ⟩), the Newton step is s = Σ cᵢuᵢ where (W·diag(r) − K) c = −r. The matrix
//! is positive semidefinite, and singular only for collinear points, where a Weiszfeld step is taken instead.

use super::weiszfeld::{Cloud, Place};
use crate::{geometry::lowest, matrix::Matrix};

/// Relative optimality gap at which the iteration is done.
const DONE: f64 = 1e-12;

/// Times the centre moves at most; from message to message it could go in circles.
const MOVES: usize = 8;

/// The minimising weights and the number of iterations.
pub(super) fn minimize(cloud: Cloud<'_>, start: Vec<f64>, limit: usize) -> (Vec<f64>, usize) {
    let (mut cloud, mut moves) = (cloud, 0);
    let mut weights = start;
    let mut place = cloud.at(&weights);
    let mut best = (f64::INFINITY, weights.clone());
    let mut stalled = 0;
    for iteration in 0..limit {
        if let Some(sharper) = cloud.sharper(&place).filter(|_| moves < MOVES) {
            // What looked like the best so far was looked at through a blur.
            (cloud, moves, best.0) = (sharper, moves + 1, f64::INFINITY);
            place = cloud.at(&weights);
        }
        // A minimiser at a message is approached ever more slowly, so it is tested for and jumped to.
        let nearest = lowest(&place.distances);
        let close = place.distances[nearest] * cloud.n as f64 <= 0.1 * place.objective();
        if (close || place.distances[nearest] == 0.0) && cloud.is_optimal(nearest) {
            weights.fill(0.0);
            weights[nearest] = 1.0;
            return (weights, iteration);
        }
        if place.distances[nearest] > 0.0 {
            let gap = cloud.gap_at(&weights, &place);
            stalled = if gap < 0.5 * best.0 { 0 } else { stalled + 1 };
            if gap < best.0 {
                best = (gap, weights.clone());
            }
            // Ten rounds without halving the gap: rounding, not distance, is what is left.
            if best.0 <= DONE || (stalled > 10 && best.0 < 1e-7) {
                return (best.1, iteration);
            }
            if let Some((next, next_place)) = newton_step(&cloud, &weights, &place, gap) {
                (weights, place) = (next, next_place);
                continue;
            }
        }
        if !cloud.step(&place, &mut weights) {
            return (weights, iteration);
        }
        place = cloud.at(&weights);
    }
    if best.0.is_finite() { (best.1, limit) } else { (weights, limit) }
}

/// A damped Newton step that narrows the gap, if there is one. The objective would not do as a judge: beside
/// outliers of 1e15 its rounding is larger than the honest spread, the subgradient's is not.
fn newton_step(cloud: &Cloud<'_>, weights: &[f64], place: &Place, gap: f64) -> Option<(Vec<f64>, Place)> {
    let n = cloud.n;
    let r = &place.distances;
    let total: f64 = r.iter().map(|r| 1.0 / r).sum();
    let mut matrix = Matrix::zeros(n, n);
    for i in 0..n {
        for j in 0..=i {
            let product = cloud.products[(i, j)] - place.along[i] - place.along[j] + place.own;
            matrix[(i, j)] = -product / (r[i] * r[j]);
        }
        // ⟨uᵢ,uᵢ⟩ = 1 by definition.
        matrix[(i, i)] = total * r[i] - 1.0;
    }
    let c = cholesky_solve(matrix, r.iter().map(|r| -r).collect())?;
    let shift: f64 = c.iter().zip(r).map(|(c, r)| c / r).sum();
    for damping in [1.0, 0.5, 0.25, 0.125] {
        let mut next: Vec<f64> = weights.iter().map(|w| w * (1.0 + damping * shift)).collect();
        next.iter_mut().zip(c.iter().zip(r)).for_each(|(w, (c, r))| *w -= damping * c / r);
        let next_place = cloud.at(&next);
        let apart = next_place.distances.iter().all(|&r| r > 0.0);
        if apart && cloud.gap_at(&next, &next_place) < gap {
            return Some((next, next_place));
        }
    }
    None
}

/// Solves A x = b for a positive definite A given by its lower triangle; none if it is not.
fn cholesky_solve(mut a: Matrix, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let n = a.rows();
    for j in 0..n {
        for k in 0..j {
            let factor = a[(j, k)];
            for i in j..n {
                a[(i, j)] -= a[(i, k)] * factor;
            }
        }
        let pivot = a[(j, j)];
        if pivot.is_nan() || pivot <= 1e-14 * (pivot.abs() + 1.0) {
            return None;
        }
        let root = pivot.sqrt();
        (j..n).for_each(|i| a[(i, j)] /= root);
    }
    for i in 0..n {
        b[i] = (b[i] - (0..i).map(|k| a[(i, k)] * b[k]).sum::<f64>()) / a[(i, i)];
    }
    for i in (0..n).rev() {
        b[i] = (b[i] - (i + 1..n).map(|k| a[(k, i)] * b[k]).sum::<f64>()) / a[(i, i)];
    }
    b.iter().all(|x| x.is_finite()).then_some(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_a_small_system() {
        let a = Matrix::from_data(2, 2, vec![4.0, 0.0, 2.0, 3.0]);
        let x = cholesky_solve(a, vec![8.0, 7.0]).unwrap();
        assert!((x[0] - 1.25).abs() < 1e-14 && (x[1] - 1.5).abs() < 1e-14);
        assert!(cholesky_solve(Matrix::from_data(1, 1, vec![0.0]), vec![1.0]).is_none());
    }
}
