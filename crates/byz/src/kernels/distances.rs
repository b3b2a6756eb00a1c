//! Squared distances between all pairs of rows of one block, in difference form.
//!
//! Σₖ (aₖ − bₖ)² per pair, never ‖a‖² + ‖b‖² − 2⟨a,b⟩: with a common offset the Gram form loses every digit, and
//! centring first lets one huge row destroy the others. Differences and squares are taken in the message's own
//! type, lane sums are promoted to f64 once per block. A block sum that overflowed or may have underflowed is
//! redone in f64 for that pair alone; one that is still not finite tells of an inadmissible value.
//!
//! Rows are packed (see `pack`), because rows that lie a multiple of 4096 bytes apart fall on the same cache sets.

use super::{Kernels, Lanes, Scalar, Scratch, dispatch};

/// Columns per block: the packed rows and their successors share a 32 KiB first-level cache.
pub(crate) fn block_width<T: Scalar>(rows: usize) -> usize {
    (24 * 1024 / (size_of::<T>() * rows.max(1)) / 32 * 32).clamp(64, 512)
}

dispatch! {
    /// Adds the squared distances of rows i < j of a packed block to `squared[i · rows + j]`.
    accumulate => accumulate_lanes(block: &Scratch<T>, rows: usize, width: usize, squared: &mut [f64])
}

/// Rows per tile side: 4 × 2 accumulators, 4 + 2 operands and a difference fill 15 of 16 registers.
const TALL: usize = 4;

/// Where the block sums of pairs go.
struct Pairs<'a> {
    squared: &'a mut [f64],
    rows: usize,
    /// Pairs whose sum left the range of their type.
    redo: Vec<(usize, usize)>,
}

impl Pairs<'_> {
    #[inline(always)]
    fn add<L: Lanes>(&mut self, i: usize, j: usize, sums: L) {
        let sum = sums.total();
        // Written so that NaN fails it too.
        if sum >= L::Scalar::SMALLEST_SQUARES && sum < f64::INFINITY {
            self.squared[i * self.rows + j] += sum;
        } else {
            self.redo.push((i, j));
        }
    }
}

#[inline(always)]
fn accumulate_lanes<L: Lanes>(block: &Scratch<L::Scalar>, rows: usize, width: usize, squared: &mut [f64]) {
    assert!(width <= block.stride() && squared.len() >= rows * rows);
    let width = width.next_multiple_of(L::WIDTH);
    let mut pairs = Pairs { squared, rows, redo: Vec::new() };
    let mut i = 0;
    while i + TALL <= rows {
        triangle::<L, TALL>(block, i, width, &mut pairs);
        let mut j = i + TALL;
        while j + 2 <= rows {
            tile::<L, TALL, 2>(block, i, j, width, &mut pairs);
            j += 2;
        }
        if j < rows {
            tile::<L, TALL, 1>(block, i, j, width, &mut pairs);
        }
        i += TALL;
    }
    match rows - i {
        3 => triangle::<L, 3>(block, i, width, &mut pairs),
        2 => triangle::<L, 2>(block, i, width, &mut pairs),
        _ => {}
    }
    for &(i, j) in &pairs.redo {
        pairs.squared[i * rows + j] += exact_pair::<L>(block, i, j, width);
    }
}

/// Pairs (i + a, j + b) for a < A, b < B.
#[inline(always)]
fn tile<L: Lanes, const A: usize, const B: usize>(
    block: &Scratch<L::Scalar>,
    i: usize,
    j: usize,
    width: usize,
    pairs: &mut Pairs<'_>,
) {
    let left: [_; A] = std::array::from_fn(|a| block.row(i + a).as_ptr());
    let right: [_; B] = std::array::from_fn(|b| block.row(j + b).as_ptr());
    let mut sums = [[L::splat(L::Scalar::default()); B]; A];
    let mut column = 0;
    while column < width {
        // SAFETY: width is a multiple of WIDTH and at most the stride of the block.
        let x: [L; A] = std::array::from_fn(|a| unsafe { L::load(left[a].add(column)) });
        for b in 0..B {
            // SAFETY: as above.
            let y = unsafe { L::load(right[b].add(column)) };
            for a in 0..A {
                let difference = x[a].sub(y);
                sums[a][b] = difference.mul_add(difference, sums[a][b]);
            }
        }
        column += L::WIDTH;
    }
    for a in 0..A {
        for b in 0..B {
            pairs.add(i + a, j + b, sums[a][b]);
        }
    }
}

