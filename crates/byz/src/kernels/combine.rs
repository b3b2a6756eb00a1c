//! One weighted combination of rows: reference + Σ wᵢ (xᵢ − reference), in f64, rounded once.
//!
//! The reference is the row of the largest weight. In this form equal rows give that row exactly, and a common
//! offset costs no digits. Arithmetic in f64 is free: the loop waits for memory. Where rows of 1e20 and −1e20 cancel, as two
//! liars in one bucket do, f64 has no digits left for the others: `exactly` keeps what rounding takes.

use super::{Kernels, Lanes, Scalar, dispatch};

dispatch! {
    /// Writes Σ wᵢ rowᵢ for one block, the weights add up to one; false if some value was not admissible.
    /// `reference` is an index into the rows, or none to combine about the origin.
    combine => combine_lanes(rows: &[&[T]], weights: &[f64], reference: Option<usize>, out: &mut [T]) -> bool
}

#[inline(always)]
fn combine_lanes<L: Lanes>(
    rows: &[&[L::Scalar]],
    weights: &[f64],
    reference: Option<usize>,
    out: &mut [L::Scalar],
) -> bool {
    assert!(rows.len() == weights.len() && rows.iter().all(|row| row.len() == out.len()));
    let whole = out.len() / L::WIDTH * L::WIDTH;
    let mut flags = L::splat(L::Scalar::default());
    let mut column = 0;
    // Two vectors at a time take in a whole cache line of every row, where one does not.
    while !L::WIDE && column + 2 * L::WIDTH <= whole {
        // SAFETY: column + 2 · WIDTH ≤ len of every row and of out.
        unsafe { step::<L, 2>(rows, weights, reference, column, out.as_mut_ptr(), &mut flags) };
        column += 2 * L::WIDTH;
    }
    while column < whole {
        // SAFETY: column + WIDTH ≤ len of every row and of out.
        unsafe { step::<L, 1>(rows, weights, reference, column, out.as_mut_ptr(), &mut flags) };
        column += L::WIDTH;
    }
    for column in whole..out.len() {
        out[column] = plain(rows, weights, reference, column);
    }
    L::is_clean(flags) && rows.iter().all(|row| row[whole..].iter().all(|value| value.is_admissible()))
}

/// # Safety
/// `K · WIDTH` numbers from `column` on must lie inside every row and inside `out`.
#[inline(always)]
unsafe fn step<L: Lanes, const K: usize>(
    rows: &[&[L::Scalar]],
    weights: &[f64],
    reference: Option<usize>,
    column: usize,
    out: *mut L::Scalar,
    flags: &mut L,
) {
    /// Columns ahead; far enough to hide memory, near enough to stay in cache with 100 rows.
    const AHEAD: usize = 128;
    let zero = L::splat_sum(0.0);
    let mut base = [zero; K];
    if let Some(row) = reference {
        for (k, base) in base.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            *base = unsafe { L::load(rows[row].as_ptr().add(column + k * L::WIDTH)) }.widen();
        }
    }
    let mut sums = [zero; K];
    for (row, &weight) in rows.iter().zip(weights) {
        let from = row.as_ptr().wrapping_add(column);
        L::prefetch(from.wrapping_add(AHEAD));
        for k in 0..K {
            // SAFETY: the caller's promise.
            let x = unsafe { L::load(from.add(k * L::WIDTH)) };
            // A bad f32 shows in the result, which is summed in f64; an f64 out of range may cancel.
            if L::Scalar::SQUARES_MAY_OVERFLOW {
                *flags = x.flag_inadmissible(*flags);
            }
            sums[k] = x.weigh_into(base[k], weight, sums[k]);
        }
    }
    for k in 0..K {
        let result = L::round(base[k], 1.0, sums[k]);
        *flags = result.flag_inadmissible(*flags);
        // SAFETY: the caller's promise.
        unsafe { result.store(out.add(column + k * L::WIDTH)) };
    }
}

dispatch! {
    /// The same about the origin, with twice the digits; rows of one weight should follow one another.
    exactly => exactly_lanes(rows: &[&[T]], weights: &[f64], out: &mut [T]) -> bool
}

/// Columns whose sums stay in the first-level cache.
const STRIP: usize = 64;

