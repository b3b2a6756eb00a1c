//! Coordinate-wise rules on one block: sort every column across the rows, then read off the result.
//!
//! The order of a column is exact in the message's own type; sums are taken in f64 about the middle value, so
//! equal messages come back to the bit and 3e38 values do not overflow. The mean around the median keeps a
//! window of the sorted column; which end of the window to keep is decided by comparing lo + hi with twice the
//! median. A true tie goes to the lowest row, which the sorted column no longer knows: those columns, rare
//! outside quantised data, are redone by the plain rule.

use super::{Kernels, Lanes, Scalar, Scratch, dispatch, networks};
use networks::{Network, Sorter, UNROLLED, with_network};

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

/// Columns sorted together: a multiple of every lane width.
const STRIP: usize = 64;

/// Working memory for blocks of `rows` rows; made once per thread.
pub(crate) struct Workspace<T> {
    strip: Scratch<T>,
    table: Vec<(usize, usize)>,
}

impl<T: Scalar> Workspace<T> {
    pub(crate) fn new(rule: CoordinateRule, rows: usize) -> Workspace<T> {
        let table = match rule {
            CoordinateRule::SignMajority => Vec::new(),
            CoordinateRule::Median => networks::table(rows, (rows.max(1) - 1) / 2..rows / 2 + 1),
            _ => networks::table(rows, 0..rows),
        };
        Workspace { strip: Scratch::new(rows, STRIP), table }
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
    let rows = from.len();
    let unrolled = L::UNROLL && (2..=UNROLLED).contains(&rows);
    if rule == CoordinateRule::SignMajority {
        return sign_majority::<L>(from, width, out);
    }
    if rule == CoordinateRule::Median && unrolled {
        macro_rules! run {
            ($n:literal) => {
                // SAFETY: only lanes that need AVX2 unroll, and those run only where it was detected.
                unsafe { unrolled_median::<L, $n>(from, width, out) }
            };
        }
        return with_network!(rows, run);
    }
    let stride = space.strip.stride();
    let sorted = space.strip.as_mut_slice();
    if rule == CoordinateRule::Median && L::UNROLL && (UNROLLED + 1..=2 * UNROLLED).contains(&rows) {
        // Two halves sorted in registers; the middle of their union needs no merge.
        let half = rows / 2;
        let (low, high) = sorted.split_at_mut(half * stride);
        let clean = sort_into::<L>(&from[..half], width, stride, low)
            & sort_into::<L>(&from[half..], width, stride, high);
        median_of_runs::<L>(half, rows, width, stride, sorted, out);
        return clean;
    }
    let clean = if unrolled {
        sort_into::<L>(from, width, stride, sorted)
    } else {
        let clean = gather::<L>(from, width, &mut space.strip);
        networks::run::<L>(&space.table, &mut space.strip.as_mut_slice()[..rows * stride], stride, width);
        clean
    };
    if clean {
        finish::<L>(rule, from, width, &space.strip, out);
    }
    clean
}

/// Sorts the columns of up to [`UNROLLED`] rows into rows of `to`.
#[inline(always)]
fn sort_into<L: Lanes>(from: &[*const L::Scalar], width: usize, stride: usize, to: &mut [L::Scalar]) -> bool {
    macro_rules! run {
        ($n:literal) => {
            // SAFETY: only lanes that need AVX2 unroll, and those run only where it was detected.
            unsafe { unrolled_sort::<L, $n>(from, width, stride, to) }
        };
    }
    with_network!(from.len(), run)
}

/// The median of rows 0..half and half..rows, each sorted: the r-th smallest of two runs is the least, over all ways to take
/// r values from their beginnings, of the largest value taken.
#[inline(always)]
fn median_of_runs<L: Lanes>(
    half: usize,
    rows: usize,
    width: usize,
    stride: usize,
    sorted: &[L::Scalar],
    out: &mut [L::Scalar],
) {
    assert!(sorted.len() >= rows * stride && width <= stride && width <= out.len());
    assert!(half > 0 && half < rows);
    for column in (0..width).step_by(L::WIDTH) {
        let from = sorted.as_ptr().wrapping_add(column);
        // SAFETY: every row lies inside `sorted`, column + WIDTH ≤ stride, both ranks lie within the rows, and width is
        // a multiple of WIDTH and at most the length of `out`.
        unsafe {
            let low = smallest::<L>(from, stride, half, rows - half, rows.div_ceil(2));
            let high = smallest::<L>(from, stride, half, rows - half, rows / 2 + 1);
            midpoint(low, high).store(out.as_mut_ptr().add(column));
        }
    }
}

/// The r-th smallest of two sorted runs that follow one another.
///
/// # Safety
/// `half + rest` rows, `stride` apart, must be readable at `from`, and 1 ≤ r ≤ half + rest.
#[inline(always)]
unsafe fn smallest<L: Lanes>(from: *const L::Scalar, stride: usize, half: usize, rest: usize, r: usize) -> L {
    // Taking i of the first run and r − i of the second; the ends take nothing from one of them.
    let (fewest, most) = (r.saturating_sub(rest), half.min(r));
    let row = |row: usize| from.wrapping_add(row * stride);
    // SAFETY: every index below is less than half + rest.
    unsafe {
        let mut least = if fewest == 0 {
            L::load(row(half + r - 1))
        } else {
            L::load(row(fewest - 1)).max(L::load(row(half + r - fewest - 1)))
        };
        for i in fewest + 1..most.min(r - 1) + 1 {
            least = least.min(L::load(row(i - 1)).max(L::load(row(half + r - i - 1))));
        }
        if most == r {
            least = least.min(L::load(row(r - 1)));
        }
        least
    }
}

/// Loads row `i` of one vector of columns and notes whether it is admissible.
#[inline(always)]
fn load<L: Lanes>(from: *const L::Scalar, column: usize, flags: &mut L) -> L {
    /// Columns ahead of the loads.
    const AHEAD: usize = 128;
    L::prefetch(from.wrapping_add(column + AHEAD));
    // SAFETY: `strip` gives rows that are readable for `width` columns, and column + WIDTH ≤ width.
    let value = unsafe { L::load(from.add(column)) };
    *flags = value.flag_inadmissible(*flags);
    value
}

/// # Safety
/// The processor must have AVX2 and FMA where it could. Compiled on its own: 31 of them in one function would
/// take the compiler minutes.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
unsafe fn unrolled_median<L: Lanes, const N: usize>(
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
        let mut v: [L; N] = std::array::from_fn(|i| load::<L>(from[i], column, &mut flags));
        Sorter::sort(&mut v);
        // SAFETY: width is a multiple of WIDTH and at most the length of `out`.
        unsafe { midpoint(v[(N - 1) / 2], v[N / 2]).store(out.as_mut_ptr().add(column)) };
    }
    L::is_clean(flags)
}

