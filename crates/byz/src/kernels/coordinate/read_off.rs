//! What a rule makes of a strip once it is in order.

use super::{
    CoordinateRule, STRIP,
    column::Column,
    halves,
    plain::plain,
    sort::{Order, load},
    whole,
};
use crate::kernels::{Lanes, Scalar, Scratch};

/// Reads the rule's result off sorted rows; `from` are the rows as they came.
#[inline(always)]
pub(super) fn read_off<L: Lanes>(
    rule: CoordinateRule,
    order: Order,
    from: &[*const L::Scalar],
    width: usize,
    sorted: &Scratch<L::Scalar>,
    out: &mut [L::Scalar],
) {
    let rows = from.len();
    match (order, rule) {
        (Order::Halves, CoordinateRule::TrimmedMean { trim }) => {
            fill::<L, false>(rows, width, sorted, out, |_, column| halves::trimmed_mean(column, trim));
        }
        (Order::Halves, _) => {
            fill::<L, false>(rows, width, sorted, out, |_, column| halves::median(column));
        }
        (Order::Merged, _) => read_off_whole::<L, true>(rule, from, width, sorted, out),
        _ => read_off_whole::<L, false>(rule, from, width, sorted, out),
    }
}

#[inline(always)]
fn read_off_whole<L: Lanes, const MERGED: bool>(
    rule: CoordinateRule,
    from: &[*const L::Scalar],
    width: usize,
    sorted: &Scratch<L::Scalar>,
    out: &mut [L::Scalar],
) {
    let rows = from.len();
    match rule {
        CoordinateRule::TrimmedMean { trim } => {
            fill::<L, MERGED>(rows, width, sorted, out, |_, column| whole::trimmed_mean(column, trim));
        }
        CoordinateRule::MeanAroundMedian { keep } => {
            let mut ties = [0u32; STRIP];
            fill::<L, MERGED>(rows, width, sorted, out, |start, column| {
                let (mean, tied) = whole::mean_around_median(column, keep);
                ties[start] = tied;
                mean
            });
            for place in
                (0..width).filter(|place| ties[place - place % L::WIDTH] >> (place % L::WIDTH) & 1 == 1)
            {
                // SAFETY: `strip` gives rows readable for `width` columns.
                let values: Vec<f64> = from.iter().map(|row| unsafe { *row.add(place) }.to_f64()).collect();
                out[place] = L::Scalar::from_f64(plain(rule, &values));
            }
        }
        _ => fill::<L, MERGED>(rows, width, sorted, out, |_, column| whole::median(column)),
    }
}

/// Writes the result of every vector of columns.
#[inline(always)]
fn fill<L: Lanes, const MERGED: bool>(
    rows: usize,
    width: usize,
    sorted: &Scratch<L::Scalar>,
    out: &mut [L::Scalar],
    mut result: impl FnMut(usize, Column<'_, L, MERGED>) -> L,
) {
    assert!(width <= STRIP && width <= out.len());
    for start in (0..width).step_by(L::WIDTH) {
        let value = result(start, Column::new(sorted.as_slice(), rows, start));
        // SAFETY: width is a multiple of WIDTH and at most the length of `out`.
        unsafe { value.store(out.as_mut_ptr().add(start)) };
    }
}

#[inline(always)]
pub(super) fn sign_majority<L: Lanes>(
    from: &[*const L::Scalar],
    width: usize,
    out: &mut [L::Scalar],
) -> bool {
    let zero = L::Scalar::default();
    let mut balance = [0i32; STRIP];
    let mut flags = L::splat(zero);
    let mut row = [zero; STRIP];
    for &from in from {
        for column in (0..width).step_by(L::WIDTH) {
            let value = load::<L>(from, column, &mut flags);
            // SAFETY: column + WIDTH ≤ width ≤ STRIP.
            unsafe { value.store(row.as_mut_ptr().add(column)) };
        }
        for (balance, value) in balance.iter_mut().zip(row) {
            *balance += i32::from(value > zero) - i32::from(value < zero);
        }
    }
    for (out, balance) in out.iter_mut().zip(balance) {
        *out = L::Scalar::from_f64(f64::from(balance.signum()));
    }
    L::is_clean(flags)
}
