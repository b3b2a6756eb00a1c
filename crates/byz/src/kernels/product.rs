//! Matrix products without repacking: out = factor · A · B, where each row of B lies in one piece.
//!
//! A library repacks both factors before it multiplies, which large matrices repay; those of the layers are so small that it
//! takes up to a fifth of the time (docs/decisions/0012). Here a tile of the result stays in registers while rows of B pass by, and A is
//! read number by number, in any order. Sums over the inner index are taken in that order, in pieces of fixed length.

use super::{Kernels, Lanes, Scalar, dispatch};
use std::ops::Range;

/// Two factors: m × k and k × n.
#[derive(Clone, Copy)]
pub(crate) struct Factors<'a, T> {
    /// A, and how far apart its rows and its columns are.
    pub(crate) left: (&'a [T], usize, usize),
    /// B, and how far apart its rows are.
    pub(crate) right: (&'a [T], usize),
    /// m, n, k.
    pub(crate) sizes: [usize; 3],
    /// A common factor.
    pub(crate) factor: T,
}

/// Rows of B that pass by a tile before the next one: those of a tile's width stay in the second-level cache.
const INNER: usize = 1024;

/// Whether a matrix of so many rows and columns, so far apart, lies inside `length` numbers.
pub(crate) fn lies_inside(length: usize, rows: (usize, usize), columns: (usize, usize)) -> bool {
    let last = |(count, apart): (usize, usize)| count.checked_sub(1).map(|last| last.checked_mul(apart));
    match (last(rows), last(columns)) {
        (Some(row), Some(column)) => row
            .zip(column)
            .and_then(|(row, column)| row.checked_add(column))
            .is_some_and(|last| last < length),
        // Nothing lies anywhere.
        _ => true,
    }
}

dispatch! {
    /// Writes the product, or adds it, for as many columns as fill whole vectors; gives their number. Rows of `out` are `stride` apart.
    multiply => multiply_lanes(factors: Factors<'_, T>, out: &mut [T], stride: usize, add: bool) -> usize
}

#[inline(always)]
fn multiply_lanes<L: Lanes>(
    factors: Factors<'_, L::Scalar>,
    out: &mut [L::Scalar],
    stride: usize,
    add: bool,
) -> usize {
    let ([m, n, k], (left, rows, columns), (right, apart)) = (factors.sizes, factors.left, factors.right);
    let whole = n - n % L::WIDTH;
    if m == 0 || whole == 0 || k == 0 {
        return 0;
    }
    assert!(lies_inside(left.len(), (m, rows), (k, columns)), "A is longer than its data");
    assert!(lies_inside(right.len(), (k, apart), (n, 1)), "B is longer than its data");
    assert!((m == 1 || stride >= n) && lies_inside(out.len(), (m, stride), (n, 1)), "no room for the result");
    for start in (0..k).step_by(INNER) {
        let tile = Tile {
            left: left[start * columns..].as_ptr(),
            strides: (rows, columns),
            right: right[start * apart..].as_ptr(),
            apart,
            inner: INNER.min(k - start),
            factor: L::splat(factors.factor),
            out: out.as_mut_ptr(),
            stride,
            add: add || start > 0,
        };
        let mut column = 0;
        // SAFETY: tiles cover `m` rows and `whole` columns of what was checked above.
        unsafe {
            while column + 2 * L::WIDTH <= whole {
                tile.columns::<2>(m, column);
                column += 2 * L::WIDTH;
            }
            if column < whole {
                tile.columns::<1>(m, column);
            }
        }
    }
    whole
}

/// What a tile needs to know.
struct Tile<L: Lanes> {
    left: *const L::Scalar,
    strides: (usize, usize),
    right: *const L::Scalar,
    apart: usize,
    inner: usize,
    factor: L,
    out: *mut L::Scalar,
    stride: usize,
    add: bool,
}

impl<L: Lanes> Tile<L> {
    /// All rows of V vectors of columns, in tiles as tall as the registers allow.
    ///
    /// # Safety
    /// The three matrices must have these rows and columns.
    #[inline(always)]
    unsafe fn columns<const V: usize>(&self, m: usize, column: usize) {
        let mut rows = 0..m;
        // SAFETY: as promised.
        unsafe {
            if L::WIDE {
                self.tiles::<12, V>(&mut rows, column);
                self.tiles::<8, V>(&mut rows, column);
            } else {
                self.tiles::<6, V>(&mut rows, column);
            }
            self.tiles::<4, V>(&mut rows, column);
            self.tiles::<1, V>(&mut rows, column);
        }
    }

    /// Takes R rows at a time, as long as there are so many.
    ///
    /// # Safety
    /// As for `columns`.
    #[inline(always)]
    unsafe fn tiles<const R: usize, const V: usize>(&self, rows: &mut Range<usize>, column: usize) {
        while rows.len() >= R {
            // SAFETY: R rows are left, and the columns are there as promised.
            unsafe { self.multiply::<R, V>(rows.start, column) };
            rows.start += R;
        }
    }

    /// # Safety
    /// As for `columns`.
    #[inline(always)]
    unsafe fn multiply<const R: usize, const V: usize>(&self, row: usize, column: usize) {
        // SAFETY: all offsets are of rows, columns and inner indices that exist, as promised.
        unsafe {
            let mut sums = [[L::splat(L::Scalar::default()); V]; R];
            let (mut a, mut b) = (self.left.add(row * self.strides.0), self.right.add(column));
            // Rows of A that follow one another are far away until the next tile has asked for them.
            let mut next = a.wrapping_add(R * self.strides.0);
            let line = if self.strides == (self.inner, 1) { 64 / size_of::<L::Scalar>() } else { 0 };
            for _ in 0..self.inner {
                L::prefetch(next);
                next = next.wrapping_add(line);
                // The next columns of this row of B.
                L::prefetch(b.wrapping_add(V * L::WIDTH));
                L::prefetch(b.wrapping_add((2 * V - 1) * L::WIDTH));
                let values: [L; V] = std::array::from_fn(|v| L::load(b.add(v * L::WIDTH)));
                for (r, sums) in sums.iter_mut().enumerate() {
                    let weight = L::splat(*a.add(r * self.strides.0));
                    for v in 0..V {
                        sums[v] = values[v].mul_add(weight, sums[v]);
                    }
                }
                // Past the end after the last row, where nothing is read.
                (a, b) = (a.wrapping_add(self.strides.1), b.wrapping_add(self.apart));
            }
            for (r, sums) in sums.iter().enumerate() {
                for (v, &sum) in sums.iter().enumerate() {
                    let to = self.out.add((row + r) * self.stride + column + v * L::WIDTH);
                    let before = if self.add { L::load(to) } else { L::splat(L::Scalar::default()) };
                    sum.mul_add(self.factor, before).store(to);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    /// Whole numbers: every order of summation gives the same.
    fn numbers<T: Scalar>(stream: &mut Stream, count: usize) -> Vec<T> {
        (0..count).map(|_| T::from_f64(stream.below(17) as f64 - 8.0)).collect()
    }

    fn agrees_with_the_definition<T: Scalar>() {
        let mut stream = Stream::new(1, "test", 0, 0);
        for kernels in Kernels::available() {
            for [m, n, k] in [
                [1, 8, 1],
                [3, 16, 5],
                [4, 40, 9],
                [13, 33, 20],
                [64, 50, 128],
                [25, 96, 1100],
                [5, 20, 1],
                [7, 5, 3],
            ] {
                for transposed in [false, true] {
                    let strides = if transposed { (1, m + 2) } else { (k + 1, 1) };
                    let left: Vec<T> = numbers(&mut stream, (m + 2) * (k + 1));
                    let (right, stride): (Vec<T>, _) = (numbers(&mut stream, k * (n + 3)), n + 1);
                    let factor = T::from_f64(2.0);
                    let factors = Factors {
                        left: (&left, strides.0, strides.1),
                        right: (&right, n + 3),
                        sizes: [m, n, k],
                        factor,
                    };
                    for add in [false, true] {
                        let before: Vec<T> = numbers(&mut stream, m * stride);
                        let mut out = before.clone();
                        let whole = multiply(kernels, factors, &mut out, stride, add);
                        assert!(whole <= n && n - whole < 16);
                        for (place, (found, before)) in out.iter().zip(before).enumerate() {
                            let (i, j) = (place / stride, place % stride);
                            let a = |l: usize| left[i * strides.0 + l * strides.1].to_f64();
                            let sum: f64 =
                                (0..k).map(|l| a(l) * right[l * (n + 3) + j.min(n - 1)].to_f64()).sum();
                            let wanted = match j < whole {
                                true => 2.0 * sum + if add { before.to_f64() } else { 0.0 },
                                false => before.to_f64(),
                            };
                            assert_eq!(found.to_f64(), wanted, "{} {m}×{n}×{k} at {i}, {j}", kernels.name());
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn agrees_with_the_definition_in_f32() {
        agrees_with_the_definition::<f32>();
    }

    #[test]
    fn agrees_with_the_definition_in_f64() {
        agrees_with_the_definition::<f64>();
    }

    #[test]
    fn a_matrix_beyond_its_data_is_noticed_whatever_its_size() {
        assert!(lies_inside(9, (3, 3), (3, 1)) && !lies_inside(8, (3, 3), (3, 1)));
        assert!(lies_inside(0, (0, 7), (3, 1)) && lies_inside(3, (1, usize::MAX), (3, 1)));
        assert!(!lies_inside(9, (3, 1 << 63), (1, 1)) && !lies_inside(9, (2, usize::MAX), (2, 1)));
    }

    #[test]
    fn an_empty_product_leaves_the_result_alone() {
        let factors = Factors { left: (&[], 1, 1), right: (&[], 9), sizes: [0, 9, 0], factor: 1.0f32 };
        assert_eq!(multiply(Kernels::detect(), factors, &mut [], 9, false), 0);
    }
}
