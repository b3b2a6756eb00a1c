//! Sorting every column of a block across rows, by networks of exchanges without branches.
//!
//! Up to `UNROLLED` rows the network is straight-line code in registers (written by `build.rs`); above, the same
//! network runs from a table over a block in the first-level cache. `select_nth` per coordinate is twenty to
//! forty times slower: it branches on data and cannot use lanes.

use super::{Lanes, merge_exchange::merge_exchange};

/// Sorts N vectors lane by lane.
pub(crate) trait Network<const N: usize> {
    fn sort<L: Lanes>(load: impl FnMut(usize) -> L, store: impl FnMut(usize, L));
}

/// Implements [`Network`] for every unrolled size.
pub(crate) struct Sorter;

include!(concat!(env!("OUT_DIR"), "/networks.rs"));

/// Batcher's merge exchange for `rows`, pruned to the exchanges that `wanted` positions depend on.
pub(crate) fn table(rows: usize, wanted: std::ops::Range<usize>) -> Vec<(usize, usize)> {
    let mut needed: Vec<bool> = (0..rows).map(|row| wanted.contains(&row)).collect();
    let mut kept: Vec<_> = merge_exchange(rows)
        .into_iter()
        .rev()
        .filter(|&(i, j)| {
            let keep = needed[i] || needed[j];
            needed[i] |= keep;
            needed[j] |= keep;
            keep
        })
        .collect();
    kept.reverse();
    kept
}

/// Runs a table over rows of `width` numbers at `data`, `stride` apart.
#[inline(always)]
pub(crate) fn run<L: Lanes>(table: &[(usize, usize)], data: &mut [L::Scalar], stride: usize, width: usize) {
    let width = width.next_multiple_of(L::WIDTH);
    let rows = data.len() / stride;
    assert!(width <= stride && table.iter().all(|&(i, j)| i < rows && j < rows));
    let data = data.as_mut_ptr();
    for &(i, j) in table {
        let (low, high) = (data.wrapping_add(i * stride), data.wrapping_add(j * stride));
        let mut column = 0;
        // Four at a time keep the loads ahead of the stores.
        while column + 4 * L::WIDTH <= width {
            // SAFETY: both rows lie inside `data` and column + 4 · WIDTH ≤ stride.
            unsafe { exchange_rows::<L, 4>(low.add(column), high.add(column)) };
            column += 4 * L::WIDTH;
        }
        while column < width {
            // SAFETY: both rows lie inside `data` and column + WIDTH ≤ stride.
            unsafe { exchange_rows::<L, 1>(low.add(column), high.add(column)) };
            column += L::WIDTH;
        }
    }
}

/// # Safety
/// `K · WIDTH` numbers must be readable and writable at both places.
#[inline(always)]
unsafe fn exchange_rows<L: Lanes, const K: usize>(low: *mut L::Scalar, high: *mut L::Scalar) {
    // SAFETY: the caller's promise.
    let a: [L; K] = std::array::from_fn(|k| unsafe { L::load(low.add(k * L::WIDTH)) });
    // SAFETY: the caller's promise.
    let b: [L; K] = std::array::from_fn(|k| unsafe { L::load(high.add(k * L::WIDTH)) });
    for k in 0..K {
        // SAFETY: the caller's promise.
        unsafe {
            a[k].min(b[k]).store(low.add(k * L::WIDTH));
            a[k].max(b[k]).store(high.add(k * L::WIDTH));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The 0–1 principle: a network that sorts every sequence of zeros and ones sorts everything. All such
    /// sequences up to 12 rows, sliding windows of ones and random ones above.
    #[test]
    fn tables_sort_zeros_and_ones() {
        let mut stream = crate::random::Stream::new(5, "test", 0, 0);
        for rows in 1..=64usize {
            let table = table(rows, 0..rows);
            let patterns: Vec<u64> = match rows {
                ..=12 => (0..1 << rows).collect(),
                _ => (0..2000).map(|_| stream.next_u64()).collect(),
            };
            for pattern in patterns {
                let mut values: Vec<bool> = (0..rows).map(|row| pattern >> row & 1 == 1).collect();
                for &(i, j) in &table {
                    (values[i], values[j]) = (values[i] & values[j], values[i] | values[j]);
                }
                assert!(values.is_sorted(), "{rows} rows, pattern {pattern:b}");
            }
        }
    }

    #[test]
    fn pruning_keeps_what_the_median_needs() {
        let full = table(20, 0..20);
        let middle = table(20, 9..11);
        assert!(middle.len() < full.len());
        let mut values: Vec<u32> = (0..20).map(|k| (k * 7919) % 101).collect();
        let mut sorted = values.clone();
        sorted.sort_unstable();
        for (i, j) in middle {
            (values[i], values[j]) = (values[i].min(values[j]), values[i].max(values[j]));
        }
        assert_eq!(values[9..11], sorted[9..11]);
    }
}