/// # Safety
/// The processor must have AVX2 and FMA where it could. Compiled on its own: 31 of them in one function would
/// take the compiler minutes.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
unsafe fn unrolled_sort<L: Lanes, const N: usize>(
    from: &[*const L::Scalar],
    width: usize,
    stride: usize,
    to: &mut [L::Scalar],
) -> bool
where
    Sorter: Network<N>,
{
    let from: &[*const L::Scalar; N] = from.try_into().expect("the size was matched");
    assert!(to.len() >= N * stride && width <= stride);
    let mut flags = L::splat(L::Scalar::default());
    for column in (0..width).step_by(L::WIDTH) {
        let mut v: [L; N] = std::array::from_fn(|i| load::<L>(from[i], column, &mut flags));
        Sorter::sort(&mut v);
        for (i, value) in v.iter().enumerate() {
            // SAFETY: `to` holds N rows of `stride` ≥ width numbers.
            unsafe { value.store(to.as_mut_ptr().add(i * stride + column)) };
        }
    }
    L::is_clean(flags)
}

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

#[inline(always)]
fn midpoint<L: Lanes>(a: L, b: L) -> L {
    let zero = L::splat_sum(0.0);
    L::round(zero, 0.5, b.add_to(a.add_to(zero)))
}

/// The value about which means are taken: sums of f32 are exact enough in f64 about zero, f64 ones are not.
#[inline(always)]
fn base_of<L: Lanes>(middle: L) -> L::Sum {
    let zero = L::splat_sum(0.0);
    if size_of::<L::Scalar>() < size_of::<f64>() { zero } else { middle.add_to(zero) }
}

