//! Squared distances between all pairs of rows of one block, in difference form.
//!
//! Σₖ (aₖ − bₖ)² per pair, never ‖a‖² + ‖b‖² − 2⟨a,b⟩: with a common offset the Gram form loses every digit, and
//! centring first lets one huge row destroy the others. Differences and squares are taken in the message's own
//! type; lane sums are promoted to f64 once per block. A sum that overflowed or may have underflowed is for the caller
//! to redo in f64 (`stream::squared_distance`).
//!
//! Rows are read where they lie, unless too many lie a multiple of 4096 bytes apart and fall on the same cache sets.

use super::{Kernels, Lanes, Scalar, dispatch};
use std::ops::Range;

/// Columns per block: the packed rows, and the sums of up to twenty rows, share a 32 KiB first-level cache.
pub(crate) fn block_width<T: Scalar>(rows: usize) -> usize {
    (24 * 1024 / (size_of::<T>() * rows.max(1)) / 32 * 32).clamp(64, 1024)
}

/// f64 sums kept per pair; adding them up waits until the end.
pub(crate) const SUMS: usize = 4;

/// Blocks are whole multiples of this; the last one is padded with zeros.
pub(crate) const PADDING: usize = 16;

/// Lines of one cache set that reading in place may use. Eight fit the first level, but the tiles run through so many
/// rows in order that the second level keeps up: twenty were measured faster in place, a hundred faster packed.
const LINES_PER_SET: u32 = 24;

/// Rows per tile: 5 × 2 accumulators, 2 + 1 operands and a difference leave the multipliers no gap to wait in.
const TALL: usize = 5;

/// Partners of a tile. With AVX-512, 5 × 5 accumulators, 5 + 1 operands and a difference take all 32 registers, and rows are
/// loaded less often: a load of a whole cache line that is not aligned takes two.
fn partners(kernels: Kernels) -> usize {
    match kernels {
        #[cfg(target_arch = "x86_64")]
        Kernels::Avx512(_) => 5,
        _ => 2,
    }
}

/// How the pairs of `rows` rows are cut into tiles; made once per pass.
pub(crate) struct Tiling {
    rows: usize,
    tiles: Vec<Shape>,
}

/// Whether blocks of `width` columns can be read where they are: no set of the first-level cache takes many of their
/// lines. Vectors allocated one by one mostly start at the same place of a page and then fight for a few sets. Empty rows
/// stand for points that are not in memory.
pub(crate) fn lie_apart<T>(rows: &[&[T]], width: usize) -> bool {
    const SETS: usize = 64;
    let lines = (width * size_of::<T>() / 64).min(SETS);
    let mut taken = [0u32; SETS];
    for row in rows.iter().filter(|row| !row.is_empty()) {
        let first = row.as_ptr().addr() / 64;
        (first..first + lines).for_each(|line| taken[line % SETS] += 1);
    }
    taken.iter().all(|&lines| lines <= LINES_PER_SET)
}

/// Columns from `start` on of every row.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a, T> {
    pub(crate) rows: &'a [&'a [T]],
    pub(crate) start: usize,
}

/// Rows first..first + tall against partner..partner + wide, or, without partners, among themselves.
#[derive(Clone, Copy)]
struct Shape {
    first: usize,
    tall: usize,
    partner: usize,
    wide: usize,
}

impl Tiling {
    /// For the kernels that will run.
    pub(crate) fn new(kernels: Kernels, rows: usize) -> Tiling {
        let most = partners(kernels);
        let mut tiles = Vec::with_capacity(rows.div_ceil(TALL) * (rows / 4 + 1));
        for first in (0..rows).step_by(TALL) {
            let tall = TALL.min(rows - first);
            tiles.push(Shape { first, tall, partner: first, wide: 0 });
            for partner in (first + tall..rows).step_by(most) {
                tiles.push(Shape { first, tall, partner, wide: most.min(rows - partner) });
            }
        }
        Tiling { rows, tiles }
    }

    /// The pairs (i, j), i < j, in the order in which `accumulate` keeps their sums.
    pub(crate) fn pairs(&self) -> Vec<(usize, usize)> {
        let mut pairs = Vec::with_capacity(self.rows * self.rows.saturating_sub(1) / 2);
        for &Shape { first, tall, partner, wide } in &self.tiles {
            for i in first..first + tall {
                let partners = if wide == 0 { i + 1..first + tall } else { partner..partner + wide };
                pairs.extend(partners.map(|j| (i, j)));
            }
        }
        pairs
    }
}

