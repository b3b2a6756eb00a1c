//! Putting the columns of a strip in order, as far as the rule needs it.
//!
//! A trimmed mean that drops few values and a median of many do not need one sorted column: two sorted halves
//! say as much for a third fewer exchanges, and a half fits the registers.

use super::{CoordinateRule, STRIP, Workspace, column::merged_row, whole::midpoint};
use crate::kernels::{
    Lanes, Scratch,
    networks::{self, Network, Sorter, UNROLLED, with_network},
};

/// How far columns are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Not at all.
    None,
    /// Only the middle is kept, in registers.
    Middle,
    /// The first half of the rows holds one half in order, the second the other.
    Halves,
    /// From the smallest to the largest, in the places of [`merged_row`].
    Merged,
    /// From the smallest to the largest.
    Whole,
}

impl Order {
    /// What `rule` needs of so many rows, on lanes that do or do not unroll networks.
    pub(super) fn needed(unroll: bool, rule: CoordinateRule, rows: usize) -> Order {
        let halves_fit = unroll && (4..=2 * UNROLLED).contains(&rows);
        match rule {
            CoordinateRule::SignMajority => Order::None,
            CoordinateRule::Median if unroll && (2..=UNROLLED).contains(&rows) => Order::Middle,
            CoordinateRule::Median if halves_fit => Order::Halves,
            CoordinateRule::TrimmedMean { trim } if halves_fit && 2 * trim < rows / 2 => Order::Halves,
            _ if halves_fit && rows > UNROLLED => Order::Merged,
            _ => Order::Whole,
        }
    }
}

/// Sorts the columns of rows that start at `from` into the workspace; false if some value was not admissible.
#[inline(always)]
pub(super) fn sort<L: Lanes>(
    order: Order,
    from: &[*const L::Scalar],
    width: usize,
    space: &mut Workspace<L::Scalar>,
) -> bool {
    let rows = from.len();
    if !L::UNROLL || !(2..=2 * UNROLLED).contains(&rows) {
        let clean = gather::<L>(from, width, &mut space.sorted);
        networks::run::<L>(&space.table, &mut space.sorted.as_mut_slice()[..rows * STRIP], STRIP, width);
        return clean;
    }
    let sorted = &mut space.sorted.as_mut_slice()[..rows * STRIP];
    if order == Order::Whole {
        return sort_into::<L>(from, width, sorted);
    }
    let half = rows.div_ceil(2);
    let (first, second) = sorted.split_at_mut(half * STRIP);
    let clean = sort_into::<L>(&from[..half], width, first) & sort_into::<L>(&from[half..], width, second);
    if order == Order::Merged {
        networks::run::<L>(&space.merge, sorted, STRIP, width);
    }
    clean
}

/// The exchanges that sort `rows` rows as far as `rule` needs, and those that merge two sorted halves of them.
pub(super) fn tables(rule: CoordinateRule, rows: usize) -> [Vec<(usize, usize)>; 2] {
    match rule {
        CoordinateRule::SignMajority => [Vec::new(), Vec::new()],
        CoordinateRule::Median => [networks::table(rows, (rows.max(1) - 1) / 2..rows / 2 + 1), Vec::new()],
        _ => {
            let table = networks::table(rows, 0..rows);
            let halves = [rows.div_ceil(2), rows / 2].map(|half| networks::table(half, 0..half).len());
            let merge = &table[halves.iter().sum()..];
            let merge = merge.iter().map(|&(i, j)| (merged_row(i, rows), merged_row(j, rows))).collect();
            [table, merge]
        }
    }
}

/// Sorts the columns of up to [`UNROLLED`] rows into rows of `to`.
#[inline(always)]
fn sort_into<L: Lanes>(from: &[*const L::Scalar], width: usize, to: &mut [L::Scalar]) -> bool {
    macro_rules! run {
        ($n:literal) => {
            // SAFETY: lanes that unroll run only where the features they need were detected, and only AVX-512 is wide.
            unsafe {
                match L::WIDE {
                    true => wide::sort::<L, $n>(from, width, to),
                    false => narrow::sort::<L, $n>(from, width, to),
                }
            }
        };
    }
    with_network!(from.len(), run)
}

