//! Singular values and vectors of a matrix, in f64 and to full precision.
//!
//! The matrix on its smaller side (k × n, k ≤ n) is divided by its largest entry and, if wide, reduced to a triangle
//! ([`triangle`]); then one-sided Jacobi turns pairs of rows until all are orthogonal: J·L = Σ·W, so A = JᵀΣ(W·Q). Singular values up
//! to ε·n·σ₁, ε that of the number type, are rounding noise: their directions are taken as zero, so a rank-deficient matrix has a polar factor of the
//! same rank. Cost: O(n·k²) + about ten times O(k³).
//! Reference: Demmel, Veselić: "Jacobi's method is more accurate than QR", SIAM J. Matrix Anal. Appl. 1992.

use super::reflections::{Reflections, triangle};
use crate::{
    kernels::Scalar,
    matrix::{Matrix, dot},
    nn::product::{Into, View, multiply},
};

/// A = Σᵢ σᵢ·uᵢvᵢᵀ, of A or of its transpose.
pub(super) struct Singular {
    transposed: bool,
    /// As multiples of the largest entry of A, so that none overflows; zero where it is noise; in no order.
    pub(super) values: Vec<f64>,
    /// uᵢ in row i.
    left: Matrix,
    /// vᵢ in row i, as seen before the reflections; zero where the value is.
    right: Matrix,
    reflections: Option<Reflections>,
}

const SWEEPS: usize = 60;

impl Singular {
    /// Of finite numbers, row after row.
    pub(super) fn of<T: Scalar>(data: &[T], rows: usize, columns: usize) -> Singular {
        let transposed = rows > columns;
        let (k, n) = if transposed { (columns, rows) } else { (rows, columns) };
        let largest = data.iter().fold(0.0f64, |largest, x| largest.max(x.to_f64().abs()));
        let scale = if largest > 0.0 { largest } else { 1.0 };
        let mut a = Matrix::zeros(k, n);
        for (index, x) in data.iter().enumerate() {
            let (i, j) = (index / columns, index % columns);
            a[if transposed { (j, i) } else { (i, j) }] = x.to_f64() / scale;
        }
        let (mut right, reflections) = match n > k {
            true => {
                let (lower, reflections) = triangle(a);
                (lower, Some(reflections))
            }
            false => (a, None),
        };
        let mut left = Matrix::identity(k);
        orthogonalise(&mut right, &mut left);
        let mut values: Vec<f64> = (0..k).map(|i| dot(right.row(i), right.row(i)).sqrt()).collect();
        let noise = T::EPSILON * n as f64 * values.iter().copied().fold(0.0, f64::max);
        for (i, value) in values.iter_mut().enumerate() {
            *value = if *value > noise { *value } else { 0.0 };
            let factor = if *value > 0.0 { 1.0 / *value } else { 0.0 };
            right.row_mut(i).iter_mut().for_each(|x| *x *= factor);
        }
        Singular { transposed, values, left, right, reflections }
    }

    /// Σᵢ uᵢvᵢᵀ over the nonzero singular values, row after row in the shape of A.
    pub(super) fn polar(&self) -> Vec<f64> {
        let k = self.values.len();
        let mut core = Matrix::zeros(k, k);
        let (left, right) = (View::new(self.left.as_slice(), k, k), View::new(self.right.as_slice(), k, k));
        multiply(1.0, left.t(), right, core.as_mut_slice(), k, Into::Replace);
        self.in_shape(self.expand(core))
    }

    /// u₁v₁ᵀ, of the largest singular value (the first found of several), row after row in the shape of A.
    pub(super) fn leading(&self) -> Vec<f64> {
        let larger = |a: usize, b: usize| if self.values[b] > self.values[a] { b } else { a };
        let Some(first) = (0..self.values.len()).reduce(larger) else { return Vec::new() };
        let right = self.expand(Matrix::from_data(1, self.values.len(), self.right.row(first).to_vec()));
        let outer = self.left.row(first).iter().flat_map(|u| right.as_slice().iter().map(move |v| u * v));
        self.in_shape(Matrix::from_data(self.values.len(), right.columns(), outer.collect()))
    }

    fn expand(&self, rows: Matrix) -> Matrix {
        match &self.reflections {
            Some(reflections) => reflections.expand(&rows),
            None => rows,
        }
    }

    fn in_shape(&self, a: Matrix) -> Vec<f64> {
        match self.transposed {
            true => {
                (0..a.columns()).flat_map(|j| (0..a.rows()).map(move |i| (i, j))).map(|at| a[at]).collect()
            }
            false => a.as_slice().to_vec(),
        }
    }
}

/// Turns pairs of rows until all are orthogonal relative to their lengths, and the rows of `along` with them.
fn orthogonalise(a: &mut Matrix, along: &mut Matrix) {
    let k = a.rows();
    let tolerance = 4.0 * f64::EPSILON * (k as f64).sqrt();
    for _ in 0..SWEEPS {
        let mut turned = false;
        for p in 0..k {
            for q in p + 1..k {
                let (x, y) = pair(a, p, q);
                let (xx, yy, xy) = (dot(x, x), dot(y, y), dot(x, y));
                if xy == 0.0 || xy.abs() <= tolerance * xx.sqrt() * yy.sqrt() {
                    continue;
                }
                turned = true;
                // The smaller root of t² + 2ζt − 1 = 0; an infinite ζ gives no turn.
                let zeta = (yy - xx) / (2.0 * xy);
                let tangent = 1f64.copysign(zeta) / (zeta.abs() + zeta.hypot(1.0));
                let cosine = 1.0 / tangent.hypot(1.0);
                turn(x, y, cosine, cosine * tangent);
                let (x, y) = pair(along, p, q);
                turn(x, y, cosine, cosine * tangent);
            }
        }
        if !turned {
            break;
        }
    }
}

