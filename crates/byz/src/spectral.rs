//! The largest eigenvalue and its eigenvector of a small symmetric matrix, to full precision.
//!
//! Householder reduction to tridiagonal form, bisection on Sturm counts for the eigenvalue (exact to the last digits,
//! no starting vector), inverse iteration for the eigenvector. A power method would depend on its start and stall on
//! close eigenvalues; rules that call this promise convergence.

use crate::{
    geometry::Geometry,
    matrix::{Matrix, dot},
};

/// ⟨xᵢ − μ, xⱼ − μ⟩ for the members, μ their mean with `weights` that add up to one: the distances, centred twice.
pub(crate) fn scatter(geometry: &Geometry<'_>, members: &[usize], weights: &[f64]) -> Matrix {
    let size = members.len();
    let mut products = Matrix::zeros(size, size);
    for (i, &a) in members.iter().enumerate() {
        for (j, &b) in members.iter().enumerate() {
            products[(i, j)] = geometry.squared(a, b);
        }
    }
    let means = products.apply(weights);
    let mean = dot(&means, weights);
    for i in 0..size {
        for j in 0..size {
            products[(i, j)] = -0.5 * (products[(i, j)] - means[i] - means[j] + mean);
        }
    }
    products
}

/// The largest eigenvalue and a unit eigenvector. The sign is such that the largest entry is positive.
pub(crate) fn largest_eigenpair(matrix: &Matrix) -> (f64, Vec<f64>) {
    let n = matrix.rows();
    if matrix.as_slice().iter().all(|&value| value == 0.0) {
        // Bisection would end a step above zero, which is enough to break ties.
        return (0.0, (0..n).map(|i| f64::from(i == 0)).collect());
    }
    let (unit, scale) = scaled(matrix);
    let (diagonal, off, reflections) = tridiagonal(unit);
    let value = largest_of_tridiagonal(&diagonal, &off);
    let mut vector = inverse_iteration(&diagonal, &off, value);
    for (start, v) in reflections.iter().enumerate().rev() {
        let along = 2.0 * dot(v, &vector[start + 1..]);
        vector[start + 1..].iter_mut().zip(v).for_each(|(x, v)| *x -= along * v);
    }
    let largest = (0..n).max_by(|&a, &b| vector[a].abs().total_cmp(&vector[b].abs()).then(b.cmp(&a)));
    if largest.is_some_and(|k| vector[k] < 0.0) {
        vector.iter_mut().for_each(|x| *x = -*x);
    }
    (value * scale, vector)
}

/// The matrix divided by its largest entry, and that entry.
fn scaled(matrix: &Matrix) -> (Matrix, f64) {
    let scale = matrix.as_slice().iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
    let scale = if scale > 0.0 { scale } else { 1.0 };
    let data = matrix.as_slice().iter().map(|value| value / scale).collect();
    (Matrix::from_data(matrix.rows(), matrix.columns(), data), scale)
}

/// Diagonal, off-diagonal, and the unit Householder vectors; vector k acts on coordinates k+1...
fn tridiagonal(mut a: Matrix) -> (Vec<f64>, Vec<f64>, Vec<Vec<f64>>) {
    let n = a.rows();
    let mut reflections = Vec::new();
    for k in 0..n.saturating_sub(2) {
        let mut v: Vec<f64> = (k + 1..n).map(|i| a[(i, k)]).collect();
        let norm = dot(&v, &v).sqrt();
        v[0] += norm.copysign(v[0]);
        let length = dot(&v, &v).sqrt();
        v.iter_mut().for_each(|x| *x = if length > 0.0 { *x / length } else { 0.0 });
        reflect(&mut a, k, &v);
        reflections.push(v);
    }
    let diagonal = (0..n).map(|i| a[(i, i)]).collect();
    let off = (1..n).map(|i| a[(i, i - 1)]).collect();
    (diagonal, off, reflections)
}

/// A ← H A H with H = I − 2vvᵀ on coordinates k+1...
fn reflect(a: &mut Matrix, k: usize, v: &[f64]) {
    let n = a.rows();
    // Column and row k, which the reflection maps to one entry.
    let along: f64 = 2.0 * v.iter().enumerate().map(|(i, v)| v * a[(k + 1 + i, k)]).sum::<f64>();
    for (i, v) in v.iter().enumerate() {
        let value = a[(k + 1 + i, k)] - along * v;
        (a[(k + 1 + i, k)], a[(k, k + 1 + i)]) = (value, value);
    }
    let p: Vec<f64> = (k + 1..n).map(|i| 2.0 * dot(&a.row(i)[k + 1..], v)).collect();
    let along = dot(&p, v);
    let q: Vec<f64> = p.iter().zip(v).map(|(p, v)| p - along * v).collect();
    for i in 0..v.len() {
        for j in 0..v.len() {
            a[(k + 1 + i, k + 1 + j)] -= v[i] * q[j] + q[i] * v[j];
        }
    }
}