/// The median of up to [`UNROLLED`] rows.
#[inline(always)]
pub(super) fn middle<L: Lanes>(from: &[*const L::Scalar], width: usize, out: &mut [L::Scalar]) -> bool {
    macro_rules! run {
        ($n:literal) => {
            // SAFETY: lanes that unroll run only where the features they need were detected, and only AVX-512 is wide.
            unsafe {
                match L::WIDE {
                    true => wide::middle::<L, $n>(from, width, out),
                    false => narrow::middle::<L, $n>(from, width, out),
                }
            }
        };
    }
    with_network!(from.len(), run)
}

/// Networks compiled one by one for some features: 31 of them in one function would take the compiler minutes.
macro_rules! unrolled {
    ($module:ident, $features:literal) => {
        mod $module {
            use super::{Lanes, Network, STRIP, Sorter, load, midpoint};

            /// # Safety
            /// The processor must have the features, where it could.
            #[cfg_attr(target_arch = "x86_64", target_feature(enable = $features))]
            pub(super) unsafe fn sort<L: Lanes, const N: usize>(
                from: &[*const L::Scalar],
                width: usize,
                to: &mut [L::Scalar],
            ) -> bool
            where
                Sorter: Network<N>,
            {
                let from: &[*const L::Scalar; N] = from.try_into().expect("the size was matched");
                assert!(to.len() >= N * STRIP && width <= STRIP);
                let mut flags = L::splat(L::Scalar::default());
                for column in (0..width).step_by(L::WIDTH) {
                    let to = to.as_mut_ptr().wrapping_add(column);
                    <Sorter as Network<N>>::sort(
                        |row| load::<L>(from[row], column, &mut flags),
                        // SAFETY: `to` holds N rows of STRIP ≥ column + WIDTH numbers.
                        |rank, value: L| unsafe { value.store(to.add(rank * STRIP)) },
                    );
                }
                L::is_clean(flags)
            }

            /// # Safety
            /// As of [`sort`]. The compiler drops every exchange that the middle does not depend on.
            #[cfg_attr(target_arch = "x86_64", target_feature(enable = $features))]
            pub(super) unsafe fn middle<L: Lanes, const N: usize>(
                from: &[*const L::Scalar],
                width: usize,
                out: &mut [L::Scalar],
            ) -> bool
            where
                Sorter: Network<N>,
            {
                let from: &[*const L::Scalar; N] = from.try_into().expect("the size was matched");
                assert!(out.len() >= width);
                let mut flags = L::splat(L::Scalar::default());
                for column in (0..width).step_by(L::WIDTH) {
                    let mut sorted = [flags; N];
                    let loaded = |row: usize| load::<L>(from[row], column, &mut flags);
                    <Sorter as Network<N>>::sort(loaded, |rank, value| sorted[rank] = value);
                    let value = midpoint(sorted[(N - 1) / 2], sorted[N / 2]);
                    // SAFETY: width is a multiple of WIDTH and at most the length of `out`.
                    unsafe { value.store(out.as_mut_ptr().add(column)) };
                }
                L::is_clean(flags)
            }
        }
    };
}
unrolled!(narrow, "avx2,fma");
unrolled!(wide, "avx512f,avx512dq,avx512vl");

/// Copies the rows' strips next to one another.
#[inline(always)]
fn gather<L: Lanes>(from: &[*const L::Scalar], width: usize, to: &mut Scratch<L::Scalar>) -> bool {
    let mut flags = L::splat(L::Scalar::default());
    for (i, &row) in from.iter().enumerate() {
        let to = to.row_mut(i);
        assert!(to.len() >= width);
        for column in (0..width).step_by(L::WIDTH) {
            let value = load::<L>(row, column, &mut flags);
            // SAFETY: width is a multiple of WIDTH and at most the length of `to`.
            unsafe { value.store(to.as_mut_ptr().add(column)) };
        }
    }
    L::is_clean(flags)
}

/// Loads one vector of columns of a row and notes whether it is admissible.
#[inline(always)]
pub(super) fn load<L: Lanes>(from: *const L::Scalar, column: usize, flags: &mut L) -> L {
    /// Columns ahead of the loads.
    const AHEAD: usize = 128;
    L::prefetch(from.wrapping_add(column + AHEAD));
    // SAFETY: `strip` gives rows that are readable for `width` columns, and column + WIDTH ≤ width.
    let value = unsafe { L::load(from.add(column)) };
    *flags = value.flag_inadmissible(*flags);
    value
}