/// Reads the rule's result off sorted rows.
#[inline(always)]
fn finish<L: Lanes>(
    rule: CoordinateRule,
    from: &[*const L::Scalar],
    width: usize,
    sorted: &Scratch<L::Scalar>,
    out: &mut [L::Scalar],
) {
    let m = from.len();
    let stride = sorted.stride();
    assert!(width <= stride && width <= out.len() && sorted.as_slice().len() >= m * stride);
    let zero = L::splat_sum(0.0);
    for column in (0..width).step_by(L::WIDTH) {
        let column_of = sorted.as_slice().as_ptr().wrapping_add(column);
        // SAFETY: row < m, and width is a multiple of WIDTH and at most the length of a row.
        let value = |row: usize| unsafe { L::load(column_of.add(row * stride)) };
        let (low, high) = (value((m - 1) / 2), value(m / 2));
        let mut ties = 0;
        let result = match rule {
            CoordinateRule::Median | CoordinateRule::SignMajority => midpoint(low, high),
            CoordinateRule::TrimmedMean { trim } => {
                let base = base_of(low);
                L::round(base, 1.0 / (m - 2 * trim) as f64, total::<L>(trim..m - trim, value, base))
            }
            CoordinateRule::MeanAroundMedian { keep } => {
                let base = base_of(low);
                let twice = high.add_to(low.add_to(zero));
                // Rows edge..m − edge are kept for certain; `open` more come from the 2·open around them.
                let drop = m - keep;
                let edge = drop.min(m / 2);
                let open = 2 * edge - drop;
                let mut sum = total::<L>(edge..m - edge, value, base);
                for k in 0..open {
                    let (below, above) = (value(edge - 1 - k), value(m - edge + open - 1 - k));
                    let both = above.add_to(below.add_to(zero));
                    ties |= L::equal_bits(twice, both) & !below.same_bits(above);
                    sum = L::select_less(twice, both, below, above).weigh_into(base, 1.0, sum);
                }
                L::round(base, 1.0 / keep as f64, sum)
            }
        };
        // SAFETY: width is a multiple of WIDTH and at most the length of `out`.
        unsafe { result.store(out.as_mut_ptr().add(column)) };
        for lane in (0..L::WIDTH).filter(|lane| ties >> lane & 1 == 1) {
            // SAFETY: column + lane < width, and `strip` gives rows readable for `width` columns.
            let values: Vec<f64> =
                from.iter().map(|row| unsafe { *row.add(column + lane) }.to_f64()).collect();
            out[column + lane] = L::Scalar::from_f64(plain(rule, &values));
        }
    }
}

/// The sum of some rows about `base`, in two halves: one addition need not wait for the other.
#[inline(always)]
fn total<L: Lanes>(rows: std::ops::Range<usize>, value: impl Fn(usize) -> L, base: L::Sum) -> L::Sum {
    let middle = rows.start + rows.len() / 2;
    let zero = L::splat_sum(0.0);
    let (mut low, mut high) = (zero, zero);
    for (a, b) in (rows.start..middle).zip(middle..rows.end) {
        low = value(a).weigh_into(base, 1.0, low);
        high = value(b).weigh_into(base, 1.0, high);
    }
    if rows.len() % 2 == 1 {
        high = value(rows.end - 1).weigh_into(base, 1.0, high);
    }
    L::add_sums(low, high)
}

