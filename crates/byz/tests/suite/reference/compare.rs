//! Holds the library against the reference on seeded instances.

use super::{
    data::{Instance, Look, round, widen},
    evaluate,
    geometric_median::{collinear, objective},
    mixed,
    run::{rows_note, run_with},
    vectors::{distance, norm},
};
use byz::{Kernels, Scalar, Stream};

const SIZES: [usize; 17] = [1, 2, 3, 5, 7, 8, 9, 15, 17, 31, 33, 63, 64, 65, 100, 129, 300];
/// What rounding allows, relative to the honest spread, and the least margin of a choice that rounding cannot turn.
fn allowance<T: Scalar>(expression: &str) -> (f64, f64) {
    let iterative =
        ["geometric_median", "caf", "centered_clipping"].iter().any(|name| expression.contains(name));
    match (T::NAME, iterative) {
        ("float32", false) => (2e-6, 1e-5),
        ("float32", true) => (2e-4, 1e-5),
        (_, false) => (1e-12, 1e-11),
        (_, true) => (1e-8, 1e-10),
    }
}

#[derive(Default)]
struct Tally {
    compared: usize,
    skipped: usize,
    worst: f64,
}

/// Compares one instance; skips it where a choice hangs on rounding.
fn compare<T: Scalar>(expression: &str, instance: &Instance<T>, tally: &mut Tally) {
    let (relative, least_margin) = allowance::<T>(expression);
    let d = instance.rows[0].len();
    let center: Vec<T> = round(&vec![0.25; d]);
    let answer = evaluate(expression, &instance.wide, instance.f, Some(&widen(&center)));
    // Unmixed rows that tie in the reference tie in the library too, and the index decides.
    let exact_tie = answer.margin == 0.0 && !expression.contains('+') && !expression.contains("geometric");
    if answer.margin < least_margin && !exact_tie {
        tally.skipped += 1;
        return;
    }
    let (_, mixed, _) = mixed(expression, &instance.wide, instance.f);
    let exact_median = expression.contains("geometric_median") && !expression.contains("iterations=");
    let flat = exact_median && collinear(&mixed);
    // Where outliers take part, rounding is relative to them.
    let bounded = !["mean", "monna", "divide_and_conquer"].iter().any(|rule| expression.ends_with(rule));
    let largest = instance.wide.iter().map(|row| norm(row)).fold(0.0, f64::max);
    for kernels in Kernels::available() {
        let result = run_with(expression, &instance.rows, instance.f, kernels, Some(&center));
        let (n, f) = (instance.rows.len(), instance.f);
        let label = || format!("{expression} {} {:?} n={n} f={f} d={d}", T::NAME, instance.look);
        let result = result.unwrap_or_else(|error| panic!("{}: {error}", label()));
        let found = widen(&result.vector);
        let (spread, error) = (instance.spread(), distance(&found, &answer.vector));
        let ulp = if T::NAME == "float32" { 6e-8 } else { 2e-16 };
        let rounding = ulp * if bounded { norm(&answer.vector) } else { largest };
        let bound = relative * spread + 2.0 * rounding;
        if flat {
            let (ours, least) = (objective(&mixed, &found), objective(&mixed, &answer.vector));
            let slack = 10.0 * ulp * least + 8.0 * rounding * mixed.len() as f64;
            assert!(ours <= least + slack, "{}: {ours} > {least}", label());
            continue;
        }
        assert!(error <= bound, "{}: off by {error:e}, spread {spread:e}, kernels {kernels:?}", label());
        if let (Some(found), Some(expected)) = (rows_note(&result, "selected"), &answer.selected) {
            let as_sets = |mut rows: Vec<usize>| {
                rows.sort_unstable();
                rows.iter().map(|&i| instance.wide[i].clone()).collect::<Vec<_>>()
            };
            if !expression.contains('+') {
                assert_eq!(as_sets(found), as_sets(expected.clone()), "{}", label());
            }
        }
        tally.compared += 1;
        tally.worst = tally.worst.max((error - 2.0 * rounding).max(0.0) / spread.max(f64::MIN_POSITIVE));
    }
}

/// Counts for which a rule is defined, up to `most` workers.
fn counts(stream: &mut Stream, most: usize, defined: impl Fn(usize, usize) -> bool) -> (usize, usize) {
    loop {
        let n = 1 + stream.below(most as u64) as usize;
        let f = stream.below((n as u64).div_ceil(2)) as usize;
        if defined(n, f) {
            return (n, f);
        }
    }
}

fn check_type<T: Scalar>(
    expression: &str,
    looks: &[Look],
    most: usize,
    trials: u64,
    defined: fn(usize, usize) -> bool,
) {
    let mut tally = Tally::default();
    for trial in 0..trials {
        let mut stream = Stream::new(trial, expression, 0, 0);
        let (n, f) = counts(&mut stream, most, defined);
        let d = SIZES[stream.below(SIZES.len() as u64) as usize];
        let look = looks[trial as usize % looks.len()];
        compare(expression, &Instance::<T>::random(look, n, f, d, trial), &mut tally);
    }
    let Tally { compared, skipped, worst } = tally;
    println!(
        "{expression} {}: {compared} compared, {skipped} skipped, worst {worst:.1e} of the spread",
        T::NAME
    );
    assert!(compared > 0 && skipped as u64 <= trials / 2, "{expression}: {skipped} of {trials} skipped");
}

/// Compares `trials` instances in both types; skips those where a choice hangs on rounding.
pub(crate) fn check(
    expression: &str,
    looks: &[Look],
    most: usize,
    trials: u64,
    defined: fn(usize, usize) -> bool,
) {
    check_type::<f32>(expression, looks, most, trials, defined);
    check_type::<f64>(expression, looks, most, trials, defined);
}