/// Pairs (i + a, i + b) for a < b < A.
#[inline(always)]
fn triangle<L: Lanes, const A: usize>(
    block: &Scratch<L::Scalar>,
    i: usize,
    width: usize,
    pairs: &mut Pairs<'_>,
) {
    let rows: [_; A] = std::array::from_fn(|a| block.row(i + a).as_ptr());
    let mut sums = [[L::splat(L::Scalar::default()); A]; A];
    let mut column = 0;
    while column < width {
        // SAFETY: width is a multiple of WIDTH and at most the stride of the block.
        let x: [L; A] = std::array::from_fn(|a| unsafe { L::load(rows[a].add(column)) });
        for a in 0..A {
            for b in a + 1..A {
                let difference = x[a].sub(x[b]);
                sums[a][b] = difference.mul_add(difference, sums[a][b]);
            }
        }
        column += L::WIDTH;
    }
    for a in 0..A {
        for b in a + 1..A {
            pairs.add(i + a, i + b, sums[a][b]);
        }
    }
}

/// The same block sum with f64 differences and squares.
#[inline(always)]
fn exact_pair<L: Lanes>(block: &Scratch<L::Scalar>, i: usize, j: usize, width: usize) -> f64 {
    let (x, y) = (block.row(i).as_ptr(), block.row(j).as_ptr());
    let mut sum = L::splat_sum(0.0);
    for column in (0..width).step_by(L::WIDTH) {
        // SAFETY: width is a multiple of WIDTH and at most the stride of the block.
        let (a, b) = unsafe { (L::load(x.add(column)), L::load(y.add(column))) };
        sum = a.square_into(b, sum);
    }
    L::total_sum(sum)
}

dispatch! {
    /// Copies a row into a packed row, fills the rest with zeros, and asks for the columns that follow.
    pack => pack_lanes(from: &[T], following: &[T], to: &mut [T])
}

#[inline(always)]
fn pack_lanes<L: Lanes>(from: &[L::Scalar], following: &[L::Scalar], to: &mut [L::Scalar]) {
    let line = 64 / size_of::<L::Scalar>();
    for start in (0..following.len()).step_by(line) {
        L::prefetch(&following[start]);
    }
    to[..from.len()].copy_from_slice(from);
    to[from.len()..].fill(L::Scalar::default());
}

/// What `accumulate` means.
#[cfg(test)]
pub(crate) fn plain<T: Scalar>(rows: &[Vec<T>], i: usize, j: usize) -> f64 {
    rows[i].iter().zip(&rows[j]).map(|(a, b)| (a.to_f64() - b.to_f64()).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    fn check<T: Scalar>(scale: f64, tolerance: f64) {
        for kernels in [Kernels::Scalar, Kernels::fastest()] {
            for (rows, width) in [(1, 5), (2, 1), (3, 8), (5, 33), (6, 64), (9, 100), (20, 300), (23, 64)] {
                let mut stream = Stream::new(7, "test", rows as u64, width as u64);
                let data: Vec<Vec<T>> = (0..rows)
                    .map(|_| (0..width).map(|_| T::from_f64((stream.uniform() - 0.5) * scale)).collect())
                    .collect();
                let mut block = Scratch::new(rows, width);
                for (i, row) in data.iter().enumerate() {
                    pack(kernels, row, &[], block.row_mut(i));
                }
                let mut squared = vec![0.0; rows * rows];
                accumulate(kernels, &block, rows, width, &mut squared);
                for i in 0..rows {
                    for j in i + 1..rows {
                        let (ours, exact) = (squared[i * rows + j], plain(&data, i, j));
                        assert!(
                            (ours - exact).abs() <= tolerance * exact,
                            "{rows}×{width} {i},{j}: {ours} {exact}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn agrees_with_the_plain_sum() {
        check::<f32>(1.0, 1e-6);
        check::<f64>(1.0, 1e-14);
    }

    #[test]
    fn survives_squares_that_overflow_or_vanish_in_f32() {
        check::<f32>(1e30, 1e-6);
        check::<f32>(1e-30, 1e-6);
        check::<f32>(1e-42, 1e-6);
    }
}
