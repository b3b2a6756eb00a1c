//! A wide matrix as a small triangle times orthonormal rows: A = [L 0]·Q, by Householder reflections.
//!
//!   Q = H_{k−1} ⋯ H₀,   Hᵢ = I − 2vᵢᵀvᵢ,   in compact form   Q = I − VᵀSV,   S lower triangular.
//!
//! Row j of A meets the reflections before it while it is in cache; the compact form applies Q by matrix products. Backward
//! stable for any A, unlike a Cholesky factor of AAᵀ.
//! Reference: Golub, Van Loan: "Matrix computations", 5.1–5.2; Schreiber, Van Loan 1989 for the compact form.

use crate::{
    matrix::{Matrix, dot},
    nn::product::{Into, View, multiply},
};

/// Q.
pub(super) struct Reflections {
    /// A unit vector per row, or zero; vector i is zero before its entry i.
    vectors: Matrix,
    /// S.
    compact: Matrix,
}

/// L, k × k, and Q of a matrix of k rows and at least as many columns.
pub(super) fn triangle(mut a: Matrix) -> (Matrix, Reflections) {
    let (k, n) = (a.rows(), a.columns());
    let mut lower = Matrix::zeros(k, k);
    for j in 0..k {
        let (done, rest) = a.as_mut_slice().split_at_mut(j * n);
        let row = &mut rest[..n];
        for (i, vector) in done.chunks_exact(n).enumerate() {
            reflect(&mut row[i..], &vector[i..]);
        }
        lower.row_mut(j)[..j].copy_from_slice(&row[..j]);
        row[..j].fill(0.0);
        lower[(j, j)] = aim(&mut row[j..]);
    }
    let compact = compact(&a);
    (lower, Reflections { vectors: a, compact })
}

/// x ← x − 2⟨x, v⟩v.
fn reflect(x: &mut [f64], v: &[f64]) {
    let along = 2.0 * dot(x, v);
    x.iter_mut().zip(v).for_each(|(x, v)| *x -= along * v);
}

/// Replaces x by the unit vector whose reflection takes it to its first axis, and gives the entry there.
fn aim(x: &mut [f64]) -> f64 {
    let length = dot(x, x).sqrt();
    if length == 0.0 {
        // Squares that vanish beside the matrix's largest entry, which is about one: zero within rounding.
        x.fill(0.0);
        return 0.0;
    }
    let entry = -length.copysign(x[0]);
    x[0] -= entry;
    let length = dot(x, x).sqrt();
    x.iter_mut().for_each(|x| *x /= length);
    entry
}

/// Hⱼ(I − VᵀSV) appends to S the row (−2·vⱼVᵀS, 2).
fn compact(vectors: &Matrix) -> Matrix {
    let (k, n) = (vectors.rows(), vectors.columns());
    let view = View::new(vectors.as_slice(), k, n);
    let mut gram = Matrix::zeros(k, k);
    multiply(1.0, view, view.t(), gram.as_mut_slice(), k, Into::Replace);
    let mut compact = Matrix::zeros(k, k);
    for j in 0..k {
        for i in 0..j {
            let sum: f64 = (i..j).map(|l| gram[(j, l)] * compact[(l, i)]).sum();
            compact[(j, i)] = -2.0 * sum;
        }
        compact[(j, j)] = 2.0;
    }
    compact
}

impl Reflections {
    /// [W 0]·Q.
    pub(super) fn expand(&self, w: &Matrix) -> Matrix {
        let (m, k, n) = (w.rows(), self.vectors.rows(), self.vectors.columns());
        let (mut along, mut coefficients) = (Matrix::zeros(m, k), Matrix::zeros(m, k));
        let vectors = View::new(self.vectors.as_slice(), k, n);
        let first = View::with_stride(self.vectors.as_slice(), k, k, n);
        multiply(1.0, View::new(w.as_slice(), m, k), first.t(), along.as_mut_slice(), k, Into::Replace);
        let (from, through) = (View::new(along.as_slice(), m, k), View::new(self.compact.as_slice(), k, k));
        multiply(1.0, from, through, coefficients.as_mut_slice(), k, Into::Replace);
        let mut out = Matrix::zeros(m, n);
        (0..m).for_each(|i| out.row_mut(i)[..k].copy_from_slice(w.row(i)));
        multiply(-1.0, View::new(coefficients.as_slice(), m, k), vectors, out.as_mut_slice(), n, Into::Add);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn the_triangle_expands_to_the_matrix() {
        for (k, n) in [(1, 1), (1, 5), (3, 3), (4, 9), (20, 300)] {
            let mut stream = Stream::new(1, "test", k as u64, n as u64);
            let mut data: Vec<f64> = (0..k * n).map(|_| stream.normal()).collect();
            // A dependent row and a zero row.
            if k > 3 {
                data.copy_within(0..n, n);
                data[2 * n..3 * n].fill(0.0);
            }
            let a = Matrix::from_data(k, n, data);
            let (lower, q) = triangle(a.clone());
            let back = q.expand(&lower);
            for (x, y) in back.as_slice().iter().zip(a.as_slice()) {
                assert!((x - y).abs() < 1e-13 * n as f64, "{k} × {n}: {x} {y}");
            }
            assert!((0..k).all(|i| lower.row(i)[i + 1..].iter().all(|x| *x == 0.0)));
        }
    }
}