/// Rows of one weight, such as the members of a bucket, are added up before they are weighed: then what cancels is gone, and
/// with it the rounding of its products. Plain loops that compilers vectorise.
#[inline(always)]
fn exactly_lanes<L: Lanes>(rows: &[&[L::Scalar]], weights: &[f64], out: &mut [L::Scalar]) -> bool {
    let mut clean = true;
    for (strip, out) in out.chunks_mut(STRIP).enumerate() {
        let columns = strip * STRIP..strip * STRIP + out.len();
        let mut total = [(0.0, 0.0); STRIP];
        let mut group = [(0.0, 0.0); STRIP];
        for (i, (row, &weight)) in rows.iter().zip(weights).enumerate() {
            let row = &row[columns.clone()];
            clean &= row.iter().all(|value| value.is_admissible());
            group.iter_mut().zip(row).for_each(|(sum, value)| add(sum, value.to_f64()));
            if weights.get(i + 1) != Some(&weight) {
                for (total, (sum, lost)) in total.iter_mut().zip(&mut group) {
                    add(total, weight * *sum);
                    total.1 += weight * *lost;
                    (*sum, *lost) = (0.0, 0.0);
                }
            }
        }
        for (out, (sum, lost)) in out.iter_mut().zip(total) {
            *out = L::Scalar::from_f64(sum + lost);
            clean &= out.is_admissible();
        }
    }
    clean
}

/// Adds a term to a sum, and what rounding takes (Knuth) to what was lost.
#[inline(always)]
pub(crate) fn add((sum, lost): &mut (f64, f64), term: f64) {
    let total = *sum + term;
    let back = total - *sum;
    *lost += (*sum - (total - back)) + (term - back);
    *sum = total;
}

/// What one column of `combine` means.
fn plain<T: Scalar>(rows: &[&[T]], weights: &[f64], reference: Option<usize>, column: usize) -> T {
    let base = reference.map_or(0.0, |row| rows[row][column].to_f64());
    let sum: f64 = rows.iter().zip(weights).map(|(row, w)| w * (row[column].to_f64() - base)).sum();
    T::from_f64(base + sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_sums_keep_what_lies_beside_liars_that_cancel() {
        let row = |value: f64| vec![value; 70];
        let rows = [row(1e22), row(-1e22), row(0.1), row(1e146), row(-1e146), row(0.3)];
        let slices: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        let weights = [0.1, 0.1, 0.5, 0.15, 0.15, 0.1];
        for kernels in Kernels::available() {
            let mut out = row(0.0);
            assert!(exactly(kernels, &slices, &weights, &mut out));
            assert!(out.iter().all(|x| (x - 0.08).abs() < 1e-16), "{}", out[0]);
        }
        let bad = [row(f64::NAN), row(1.0)];
        let bad: Vec<&[f64]> = bad.iter().map(Vec::as_slice).collect();
        assert!(!exactly(Kernels::fastest(), &bad, &[0.5, 0.5], &mut row(0.0)));
    }
    use crate::random::Stream;

    fn check<T: Scalar>(tolerance: f64) {
        for kernels in Kernels::available() {
            for width in [1, 7, 8, 16, 45] {
                let mut stream = Stream::new(3, "test", 0, width as u64);
                let data: Vec<Vec<T>> = (0..5)
                    .map(|_| (0..width).map(|_| T::from_f64(1e3 + stream.uniform())).collect())
                    .collect();
                let rows: Vec<&[T]> = data.iter().map(Vec::as_slice).collect();
                let weights = [0.1, 0.2, 0.3, 0.15, 0.25];
                for reference in [None, Some(2)] {
                    let mut out = vec![T::default(); width];
                    assert!(combine(kernels, &rows, &weights, reference, &mut out));
                    for (column, value) in out.iter().enumerate() {
                        let exact = plain(&rows, &weights, reference, column);
                        assert!((value.to_f64() - exact.to_f64()).abs() <= tolerance, "{value:?} {exact:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn agrees_with_the_plain_combination() {
        check::<f32>(1e-4);
        check::<f64>(1e-12);
    }

    #[test]
    fn equal_rows_come_back_to_the_bit() {
        let row: Vec<f64> = (0..13).map(|k| 1.0 / (k as f64 + 3.0)).collect();
        let rows = vec![row.as_slice(); 7];
        let mut out = vec![0.0; 13];
        assert!(combine(Kernels::fastest(), &rows, &[1.0 / 7.0; 7], Some(0), &mut out));
        assert_eq!(out, row);
    }

    #[test]
    fn opposite_huge_values_are_noticed_though_they_cancel() {
        for width in [1, 4, 9] {
            let (up, down) = (vec![1e200; width], vec![-1e200; width]);
            let mut out = vec![0.0; width];
            assert!(!combine(Kernels::fastest(), &[&up, &down], &[0.5, 0.5], None, &mut out));
        }
    }
}
