//! Nearly UVᵀ by matrix products alone, in the number type of the task: Muon's iteration.
//!
//!   X ← A/‖A‖_F, then `steps` times   X ← aX + b(XXᵀ)X + c(XXᵀ)²X,   (a, b, c) = (3.4445, −4.7750, 2.0315).
//!
//! The coefficients raise small singular values as fast as possible and do not converge: after five steps singular values that
//! were above about 2e-3 lie between 0.68 and 1.21, so the point may lie a little outside the ball. Zero stays zero.
//! Reference: Jordan et al.: "Muon: an optimizer for hidden layers in neural networks", 2024.

use crate::{
    kernels::Scalar,
    nn::product::{Into, View, multiply},
    transforms::length::Length,
};

const COEFFICIENTS: [f64; 3] = [3.4445, -4.7750, 2.0315];

/// Replaces a matrix of finite numbers, row after row.
pub(super) fn newton_schulz<T: Scalar>(matrix: &mut [T], rows: usize, columns: usize, steps: usize) {
    let length = Length::of(matrix);
    if length.is_zero() {
        return;
    }
    length.rescale(matrix, 1.0);
    // Products on the smaller side are cheaper.
    let (k, n) = (rows.min(columns), rows.max(columns));
    let mut x = if rows > columns { transpose(matrix, rows, columns) } else { matrix.to_vec() };
    let (mut gram, mut square) = (vec![T::default(); k * k], vec![T::default(); k * k]);
    let mut next = x.clone();
    let [a, b, c] = COEFFICIENTS.map(T::from_f64);
    for _ in 0..steps {
        let wide = View::new(&x, k, n);
        multiply(T::from_f64(1.0), wide, wide.t(), &mut gram, k, Into::Replace);
        square.iter_mut().zip(&gram).for_each(|(square, gram)| *square = b * *gram);
        multiply(c, View::new(&gram, k, k), View::new(&gram, k, k), &mut square, k, Into::Add);
        next.iter_mut().zip(&x).for_each(|(next, x)| *next = a * *x);
        multiply(T::from_f64(1.0), View::new(&square, k, k), wide, &mut next, n, Into::Add);
        std::mem::swap(&mut x, &mut next);
    }
    matrix.copy_from_slice(&if rows > columns { transpose(&x, k, n) } else { x });
}

fn transpose<T: Scalar>(a: &[T], rows: usize, columns: usize) -> Vec<T> {
    (0..columns).flat_map(|j| (0..rows).map(move |i| a[i * columns + j])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{random::Stream, transforms::lmo::singular::Singular};

    #[test]
    fn one_step_of_a_diagonal_by_hand() {
        let mut matrix = [3.0, 0.0, 0.0, 4.0];
        newton_schulz(&mut matrix, 2, 2, 1);
        let [a, b, c] = COEFFICIENTS;
        let step = |x: f64| a * x + b * x.powi(3) + c * x.powi(5);
        assert!((matrix[0] - step(0.6)).abs() < 1e-14 && (matrix[3] - step(0.8)).abs() < 1e-14);
        assert!(matrix[1] == 0.0 && matrix[2] == 0.0);
    }

    fn values(data: &[f32], rows: usize, columns: usize) -> Vec<f64> {
        let largest = data.iter().fold(0.0, |largest: f32, x| largest.max(x.abs()));
        Singular::of(data, rows, columns).values.iter().map(|value| value * f64::from(largest)).collect()
    }

    #[test]
    fn singular_values_come_near_one_and_vectors_stay() {
        for (rows, columns) in [(8, 20), (20, 8)] {
            let mut stream = Stream::new(0, "test", rows as u64, 0);
            let data: Vec<f32> = (0..rows * columns).map(|_| 1e-20 * stream.normal() as f32).collect();
            let mut found = data.clone();
            newton_schulz(&mut found, rows, columns, 5);
            let near_one = values(&found, rows, columns);
            assert!(near_one.iter().all(|value| (0.65..1.21).contains(value)), "{near_one:?}");
            let inner: f64 = found.iter().zip(&data).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
            let exact: f64 = values(&data, rows, columns).iter().sum();
            assert!((0.7..1.2).contains(&(inner / exact)), "{}", inner / exact);
        }
    }
}