#[inline(always)]
fn sign_majority<L: Lanes>(from: &[*const L::Scalar], width: usize, out: &mut [L::Scalar]) -> bool {
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

/// The weight of each row in one column: what the rule means, slowly. Weights add up to one.
pub(crate) fn weights(rule: CoordinateRule, values: &[f64]) -> Vec<f64> {
    let m = values.len();
    let mut order: Vec<usize> = (0..m).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let (low, high) = (order[(m - 1) / 2], order[m / 2]);
    let mut weights = vec![0.0; m];
    match rule {
        CoordinateRule::Median => {
            weights[low] += 0.5;
            weights[high] += 0.5;
        }
        CoordinateRule::TrimmedMean { trim } => {
            for &row in &order[trim..m - trim] {
                weights[row] = 1.0 / (m - 2 * trim) as f64;
            }
        }
        CoordinateRule::MeanAroundMedian { keep } => {
            // Twice the distance to the median, without rounding the median: ties must stay ties.
            let twice = |row: usize| ((values[row] - values[low]) + (values[row] - values[high])).abs();
            order.sort_by(|&a, &b| twice(a).total_cmp(&twice(b)).then(a.cmp(&b)));
            for &row in &order[..keep] {
                weights[row] = 1.0 / keep as f64;
            }
        }
        CoordinateRule::SignMajority => {
            let sign = |value: f64| i32::from(value > 0.0) - i32::from(value < 0.0);
            let majority = values.iter().map(|&value| sign(value)).sum::<i32>().signum();
            let agree: Vec<usize> = (0..m).filter(|&row| sign(values[row]) == majority).collect();
            for &row in &agree {
                weights[row] = 1.0 / agree.len() as f64;
            }
        }
    }
    weights
}

/// One column by the plain rule.
pub(crate) fn plain(rule: CoordinateRule, values: &[f64]) -> f64 {
    if rule == CoordinateRule::SignMajority {
        let balance: i32 = values.iter().map(|&v| i32::from(v > 0.0) - i32::from(v < 0.0)).sum();
        return f64::from(balance.signum());
    }
    let weights = weights(rule, values);
    let base = (0..values.len()).find(|&row| weights[row] > 0.0).map_or(0.0, |row| values[row]);
    base + weights.iter().zip(values).map(|(w, v)| w * (v - base)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    /// Every size up to beyond the unrolled networks and their halves, every rule, values with many ties.
    #[test]
    fn agrees_with_the_plain_rule_for_every_number_of_rows() {
        for kernels in [Kernels::Scalar, Kernels::fastest()] {
            for rows in 1..=70usize {
                let width = 64 + rows % 23;
                let mut stream = Stream::new(4, "test", rows as u64, 0);
                let quantised = |draw: f64| if rows % 2 == 0 { (draw * 9.0).floor() } else { draw * 1e3 };
                let data: Vec<Vec<f32>> = (0..rows)
                    .map(|_| (0..width).map(|_| quantised(stream.uniform() - 0.5) as f32).collect())
                    .collect();
                let slices: Vec<&[f32]> = data.iter().map(Vec::as_slice).collect();
                let trim = (rows - 1) / 3;
                for rule in [
                    CoordinateRule::Median,
                    CoordinateRule::TrimmedMean { trim },
                    CoordinateRule::MeanAroundMedian { keep: rows - trim },
                    CoordinateRule::MeanAroundMedian { keep: 1 + rows / 5 },
                    CoordinateRule::SignMajority,
                ] {
                    let mut out = vec![0.0; width];
                    assert!(apply(kernels, rule, &slices, &mut Workspace::new(rule, rows), &mut out));
                    for (column, ours) in out.iter().enumerate() {
                        let values: Vec<f64> = data.iter().map(|row| f64::from(row[column])).collect();
                        let exact = plain(rule, &values);
                        assert!(
                            (f64::from(*ours) - exact).abs() <= 1e-4,
                            "{rule:?} of {rows}: {ours} {exact}"
                        );
                    }
                }
            }
        }
    }
}