/// Rows p < q, to write.
fn pair(a: &mut Matrix, p: usize, q: usize) -> (&mut [f64], &mut [f64]) {
    let n = a.columns();
    let (before, after) = a.as_mut_slice().split_at_mut(q * n);
    (&mut before[p * n..(p + 1) * n], &mut after[..n])
}

fn turn(x: &mut [f64], y: &mut [f64], cosine: f64, sine: f64) {
    for (x, y) in x.iter_mut().zip(y) {
        (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{random::Stream, spectral::largest_eigenpair};

    /// Σ σᵢ·uᵢvᵢᵀ over the largest entry, and the largest departure of either side from orthonormality.
    fn rebuild(singular: &Singular) -> (Vec<f64>, f64) {
        let right = singular.expand(singular.right.clone());
        let mut worst = 0.0f64;
        for i in 0..singular.values.len() {
            for j in 0..singular.values.len() {
                let one = f64::from(i == j);
                worst = worst.max((dot(singular.left.row(i), singular.left.row(j)) - one).abs());
                let kept = f64::from(i == j && singular.values[i] > 0.0);
                worst = worst.max((dot(right.row(i), right.row(j)) - kept).abs());
            }
        }
        let mut sum = Matrix::zeros(singular.left.rows(), right.columns());
        for (i, value) in singular.values.iter().enumerate() {
            for (r, u) in singular.left.row(i).iter().enumerate() {
                sum.row_mut(r).iter_mut().zip(right.row(i)).for_each(|(sum, v)| *sum += value * u * v);
            }
        }
        (singular.in_shape(sum), worst)
    }

    #[track_caller]
    fn check(data: &[f64], rows: usize, columns: usize) -> Singular {
        let singular = Singular::of(data, rows, columns);
        let (back, worst) = rebuild(&singular);
        let scale = data.iter().fold(f64::MIN_POSITIVE, |scale, x| scale.max(x.abs()));
        let error = back.iter().zip(data).map(|(x, y)| (x - y / scale).abs()).fold(0.0, f64::max);
        assert!(error <= 1e-12 && worst < 1e-12, "{rows} × {columns}: {error}, {worst}");
        singular
    }

    fn normal(rows: usize, columns: usize) -> Vec<f64> {
        let mut stream = Stream::new(4, "test", rows as u64, columns as u64);
        (0..rows * columns).map(|_| stream.normal()).collect()
    }

    #[test]
    fn a_known_two_by_two() {
        let singular = check(&[3.0, 0.0, 4.0, 5.0], 2, 2);
        let (low, high) = (5f64.sqrt(), 45f64.sqrt());
        let mut values: Vec<f64> = singular.values.iter().map(|value| 5.0 * value).collect();
        values.sort_by(f64::total_cmp);
        assert!((values[0] - low).abs() < 1e-14 && (values[1] - high).abs() < 1e-14);
        // UVᵀ = (A + |det A|·A⁻ᵀ)/(σ₁ + σ₂).
        let expected = [3.0 + 5.0, -4.0, 4.0, 5.0 + 3.0].map(|x| x / (low + high));
        assert!(singular.polar().iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-14));
    }

    #[test]
    fn rebuilds_matrices_of_all_shapes_and_sizes() {
        for (rows, columns) in [(1, 1), (1, 7), (7, 1), (5, 5), (4, 30), (30, 4), (40, 64), (64, 65)] {
            for scale in [1.0, 1e-300, 1e300] {
                let data: Vec<f64> = normal(rows, columns).iter().map(|x| x * scale).collect();
                check(&data, rows, columns);
            }
        }
    }

    #[test]
    fn the_largest_value_is_that_of_the_gram_matrix() {
        let data = normal(6, 11);
        let row = |i: usize| &data[i * 11..(i + 1) * 11];
        let gram = (0..36).map(|index| dot(row(index / 6), row(index % 6))).collect();
        let (largest, _) = largest_eigenpair(&Matrix::from_data(6, 6, gram));
        let found = check(&data, 6, 11).values.iter().copied().fold(0.0, f64::max);
        let entry = data.iter().fold(0.0f64, |entry, x| entry.max(x.abs()));
        assert!((found * entry / largest.sqrt() - 1.0).abs() < 1e-13);
    }

    #[test]
    fn ill_conditioned_deficient_and_zero_matrices() {
        let hilbert: Vec<f64> = (0..144).map(|index| 1.0 / (index / 12 + index % 12 + 1) as f64).collect();
        check(&hilbert, 12, 12);
        let graded: Vec<f64> = normal(12, 20)
            .iter()
            .enumerate()
            .map(|(index, x)| x * 0.05f64.powi((index / 20) as i32))
            .collect();
        check(&graded, 12, 20);
        let (a, b) = (normal(10, 3), normal(3, 17));
        let product = |index: usize| (0..3).map(|l| a[index / 17 * 3 + l] * b[l * 17 + index % 17]).sum();
        let deficient = check(&(0..170).map(product).collect::<Vec<f64>>(), 10, 17);
        assert_eq!(deficient.values.iter().filter(|value| **value > 0.0).count(), 3);
        // Rounded to f32 the product has ten nonzero values, and seven of them are rounding.
        let rounded: Vec<f32> = (0..170).map(product).map(|x: f64| x as f32).collect();
        let values = Singular::of(&rounded, 10, 17).values;
        assert_eq!(values.iter().filter(|value| **value > 0.0).count(), 3);
        let zero = check(&[0.0; 12], 3, 4);
        assert!(zero.polar().iter().chain(&zero.leading()).all(|x| *x == 0.0));
    }
}
