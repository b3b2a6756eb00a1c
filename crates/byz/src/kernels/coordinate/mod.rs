//! Coordinate-wise rules on one block: sort every column across the rows, then read off the result.
//!
//! The order of a column is exact in the message's own type; sums are taken in f64 about the middle value, so
//! equal messages come back to the bit and 3e38 values do not overflow. The mean around the median keeps a
//! window of the sorted column; which end of the window to keep is decided by comparing lo + hi with twice the
//! median. A true tie goes to the lowest row, which the sorted column no longer knows: those columns, rare
//! outside quantised data, are redone by the plain rule.

mod column;
mod halves;
mod plain;
mod read_off;
mod sort;
mod whole;

use super::{Kernels, Lanes, Scalar, Scratch, dispatch};
pub(crate) use plain::weights;
use sort::Order;

/// What to make of one sorted column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoordinateRule {
    /// The middle value, or the midpoint of the two middle ones.
    Median,
    /// The mean without the `trim` smallest and `trim` largest.
    TrimmedMean {
        /// Values dropped at each end.
        trim: usize,
    },
    /// The mean of the `keep` values nearest the median; ties go to the lowest row.
    MeanAroundMedian {
        /// Values kept.
        keep: usize,
    },
    /// The sign of the sum of signs: −1, 0 or 1.
    SignMajority,
}

/// Columns sorted together: a multiple of every lane width, and whole cache lines.
const STRIP: usize = 64;

/// Working memory for blocks of `rows` rows; made once per thread.
pub(crate) struct Workspace<T> {
    sorted: Scratch<T>,
    /// Exchanges that put the rows in order.
    table: Vec<(usize, usize)>,
    /// Exchanges that merge two sorted halves.
    merge: Vec<(usize, usize)>,
}

impl<T: Scalar> Workspace<T> {
    pub(crate) fn new(rule: CoordinateRule, rows: usize) -> Workspace<T> {
        let [table, merge] = sort::tables(rule, rows);
        Workspace { sorted: Scratch::new(rows, STRIP), table, merge }
    }
}

dispatch! {
    /// Applies the rule to every column; false if some value was not admissible (`out` is then meaningless).
    apply => apply_lanes(rule: CoordinateRule, rows: &[&[T]], space: &mut Workspace<T>, out: &mut [T]) -> bool
}

#[inline(always)]
fn apply_lanes<L: Lanes>(
    rule: CoordinateRule,
    rows: &[&[L::Scalar]],
    space: &mut Workspace<L::Scalar>,
    out: &mut [L::Scalar],
) -> bool {
    assert!(rows.iter().all(|row| row.len() == out.len()));
    let mut clean = true;
    let mut from: Vec<*const L::Scalar> = Vec::with_capacity(rows.len());
    // The last columns, padded with zeros to whole vectors.
    let whole = out.len() / STRIP * STRIP;
    let mut rest = Scratch::new(if whole < out.len() { rows.len() } else { 0 }, STRIP);
    let mut rest_out = [L::Scalar::default(); STRIP];
    for (i, row) in rows.iter().enumerate().filter(|_| whole < out.len()) {
        rest.row_mut(i)[..out.len() - whole].copy_from_slice(&row[whole..]);
    }
    for start in (0..out.len()).step_by(STRIP) {
        from.clear();
        let (width, to) = if start < whole {
            from.extend(rows.iter().map(|row| row[start..].as_ptr()));
            (STRIP, &mut out[start..start + STRIP])
        } else {
            from.extend((0..rows.len()).map(|i| rest.row(i).as_ptr()));
            ((out.len() - whole).next_multiple_of(L::WIDTH), &mut rest_out[..])
        };
        clean &= strip::<L>(rule, &from, width, space, to);
    }
    let width = out.len() - whole;
    out[whole..].copy_from_slice(&rest_out[..width]);
    clean
}

/// `width` columns, a multiple of the lane width and at most [`STRIP`], of rows that start at `from`.
#[inline(always)]
fn strip<L: Lanes>(
    rule: CoordinateRule,
    from: &[*const L::Scalar],
    width: usize,
    space: &mut Workspace<L::Scalar>,
    out: &mut [L::Scalar],
) -> bool {
    let order = Order::needed(L::UNROLL, rule, from.len());
    match order {
        Order::None => read_off::sign_majority::<L>(from, width, out),
        Order::Middle => sort::middle::<L>(from, width, out),
        Order::Halves | Order::Merged | Order::Whole => {
            let clean = sort::sort::<L>(order, from, width, space);
            if clean {
                read_off::read_off::<L>(rule, order, from, width, &space.sorted, out);
            }
            clean
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{plain::plain, *};
    use crate::random::Stream;

    /// Every size up to beyond the unrolled networks and their halves, every rule, values with many ties.
    #[test]
    fn agrees_with_the_plain_rule_for_every_number_of_rows() {
        for kernels in Kernels::available() {
            for rows in 1..=70usize {
                let width = 64 + rows % 23;
                let mut stream = Stream::new(4, "test", rows as u64, 0);
                let quantised = |draw: f64| if rows % 2 == 0 { (draw * 9.0).floor() } else { draw * 1e3 };
                let data: Vec<Vec<f32>> = (0..rows)
                    .map(|_| (0..width).map(|_| quantised(stream.uniform() - 0.5) as f32).collect())
                    .collect();
                let slices: Vec<&[f32]> = data.iter().map(Vec::as_slice).collect();
                let wide: Vec<Vec<f64>> =
                    data.iter().map(|row| row.iter().map(|&value| f64::from(value)).collect()).collect();
                let wide_slices: Vec<&[f64]> = wide.iter().map(Vec::as_slice).collect();
                let (trim, little) = ((rows - 1) / 3, (rows - 1) / 5);
                for rule in [
                    CoordinateRule::Median,
                    CoordinateRule::TrimmedMean { trim },
                    CoordinateRule::TrimmedMean { trim: little },
                    CoordinateRule::MeanAroundMedian { keep: rows - trim },
                    CoordinateRule::MeanAroundMedian { keep: 1 + rows / 5 },
                    CoordinateRule::SignMajority,
                ] {
                    let mut out = vec![0.0; width];
                    assert!(apply(kernels, rule, &slices, &mut Workspace::new(rule, rows), &mut out));
                    let mut wide_out = vec![0.0; width];
                    assert!(apply(
                        kernels,
                        rule,
                        &wide_slices,
                        &mut Workspace::new(rule, rows),
                        &mut wide_out
                    ));
                    for column in 0..width {
                        let values: Vec<f64> = wide.iter().map(|row| row[column]).collect();
                        let exact = plain(rule, &values);
                        let (ours, ours_wide) = (out[column], wide_out[column]);
                        assert!(
                            (f64::from(ours) - exact).abs() <= 1e-4,
                            "{rule:?} of {rows}: {ours} {exact}"
                        );
                        assert!(
                            (ours_wide - exact).abs() <= 1e-12,
                            "{rule:?} of {rows}: {ours_wide} {exact}"
                        );
                    }
                }
            }
        }
    }
}
