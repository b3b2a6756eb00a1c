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
    let clean = if unrolled {
        macro_rules! run {
            ($n:literal) => {
                // SAFETY: as for the median.
                unsafe { unrolled_sort::<L, $n>(from, width, &mut space.strip) }
            };
        }
        with_network!(rows, run)
    } else {
        let clean = gather::<L>(from, width, &mut space.strip);
        let stride = space.strip.stride();
        networks::run::<L>(&space.table, &mut space.strip.as_mut_slice()[..rows * stride], stride, width);
        clean
    };
    if clean {
        finish::<L>(rule, from, width, &space.strip, out);
    }
    clean
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
    to: &mut Scratch<L::Scalar>,
) -> bool
where
    Sorter: Network<N>,
{
    let from: &[*const L::Scalar; N] = from.try_into().expect("the size was matched");
    let stride = to.stride();
    let to = to.as_mut_slice();
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
    assert!(width <= sorted.stride() && width <= out.len());
    let zero = L::splat_sum(0.0);
    for column in (0..width).step_by(L::WIDTH) {
        // SAFETY: width is a multiple of WIDTH and at most the length of a row.
        let value = |row: usize| unsafe { L::load(sorted.row(row).as_ptr().add(column)) };
        let (low, high) = (value((m - 1) / 2), value(m / 2));
        let mut ties = 0;
        let result = match rule {
            CoordinateRule::Median | CoordinateRule::SignMajority => midpoint(low, high),
            CoordinateRule::TrimmedMean { trim } => {
                let base = base_of(low);
                let mut sum = zero;
                for row in trim..m - trim {
                    sum = value(row).weigh_into(base, 1.0, sum);
                }
                L::round(base, 1.0 / (m - 2 * trim) as f64, sum)
            }
            CoordinateRule::MeanAroundMedian { keep } => {
                let base = base_of(low);
                let twice = high.add_to(low.add_to(zero));
                // Rows edge..m − edge are kept for certain; `open` more come from the 2·open around them.
                let drop = m - keep;
                let edge = drop.min(m / 2);
                let open = 2 * edge - drop;
                let mut sum = zero;
                for row in edge..m - edge {
                    sum = value(row).weigh_into(base, 1.0, sum);
                }
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
            let median = 0.5 * (values[low] + values[high]);
            order.sort_by(|&a, &b| {
                (values[a] - median).abs().total_cmp(&(values[b] - median).abs()).then(a.cmp(&b))
            });
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
