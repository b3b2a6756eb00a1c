//! Rules read off a column that is sorted from the smallest to the largest.

use super::column::Column;
use crate::kernels::Lanes;

/// The middle value, or the midpoint of the two middle ones.
#[inline(always)]
pub(super) fn median<L: Lanes, const MERGED: bool>(column: Column<'_, L, MERGED>) -> L {
    midpoint(column.at((column.rows - 1) / 2), column.at(column.rows / 2))
}

/// The mean without the `trim` smallest and largest.
#[inline(always)]
pub(super) fn trimmed_mean<L: Lanes, const MERGED: bool>(column: Column<'_, L, MERGED>, trim: usize) -> L {
    let rows = column.rows;
    let base = base_of(column.at((rows - 1) / 2));
    L::round(base, 1.0 / (rows - 2 * trim) as f64, total(column, trim..rows - trim, base))
}

/// The mean of the `keep` values nearest the median, and a bit for each lane where a tie decides which they are.
#[inline(always)]
pub(super) fn mean_around_median<L: Lanes, const MERGED: bool>(
    column: Column<'_, L, MERGED>,
    keep: usize,
) -> (L, u32) {
    let rows = column.rows;
    let (low, high) = (column.at((rows - 1) / 2), column.at(rows / 2));
    let base = base_of(low);
    let twice = L::add_sums(low.widen(), high.widen());
    // Ranks edge..rows − edge are kept for certain; `open` more come from the 2·open around them.
    let drop = rows - keep;
    let edge = drop.min(rows / 2);
    let open = 2 * edge - drop;
    let mut sum = total(column, edge..rows - edge, base);
    let mut ties = 0;
    for k in 0..open {
        let (below, above) = (column.at(edge - 1 - k), column.at(rows - edge + open - 1 - k));
        let both = L::add_sums(below.widen(), above.widen());
        ties |= L::equal_bits(twice, both) & !below.same_bits(above);
        let nearer = L::select_less(twice, both, below.widen(), above.widen());
        sum = L::add_sums(sum, L::sub_sums(nearer, base));
    }
    (L::round(base, 1.0 / keep as f64, sum), ties)
}

/// The sum of some ranks about `base`, in two halves: one addition need not wait for the other.
#[inline(always)]
fn total<L: Lanes, const MERGED: bool>(
    column: Column<'_, L, MERGED>,
    ranks: std::ops::Range<usize>,
    base: L::Sum,
) -> L::Sum {
    let middle = ranks.start + ranks.len() / 2;
    let [mut low, mut high] = [L::splat_sum(0.0); 2];
    for (a, b) in (ranks.start..middle).zip(middle..ranks.end) {
        low = column.at(a).weigh_into(base, 1.0, low);
        high = column.at(b).weigh_into(base, 1.0, high);
    }
    if ranks.len() % 2 == 1 {
        high = column.at(ranks.end - 1).weigh_into(base, 1.0, high);
    }
    L::add_sums(low, high)
}

/// Half the sum, which does not overflow.
#[inline(always)]
pub(super) fn midpoint<L: Lanes>(a: L, b: L) -> L {
    L::round(L::splat_sum(0.0), 0.5, L::add_sums(a.widen(), b.widen()))
}

/// The value about which means are taken: sums of f32 are exact enough in f64 about zero, f64 ones are not.
#[inline(always)]
pub(super) fn base_of<L: Lanes>(middle: L) -> L::Sum {
    if size_of::<L::Scalar>() < size_of::<f64>() { L::splat_sum(0.0) } else { middle.widen() }
}
