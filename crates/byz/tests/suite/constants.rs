//! Robustness coefficients against every small case: all messages from a few values, every choice of the honest ones, in whole
//! numbers.

use crate::reference::distance::subsets;
use byz::{
    Defense,
    theory::{Counts, Definition},
};

/// Multiples of this are exact: it has every n − 2f, G and 2 up to 7 as factors.
const UNIT: i64 = 2 * 420;

/// The rule's answer in units, from the definition.
fn answer(rule: &str, values: &[i64], f: usize) -> i64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let n = sorted.len();
    match rule {
        "trimmed_mean" => UNIT / (n - 2 * f) as i64 * sorted[f..n - f].iter().sum::<i64>(),
        _ => UNIT / 2 * (sorted[(n - 1) / 2] + sorted[n / 2]),
    }
}

/// Error and spread for one choice of the honest ones, as whole numbers in one unit: ratio = error / spread.
fn compare(answer: i64, honest: &[i64], definition: Definition) -> (i64, i64) {
    let g = honest.len() as i64;
    let sum: i64 = honest.iter().sum();
    // Everything times G, so that the mean is whole: |G·F − UNIT·Σx| against the mean of |UNIT·(G·x − Σx)|.
    let error = (g * answer - UNIT * sum).abs();
    let apart = honest.iter().map(|x| (UNIT * (g * x - sum)).abs());
    match definition {
        Definition::Linear => (g * error, apart.sum()),
        Definition::Squared => (g * error * error, apart.map(|x| x * x).sum()),
    }
}

/// The largest ratio of all messages with these values, as a fraction.
fn worst(rule: &str, n: usize, f: usize, values: &[i64], definition: Definition) -> (i64, i64) {
    let defense = Defense::new(rule, f).expect("a rule");
    let mut worst = (0, 1);
    for code in 0..values.len().pow(n as u32) {
        let messages: Vec<i64> =
            (0..n).map(|k| values[code / values.len().pow(k as u32) % values.len()]).collect();
        let answer = answer(rule, &messages, f);
        let rows: Vec<[f64; 1]> = messages.iter().map(|&x| [x as f64]).collect();
        let ours =
            defense.aggregate(&byz::Messages::from_rows(&rows), &byz::Options::default()).expect("defined");
        assert!((ours.vector[0] - answer as f64 / UNIT as f64).abs() < 1e-12, "{rule} {messages:?}");
        subsets(n, n - f, |honest| {
            let honest: Vec<i64> = honest.iter().map(|&k| messages[k]).collect();
            let (error, spread) = compare(answer, &honest, definition);
            assert!(spread > 0 || error == 0, "{rule} {messages:?}: an error without a spread");
            if spread > 0
                && i128::from(error) * i128::from(worst.1) > i128::from(worst.0) * i128::from(spread)
            {
                worst = (error, spread);
            }
        });
    }
    worst
}

#[test]
fn exact_coefficients_are_the_largest_ratios_of_all_small_cases() {
    for (n, f) in [(3, 1), (4, 1), (5, 1), (5, 2), (6, 1), (6, 2), (7, 1), (7, 2), (7, 3)] {
        let values: &[i64] = if n < 7 { &[0, 1, 3] } else { &[0, 1] };
        for rule in ["trimmed_mean", "median"] {
            for definition in [Definition::Linear, Definition::Squared] {
                let counts = Counts { messages: n, tolerance: f, dimension: 1, definition, leverage: None };
                let exact = Defense::new(rule, f).expect("a rule").robustness(&counts).exact.unwrap();
                let (error, spread) = worst(rule, n, f, values, definition);
                let largest = error as f64 / spread as f64;
                assert!(
                    (largest / exact - 1.0).abs() < 1e-12,
                    "{rule} {n} {f} {definition:?}: {largest} {exact}"
                );
            }
        }
    }
}

/// The largest ratio of a rule's own answers to all messages on this grid.
fn worst_answer(rule: &str, counts: &Counts, points: &[&[f64]]) -> f64 {
    let (n, f) = (counts.messages, counts.tolerance);
    let defense = Defense::new(rule, f).expect("a rule");
    let mut worst = 0.0f64;
    for code in 0..points.len().pow(n as u32) {
        let rows: Vec<&[f64]> =
            (0..n).map(|k| points[code / points.len().pow(k as u32) % points.len()]).collect();
        let answer = defense.aggregate(&byz::Messages::from_rows(&rows), &byz::Options::default());
        let answer = answer.expect("defined").vector;
        subsets(n, n - f, |honest| {
            let mean: Vec<f64> = (0..counts.dimension)
                .map(|k| honest.iter().map(|&i| rows[i][k]).sum::<f64>() / (n - f) as f64)
                .collect();
            let apart = |row: &[f64]| {
                let squared: f64 = row.iter().zip(&mean).map(|(a, b)| (a - b) * (a - b)).sum();
                if counts.definition == Definition::Linear { squared.sqrt() } else { squared }
            };
            let spread = honest.iter().map(|&i| apart(rows[i])).sum::<f64>() / (n - f) as f64;
            // Grid points that are not all one are at least 1/n from their mean; anything less is rounding.
            if spread > 1e-3 {
                worst = worst.max(apart(&answer) / spread);
            } else {
                assert!(apart(&answer) < 1e-12, "{rule} {rows:?}: an error without a spread");
            }
        });
    }
    worst
}

#[test]
fn no_small_case_exceeds_a_proved_coefficient() {
    let line: &[&[f64]] = &[&[0.0], &[1.0], &[3.0]];
    let square: &[&[f64]] = &[&[0.0, 0.0], &[0.0, 1.0], &[1.0, 0.0], &[1.0, 1.0]];
    let rules = ["mean_around_median", "geometric_median", "krum", "multi_krum", "mda"];
    let mixed = ["nnm+median", "nnm+trimmed_mean", "nnm+geometric_median", "nnm+krum"];
    for (n, f) in [(3, 1), (4, 1), (5, 1), (5, 2), (6, 2)] {
        for rule in rules.into_iter().chain(mixed) {
            let defense = Defense::new(rule, f).expect("a rule");
            if defense.check_counts(n, f).is_err() {
                continue;
            }
            for definition in [Definition::Linear, Definition::Squared] {
                for (dimension, points) in [(1, line), (2, square)] {
                    let counts = Counts { messages: n, tolerance: f, dimension, definition, leverage: None };
                    let Some(proved) = defense.robustness(&counts).proved else { continue };
                    let worst = worst_answer(rule, &counts, points);
                    let context = format!("{rule} n={n} f={f} {definition:?} {dimension}: {worst} {proved}");
                    assert!(worst <= proved * (1.0 + 1e-12), "{context}");
                    assert!(worst >= counts.lower_bound() * (1.0 - 1e-12), "{context}");
                }
            }
        }
    }
}