/// Bisection: the number of eigenvalues below x is the number of negative pivots of T − x.
fn largest_of_tridiagonal(diagonal: &[f64], off: &[f64]) -> f64 {
    let n = diagonal.len();
    let radius = |i: usize| off.get(i).map_or(0.0, |x| x.abs()) + if i > 0 { off[i - 1].abs() } else { 0.0 };
    // Gershgorin.
    let mut high = (0..n).map(|i| diagonal[i] + radius(i)).fold(f64::NEG_INFINITY, f64::max);
    let mut low = diagonal.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let below = |x: f64| {
        let mut pivot = 1.0;
        (0..n).all(|i| {
            let coupling = if i > 0 { off[i - 1] * off[i - 1] / pivot } else { 0.0 };
            pivot = diagonal[i] - x - coupling;
            if pivot == 0.0 {
                pivot = -f64::MIN_POSITIVE;
            }
            pivot < 0.0
        })
    };
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        *(if below(middle) { &mut high } else { &mut low }) = middle;
    }
    high
}

/// Two solves of (T − λ)x = b from a vector that no eigenvector is orthogonal to in practice.
fn inverse_iteration(diagonal: &[f64], off: &[f64], value: f64) -> Vec<f64> {
    let n = diagonal.len();
    let mut x: Vec<f64> = (0..n).map(|i| 1.0 + 0.37 * ((i * 7919 % 101) as f64 / 101.0)).collect();
    let size = diagonal.iter().chain(off).fold(f64::MIN_POSITIVE, |size, x| size.max(x.abs()));
    for _ in 0..4 {
        x = solve_shifted(diagonal, off, value, size * 1e-16, x);
        let norm = x.iter().fold(0.0f64, |norm, x| norm.max(x.abs()));
        x.iter_mut().for_each(|x| *x /= norm);
        let norm = dot(&x, &x).sqrt();
        x.iter_mut().for_each(|x| *x /= norm);
    }
    x
}

/// Gaussian elimination with row exchanges of the tridiagonal T − λ; zero pivots become `tiny`.
fn solve_shifted(diagonal: &[f64], off: &[f64], shift: f64, tiny: f64, mut b: Vec<f64>) -> Vec<f64> {
    let n = diagonal.len();
    let nonzero = |pivot: f64| if pivot.abs() < tiny { tiny } else { pivot };
    // Upper triangle with two superdiagonals.
    let mut u: Vec<[f64; 3]> =
        (0..n).map(|i| [diagonal[i] - shift, off.get(i).copied().unwrap_or(0.0), 0.0]).collect();
    for i in 0..n.saturating_sub(1) {
        let mut below = [off[i], u[i + 1][0], u[i + 1][1]];
        if below[0].abs() > u[i][0].abs() {
            std::mem::swap(&mut u[i], &mut below);
            b.swap(i, i + 1);
        }
        u[i][0] = nonzero(u[i][0]);
        let factor = below[0] / u[i][0];
        u[i + 1] = [below[1] - factor * u[i][1], below[2] - factor * u[i][2], 0.0];
        b[i + 1] -= factor * b[i];
    }
    for i in (0..n).rev() {
        let known =
            u[i][1] * b.get(i + 1).copied().unwrap_or(0.0) + u[i][2] * b.get(i + 2).copied().unwrap_or(0.0);
        b[i] = (b[i] - known) / nonzero(u[i][0]);
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn a_known_two_by_two() {
        let (value, vector) = largest_eigenpair(&Matrix::from_data(2, 2, vec![2.0, 1.0, 1.0, 2.0]));
        assert!((value - 3.0).abs() < 1e-14);
        assert!((vector[0] - 0.5f64.sqrt()).abs() < 1e-14 && (vector[1] - 0.5f64.sqrt()).abs() < 1e-14);
    }

    #[test]
    fn satisfies_its_equation_and_is_the_largest() {
        for n in 1..=30usize {
            let mut stream = Stream::new(2, "test", n as u64, 0);
            let points: Vec<Vec<f64>> =
                (0..n).map(|_| (0..5).map(|_| stream.uniform() - 0.5).collect()).collect();
            let gram: Vec<f64> = points.iter().flat_map(|a| points.iter().map(|b| dot(a, b))).collect();
            let matrix = Matrix::from_data(n, n, gram);
            let (value, vector) = largest_eigenpair(&matrix);
            let image = matrix.apply(&vector);
            for (a, b) in image.iter().zip(&vector) {
                assert!((a - value * b).abs() < 1e-13 * value.max(1.0), "n = {n}");
            }
            // The Rayleigh quotient of a long power iteration cannot exceed it.
            let mut x = vec![1.0; n];
            for _ in 0..500 {
                x = matrix.apply(&x);
                let norm = dot(&x, &x).sqrt();
                x.iter_mut().for_each(|x| *x /= norm);
            }
            assert!(dot(&matrix.apply(&x), &x) <= value * (1.0 + 1e-12));
        }
    }

    #[test]
    fn zero_matrices_and_huge_scales_are_fine() {
        assert_eq!(largest_eigenpair(&Matrix::zeros(4, 4)).0, 0.0);
        let huge = Matrix::from_data(2, 2, vec![1e300, 0.0, 0.0, 2e300]);
        assert!((largest_eigenpair(&huge).0 / 2e300 - 1.0).abs() < 1e-14);
    }
}