dispatch! {
    /// Adds the squared distances within `width` columns, a multiple of [`PADDING`], to `sums`, SUMS per pair in the
    /// tiling's order. Meanwhile it asks for the columns that come `next`, where those are in memory.
    accumulate => accumulate_lanes(
        block: Columns<T>, tiling: &Tiling, width: usize, next: Columns<T>, sums: &mut [f64],
    )
}

#[inline(always)]
fn accumulate_lanes<L: Lanes>(
    block: Columns<L::Scalar>,
    tiling: &Tiling,
    width: usize,
    next: Columns<L::Scalar>,
    sums: &mut [f64],
) {
    assert!(PADDING.is_multiple_of(L::WIDTH) && width.is_multiple_of(PADDING));
    assert!(block.rows.len() == tiling.rows && block.rows.iter().all(|row| row.len() >= block.start + width));
    assert!(sums.len() >= tiling.rows * tiling.rows.saturating_sub(1) / 2 * SUMS);
    // Each tile prefetches a row or two: spread over the arithmetic, the requests never fill the queue. When none is left,
    // asking for what is there already costs nothing.
    let mut next_rows = next.rows.iter().filter(|row| row.len() >= next.start + width);
    let mut to = sums.as_mut_ptr();
    for shape in &tiling.tiles {
        let here = block.rows[shape.first][block.start..].as_ptr();
        let tile = Tile {
            left: &block.rows[shape.first..shape.first + shape.tall],
            right: &block.rows[shape.partner..shape.partner + shape.wide],
            columns: block.start..block.start + width,
            ahead: std::array::from_fn(|k| {
                let row = if k < 1 + usize::from(L::WIDE) { next_rows.next() } else { None };
                row.map_or(here, |row| row[next.start..].as_ptr())
            }),
        };
        // SAFETY: the asserts above: every row has `width` numbers, a multiple of WIDTH, and `sums` has room for
        // every pair, which the tiles visit once.
        unsafe {
            to = match (shape.tall, shape.wide) {
                (5, 5) if L::WIDE => tile.run::<L, 5, 5>(to),
                (5, 4) if L::WIDE => tile.run::<L, 5, 4>(to),
                (5, 3) if L::WIDE => tile.run::<L, 5, 3>(to),
                (5, 2) => tile.run::<L, 5, 2>(to),
                (5, 1) => tile.run::<L, 5, 1>(to),
                (5, 0) => tile.triangle::<L, 5>(to),
                (4, 0) => tile.triangle::<L, 4>(to),
                (3, 0) => tile.triangle::<L, 3>(to),
                (2, 0) => tile.triangle::<L, 2>(to),
                _ => to,
            };
        }
    }
}

/// Some rows against some others.
struct Tile<'a, T> {
    left: &'a [&'a [T]],
    right: &'a [&'a [T]],
    columns: Range<usize>,
    /// Read soon, by others.
    ahead: [*const T; 2],
}

