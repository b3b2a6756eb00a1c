//! One vector of columns of a strip that was put in order.

use super::STRIP;
use crate::kernels::Lanes;
use std::marker::PhantomData;

/// The row that holds the value of this rank where two sorted halves were merged in place.
#[inline(always)]
pub(super) fn merged_row(rank: usize, rows: usize) -> usize {
    if rank.is_multiple_of(2) { rank / 2 } else { rows.div_ceil(2) + rank / 2 }
}

/// Values by rank; `MERGED` tells that they lie as [`merged_row`] says.
#[derive(Clone, Copy)]
pub(super) struct Column<'a, L: Lanes, const MERGED: bool> {
    top: *const L::Scalar,
    /// Values in the column.
    pub(super) rows: usize,
    sorted: PhantomData<&'a [L::Scalar]>,
}

impl<'a, L: Lanes, const MERGED: bool> Column<'a, L, MERGED> {
    /// The columns from `start` of rows that lie [`STRIP`] apart.
    #[inline(always)]
    pub(super) fn new(sorted: &'a [L::Scalar], rows: usize, start: usize) -> Self {
        assert!(sorted.len() >= rows * STRIP && start + L::WIDTH <= STRIP);
        Column { top: sorted.as_ptr().wrapping_add(start), rows, sorted: PhantomData }
    }

    /// The value of a rank below `rows`.
    #[inline(always)]
    pub(super) fn at(self, rank: usize) -> L {
        debug_assert!(rank < self.rows);
        let row = if MERGED { merged_row(rank, self.rows) } else { rank };
        // SAFETY: the rules ask for ranks below `rows`, which debug builds check; `new` checked the rest.
        unsafe { L::load(self.top.add(row * STRIP)) }
    }
}
