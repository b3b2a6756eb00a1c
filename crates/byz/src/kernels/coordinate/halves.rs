//! Rules read off two sorted halves of a column, without merging them: ranks 0..⌈rows/2⌉ hold one half in order, the
//! ranks after them the other.

use super::{
    column::Column,
    whole::{base_of, midpoint},
};
use crate::kernels::Lanes;

/// The middle value, or the midpoint of the two middle ones.
#[inline(always)]
pub(super) fn median<L: Lanes>(column: Column<'_, L, false>) -> L {
    midpoint(smallest(column, column.rows.div_ceil(2)), smallest(column, column.rows / 2 + 1))
}

/// The r-th smallest: the least, over all ways to take r values from the beginnings of the halves, of the largest value
/// taken.
#[inline(always)]
fn smallest<L: Lanes>(column: Column<'_, L, false>, r: usize) -> L {
    let (long, short) = (column.rows.div_ceil(2), column.rows / 2);
    // Taking k of the first half and r − k of the second; the ends take nothing from one of them.
    let (fewest, most) = (r.saturating_sub(short), long.min(r));
    let mut least = column.at(long + r - fewest - 1);
    if fewest > 0 {
        least = least.max(column.at(fewest - 1));
    }
    for k in fewest + 1..most.min(r - 1) + 1 {
        least = least.min(column.at(k - 1).max(column.at(long + r - k - 1)));
    }
    if most == r { least.min(column.at(r - 1)) } else { least }
}

/// The mean without the `trim` smallest and largest, fewer than half of the shorter half.
///
/// The smallest of all are the smaller ones of the pairs that take one half's beginning upwards and the other's
/// downwards; the larger ones of those pairs stay. The same at the other end.
#[inline(always)]
pub(super) fn trimmed_mean<L: Lanes>(column: Column<'_, L, false>, trim: usize) -> L {
    let rows = column.rows;
    let long = rows.div_ceil(2);
    let base = base_of(column.at(long / 2));
    let [mut low, mut high] = [L::splat_sum(0.0); 2];
    for k in 0..trim {
        low = column.at(k).max(column.at(long + trim - 1 - k)).weigh_into(base, 1.0, low);
        high = column.at(long - 1 - k).min(column.at(rows - trim + k)).weigh_into(base, 1.0, high);
    }
    for k in trim..long - trim {
        low = column.at(k).weigh_into(base, 1.0, low);
    }
    for k in long + trim..rows - trim {
        high = column.at(k).weigh_into(base, 1.0, high);
    }
    L::round(base, 1.0 / (rows - 2 * trim) as f64, L::add_sums(low, high))
}