impl<T: Scalar> Tile<'_, T> {
    #[inline(always)]
    fn prefetch<L: Lanes<Scalar = T>>(&self, column: usize) {
        L::prefetch(self.ahead[0].wrapping_add(column));
        if L::WIDE {
            L::prefetch(self.ahead[1].wrapping_add(column));
        }
    }

    /// All pairs of A rows of `left` with B rows of `right`.
    ///
    /// # Safety
    /// A and B rows of `width` numbers, a multiple of WIDTH, must be readable, and `to` writable for A · B · SUMS.
    #[inline(always)]
    unsafe fn run<L: Lanes<Scalar = T>, const A: usize, const B: usize>(&self, to: *mut f64) -> *mut f64 {
        let left: [*const T; A] = std::array::from_fn(|a| self.left[a][self.columns.start..].as_ptr());
        let right: [*const T; B] = std::array::from_fn(|b| self.right[b][self.columns.start..].as_ptr());
        let mut sums = [[L::splat(T::default()); B]; A];
        let mut column = 0;
        while column < self.columns.len() {
            self.prefetch::<L>(column);
            // SAFETY: the caller's promise.
            let y: [L; B] = std::array::from_fn(|b| unsafe { L::load(right[b].add(column)) });
            for a in 0..A {
                // SAFETY: the caller's promise.
                let x = unsafe { L::load(left[a].add(column)) };
                for b in 0..B {
                    let difference = x.sub(y[b]);
                    sums[a][b] = difference.mul_add(difference, sums[a][b]);
                }
            }
            column += L::WIDTH;
        }
        for a in 0..A {
            for b in 0..B {
                // SAFETY: the caller's promise.
                unsafe { sums[a][b].add_to_memory(to.add((a * B + b) * SUMS)) };
            }
        }
        to.wrapping_add(A * B * SUMS)
    }

    /// All pairs of A rows of `left`.
    ///
    /// # Safety
    /// A rows of `width` numbers, a multiple of WIDTH, must be readable, and `to` writable for A(A − 1)/2 · SUMS.
    #[inline(always)]
    unsafe fn triangle<L: Lanes<Scalar = T>, const A: usize>(&self, mut to: *mut f64) -> *mut f64 {
        let left: [*const T; A] = std::array::from_fn(|a| self.left[a][self.columns.start..].as_ptr());
        let mut sums = [[L::splat(T::default()); A]; A];
        let mut column = 0;
        while column < self.columns.len() {
            self.prefetch::<L>(column);
            // SAFETY: the caller's promise.
            let x: [L; A] = std::array::from_fn(|a| unsafe { L::load(left[a].add(column)) });
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
                // SAFETY: the caller's promise.
                unsafe { sums[a][b].add_to_memory(to) };
                to = to.wrapping_add(SUMS);
            }
        }
        to
    }
}

/// The sum of one pair.
pub(crate) fn total(sums: &[f64]) -> f64 {
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// Copies a row into a packed row and fills the rest with zeros.
pub(crate) fn pack<T: Scalar>(from: &[T], to: &mut [T]) {
    to[..from.len()].copy_from_slice(from);
    to[from.len()..].fill(T::default());
}

/// What `accumulate` means.
#[cfg(test)]
pub(crate) fn plain<T: Scalar>(rows: &[Vec<T>], i: usize, j: usize) -> f64 {
    rows[i].iter().zip(&rows[j]).map(|(a, b)| (a.to_f64() - b.to_f64()).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::{super::Scratch, *};
    use crate::random::Stream;

    fn check<T: Scalar>(scale: f64, tolerance: f64) {
        for kernels in Kernels::available() {
            for (rows, width) in [(1, 5), (2, 1), (3, 8), (5, 33), (6, 64), (9, 100), (20, 300), (23, 64)] {
                let mut stream = Stream::new(7, "test", rows as u64, width as u64);
                let data: Vec<Vec<T>> = (0..rows)
                    .map(|_| (0..width).map(|_| T::from_f64((stream.uniform() - 0.5) * scale)).collect())
                    .collect();
                let mut block = Scratch::new(rows, width);
                for (i, row) in data.iter().enumerate() {
                    pack(row, block.row_mut(i));
                }
                let block: Vec<&[T]> = (0..rows).map(|i| block.row(i)).collect();
                let block = Columns { rows: &block, start: 0 };
                let tiling = Tiling::new(kernels, rows);
                let order = tiling.pairs();
                let mut sums = vec![0.0; order.len() * SUMS];
                accumulate(kernels, block, &tiling, width.next_multiple_of(PADDING), block, &mut sums);
                for ((i, j), sums) in order.into_iter().zip(sums.chunks(SUMS)) {
                    let exact = plain(&data, i, j);
                    let ours = total(sums);
                    let in_range = ours >= T::SMALLEST_SQUARES && ours < f64::INFINITY;
                    let agrees = (ours - exact).abs() <= tolerance * exact;
                    // Out of range is for the caller to redo.
                    assert!(
                        agrees || (!in_range && !(1e-30..1e30).contains(&exact)),
                        "{rows}×{width} {i},{j}: {ours} {exact}"
                    );
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
    fn says_when_squares_overflow_or_vanish_in_f32() {
        check::<f32>(1e30, 1e-6);
        check::<f32>(1e-17, 1e-6);
        check::<f32>(1e-42, 1e-6);
    }

    #[test]
    fn every_pair_has_its_place_once() {
        for (kernels, rows) in
            Kernels::available().into_iter().flat_map(|kernels| (0..30).map(move |n| (kernels, n)))
        {
            let mut order = Tiling::new(kernels, rows).pairs();
            order.sort_unstable();
            assert_eq!(order, crate::measure::pairs(rows).collect::<Vec<_>>());
        }
    }
}
