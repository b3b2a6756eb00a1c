//! Small dense matrices of f64: everything in n × n space.

use std::{
    borrow::Cow,
    ops::{Index, IndexMut},
};

/// A dense matrix, row after row.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    data: Vec<f64>,
}

impl Matrix {
    /// All zeros.
    pub fn zeros(rows: usize, columns: usize) -> Matrix {
        Matrix { rows, columns, data: zeros(rows * columns) }
    }

    /// Ones on the diagonal.
    pub fn identity(size: usize) -> Matrix {
        let mut matrix = Matrix::zeros(size, size);
        (0..size).for_each(|i| matrix[(i, i)] = 1.0);
        matrix
    }

    /// From numbers, row after row.
    pub fn from_data(rows: usize, columns: usize, data: Vec<f64>) -> Matrix {
        assert_eq!(data.len(), rows * columns, "a matrix needs rows × columns numbers");
        Matrix { rows, columns, data }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// One row.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.columns..(i + 1) * self.columns]
    }

    /// One row, to write.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.columns..(i + 1) * self.columns]
    }

    /// All numbers, row after row.
    pub fn as_slice(&self) -> &[f64] {
        &self.data
    }

    /// All numbers, row after row, to write.
    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// self · other. Zeros of `self` are skipped, so a selection or a sparse mixing costs what it has, and never
    /// meets 0 · ∞.
    pub fn times(&self, other: &Matrix) -> Matrix {
        assert_eq!(self.columns, other.rows, "the inner sizes must agree");
        let mut product = Matrix::zeros(self.rows, other.columns);
        (0..self.rows).for_each(|i| other.combine_rows(self.row(i), product.row_mut(i)));
        product
    }

    /// The weights that `weights` on the rows put on the columns: weightsᵀ · self.
    pub fn transpose_apply(&self, weights: &[f64]) -> Vec<f64> {
        let mut out = zeros(self.columns);
        self.combine_rows(weights, &mut out);
        out
    }

    /// Σₖ weightsₖ · rowₖ over the rows that have a weight.
    pub(crate) fn combine_rows(&self, weights: &[f64], out: &mut [f64]) {
        let mut start = 0;
        while start < self.columns {
            let out = &mut out[start..];
            start += match out.len() {
                16.. => self.combine_columns::<16>(weights, start, out),
                4.. => self.combine_columns::<4>(weights, start, out),
                _ => self.combine_columns::<1>(weights, start, out),
            };
        }
    }

    /// The same for so few columns that their sums stay in registers; returns how many.
    fn combine_columns<const COUNT: usize>(&self, weights: &[f64], start: usize, out: &mut [f64]) -> usize {
        let mut sums = [0.0; COUNT];
        for (row, &weight) in self.data.chunks_exact(self.columns).zip(weights) {
            if weight != 0.0 {
                let values = &row[start..][..COUNT];
                (0..COUNT).for_each(|k| sums[k] += weight * values[k]);
            }
        }
        out[..COUNT].copy_from_slice(&sums);
        COUNT
    }

    /// self · vector.
    pub fn apply(&self, vector: &[f64]) -> Vec<f64> {
        (0..self.rows).map(|i| dot(self.row(i), vector)).collect()
    }

    /// The least positive number, infinite without one, and the largest, at least zero.
    pub(crate) fn extremes(&self) -> [f64; 2] {
        // Four at a time, or the processor waits for every comparison.
        let (mut least, mut largest) = ([f64::INFINITY; 4], [0.0; 4]);
        let mut take = |values: &[f64]| {
            for (k, &value) in values.iter().enumerate() {
                let positive = if value > 0.0 { value } else { f64::INFINITY };
                least[k] = if positive < least[k] { positive } else { least[k] };
                largest[k] = if value > largest[k] { value } else { largest[k] };
            }
        };
        let (fours, rest) = self.data.as_chunks::<4>();
        fours.iter().for_each(|four| take(four));
        take(rest);
        [least.into_iter().fold(f64::INFINITY, f64::min), largest.into_iter().fold(0.0, f64::max)]
    }

    /// The different rows, and for each row which of them it is. Mixing a cluster of messages gives the same row
    /// again and again.
    pub fn distinct_rows(&self) -> (Cow<'_, Matrix>, Vec<usize>) {
        let mut first: Vec<usize> = Vec::with_capacity(self.rows);
        let class = (0..self.rows)
            .map(|i| {
                first.iter().position(|&j| self.row(j) == self.row(i)).unwrap_or_else(|| {
                    first.push(i);
                    first.len() - 1
                })
            })
            .collect();
        match first.len() == self.rows {
            true => (Cow::Borrowed(self), class),
            false => (Cow::Owned(self.select_rows(&first)), class),
        }
    }

    /// Adds a row of zeros with a one in one column.
    pub(crate) fn push_unit_row(&mut self, column: usize) {
        self.data.resize(self.data.len() + self.columns, 0.0);
        self.rows += 1;
        self.row_mut(self.rows - 1)[column] = 1.0;
    }

    /// Only these rows, in this order.
    pub fn select_rows(&self, rows: &[usize]) -> Matrix {
        let mut data = Vec::with_capacity(rows.len() * self.columns);
        rows.iter().for_each(|&row| data.extend_from_slice(self.row(row)));
        Matrix { rows: rows.len(), columns: self.columns, data }
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;
    #[inline]
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.data[i * self.columns + j]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    #[inline]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.data[i * self.columns + j]
    }
}

/// That many zeros. Not `vec![0.0; count]`: that asks for zeroed memory, for which glibc passes its quick lists by, and planning
/// asks for many small pieces.
pub(crate) fn zeros(count: usize) -> Vec<f64> {
    std::iter::repeat_n(0.0, count).collect()
}

/// ⟨a, b⟩ with four accumulators in a fixed order.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    sum_of(a, b, |x, y| x * y)
}

/// Σ|aₖ − bₖ|.
pub(crate) fn distance_l1(a: &[f64], b: &[f64]) -> f64 {
    sum_of(a, b, |x, y| (x - y).abs())
}

/// Σ term(aₖ, bₖ) in four partial sums, or the processor waits for every addition.
#[inline(always)]
fn sum_of(a: &[f64], b: &[f64], term: impl Fn(f64, f64) -> f64) -> f64 {
    let mut sums = [0.0; 4];
    let (a4, b4) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = a4.remainder().iter().zip(b4.remainder()).map(|(&x, &y)| term(x, y)).sum();
    for (x, y) in a4.zip(b4) {
        for k in 0..4 {
            sums[k] += term(x[k], y[k]);
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiplies_and_applies() {
        let a = Matrix::from_data(2, 3, vec![1.0, 0.0, 2.0, 0.0, 3.0, 1.0]);
        let b = Matrix::from_data(3, 2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(a.times(&b).as_slice(), [11.0, 14.0, 14.0, 18.0]);
        assert_eq!(a.apply(&[1.0, 2.0, 3.0]), [7.0, 9.0]);
        assert_eq!(a.transpose_apply(&[2.0, 1.0]), [2.0, 3.0, 5.0]);
        assert_eq!(a.select_rows(&[1]).as_slice(), [0.0, 3.0, 1.0]);
        let repeated = b.select_rows(&[2, 0, 2, 0, 1]);
        let (distinct, class) = repeated.distinct_rows();
        assert_eq!((distinct.into_owned(), class), (b.select_rows(&[2, 0, 1]), vec![0, 1, 0, 1, 2]));
    }
}
