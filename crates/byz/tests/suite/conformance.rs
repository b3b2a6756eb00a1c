//! What every rule promises, read off the registry: the table is walked, the flags decide what is asked.

use crate::reference::{
    data::{Instance, Look, round, widen},
    run::run,
    vectors::{distance, norm, spread},
};
use byz::{Error, Kernels, Refusal, Scalar, Verdict, aggregators, registry::Properties};

/// Prefixes in front of every rule; each property holds for a pipeline if it holds for all of its parts.
const PREFIXES: [(&str, Properties); 6] = [
    ("", Properties::ALL),
    ("nnm+", Properties::ALL),
    ("bucketing+", Properties { symmetric: false, ..Properties::ALL }),
    ("clipping(radius=100)+", Properties { translation: false, scale: false, ..Properties::ALL }),
    ("adaptive_clipping+", Properties { translation: false, ..Properties::ALL }),
    ("adaptive_clipping+nnm+", Properties { translation: false, ..Properties::ALL }),
];

/// Enough workers for every rule, also behind bucketing: 2·(4f + 3) with f = 2.
const N: usize = 22;
const F: usize = 2;

struct Pipeline {
    expression: String,
    rule: &'static str,
    properties: Properties,
}

fn pipelines() -> Vec<Pipeline> {
    let mut all = Vec::new();
    for (prefix, of_prefix) in PREFIXES {
        for entry in aggregators::TABLE {
            if prefix.contains("bucketing") && entry.name == "monna" {
                continue;
            }
            let of_rule = entry.properties;
            let properties = Properties {
                translation: of_prefix.translation && of_rule.translation,
                scale: of_prefix.scale && of_rule.scale,
                bounded: of_rule.bounded,
                symmetric: of_prefix.symmetric && of_rule.symmetric,
            };
            all.push(Pipeline {
                expression: format!("{prefix}{}", entry.name),
                rule: entry.name,
                properties,
            });
        }
    }
    all
}

/// The aggregate where it must be defined.
fn fine<T: Scalar>(expression: &str, rows: &[Vec<T>], f: usize) -> Vec<f64> {
    let result = run(expression, rows, f, Kernels::fastest());
    widen(&result.unwrap_or_else(|error| panic!("{expression}: {error}")).vector)
}

fn assert_near(label: &str, found: &[f64], expected: &[f64], bound: f64) {
    let error = distance(found, expected);
    assert!(error <= bound, "{label}: off by {error:e}, allowed {bound:e}");
}

fn equal_messages_come_back<T: Scalar>() {
    let row: Vec<T> = round(&(0..70).map(|k| 0.1 / (f64::from(k) + 3.0) - 1e-3).collect::<Vec<_>>());
    for n in [1, 2, 7, N] {
        for f in [0, (n - 1) / 4] {
            for Pipeline { expression, rule, .. } in pipelines() {
                let Ok(result) = run(&expression, &vec![row.clone(); n], f, Kernels::fastest()) else {
                    continue;
                };
                match rule {
                    "sign_majority" => {
                        assert!(
                            result
                                .vector
                                .iter()
                                .zip(&row)
                                .all(|(s, x)| { s.to_f64() == if x.to_f64() > 0.0 { 1.0 } else { -1.0 } })
                        );
                    }
                    // The mean of differences to the origin, not of the rows: equal up to rounding.
                    "centered_clipping" => {
                        assert_near(&expression, &widen(&result.vector), &widen(&row), 1e-7);
                    }
                    _ => assert_eq!(result.vector, row, "{expression} {} n={n} f={f}", T::NAME),
                }
            }
        }
    }
}

#[test]
fn equal_messages_come_back_to_the_bit() {
    equal_messages_come_back::<f32>();
    equal_messages_come_back::<f64>();
}

#[test]
fn the_order_of_the_workers_changes_nothing_but_rounding() {
    for look in [Look::Benign, Look::Outliers(50.0), Look::Colluding(20.0)] {
        let instance = Instance::<f64>::random(look, N, F, 37, 11);
        let order = byz::Stream::new(4, "order", 0, 0).permutation(N);
        let shuffled: Vec<Vec<f64>> = order.iter().map(|&i| instance.rows[i].clone()).collect();
        for Pipeline { expression, .. } in pipelines().iter().filter(|p| p.properties.symmetric) {
            // Ties: subsets often share their diameter, and Bulyan's last picks score mutual nearest neighbours alike.
            if ["minimum_diameter_averaging", "bulyan"].iter().any(|rule| expression.ends_with(rule)) {
                continue;
            }
            let (one, other) = (fine(expression, &instance.rows, F), fine(expression, &shuffled, F));
            assert_near(expression, &other, &one, 1e-9 * instance.spread());
        }
    }
}

#[test]
fn an_offset_of_a_million_spreads_moves_the_result_along() {
    let instance = Instance::<f64>::random(Look::Outliers(30.0), N, F, 37, 12);
    let offset = 1e6 * instance.spread();
    let moved: Vec<Vec<f64>> =
        instance.rows.iter().map(|row| row.iter().map(|x| x + offset).collect()).collect();
    // What the rows became by rounding, moved back exactly.
    let stored: Vec<Vec<f64>> = moved.iter().map(|row| row.iter().map(|x| x - offset).collect()).collect();
    for Pipeline { expression, .. } in pipelines().iter().filter(|p| p.properties.translation) {
        let expected: Vec<f64> = fine(expression, &stored, F).iter().map(|x| x + offset).collect();
        assert_near(expression, &fine(expression, &moved, F), &expected, 1e-8 * instance.spread());
    }
}

#[test]
fn an_offset_in_f32_is_judged_on_the_stored_numbers() {
    let instance = Instance::<f32>::random(Look::Offset(1e4), N, F, 37, 13);
    for Pipeline { expression, .. } in pipelines().iter().filter(|p| p.properties.translation) {
        let (narrow, wide) = (fine(expression, &instance.rows, F), fine(expression, &instance.wide, F));
        let rounding = 6e-8 * norm(&wide);
        assert_near(expression, &narrow, &wide, 1e-4 * instance.spread() + 2.0 * rounding);
    }
}

fn scales_along<T: Scalar>(relative: f64) {
    let instance = Instance::<T>::random(Look::Outliers(30.0), N, F, 37, 14);
    for Pipeline { expression, .. } in pipelines().iter().filter(|p| p.properties.scale) {
        let base = fine(expression, &instance.rows, F);
        // Powers of two near 1e-30 … 1e30 scale without rounding.
        for power in [-100, -60, -20, 20, 60, 100] {
            let scale = 2f64.powi(power);
            let scaled: Vec<Vec<T>> = instance
                .wide
                .iter()
                .map(|row| round(&row.iter().map(|x| x * scale).collect::<Vec<_>>()))
                .collect();
            let expected: Vec<f64> = base.iter().map(|x| x * scale).collect();
            let label = format!("{expression} {} at 2^{power}", T::NAME);
            assert_near(
                &label,
                &fine(expression, &scaled, F),
                &expected,
                relative * instance.spread() * scale,
            );
        }
    }
}

#[test]
fn scales_from_1e_minus_30_to_1e30_scale_the_result() {
    scales_along::<f32>(1e-5);
    scales_along::<f64>(1e-9);
}

/// What up to f workers may send: any size, any bits, together or against one another.
fn attacks<T: Scalar>(d: usize, honest: &[Vec<f64>]) -> Vec<(String, Vec<Vec<T>>)> {
    let constant = |x: f64| round::<T>(&vec![x; d]);
    let mut all: Vec<(String, Vec<Vec<T>>)> = Vec::new();
    for size in [1e3, 1e30, 3e38, -3e38, 1e-40, 1e-45, 0.0] {
        all.push((format!("colluding {size:e}"), vec![constant(size); F]));
        all.push((
            format!("opposite {size:e}"),
            (0..F).map(|i| constant(if i % 2 == 0 { size } else { -size })).collect(),
        ));
    }
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut one = honest[0].clone();
        one[d / 2] = bad;
        all.push((format!("{bad} in one coordinate"), vec![round(&one), constant(bad)]));
        all.push((format!("{bad} beside 1e30"), vec![constant(bad), constant(1e30)]));
    }
    let mut single = honest[1].clone();
    single[d - 1] = 3e38;
    all.push(("one coordinate of 3e38".into(), vec![round(&single); F]));
    all.push(("copies of an honest row".into(), vec![round(&honest[0]); F]));
    let sizes = [1e8, 1e15];
    all.push(("sizes far apart".into(), sizes.iter().map(|&x| constant(x)).collect()));
    all
}

fn outliers_are_bounded<T: Scalar>() {
    let d = 67;
    let instance = Instance::<T>::random(Look::Benign, N - F, 0, d, 15);
    for (name, sent) in attacks::<T>(d, &instance.wide) {
        for at in [0, 7, N - F] {
            let mut rows = instance.rows.clone();
            sent.iter().for_each(|row| rows.insert(at, row.clone()));
            for Pipeline { expression, rule, properties } in pipelines() {
                // monna trusts worker 0: no promise when that is a liar.
                if rule == "monna" && at == 0 {
                    continue;
                }
                let result = run(&expression, &rows, F, Kernels::fastest());
                let label = format!("{expression} {} {name} at {at}", T::NAME);
                let result = result.unwrap_or_else(|error| panic!("{label}: {error}"));
                assert!(result.vector.iter().all(|x| x.to_f64().is_finite()), "{label}: not finite");
                let mean =
                    crate::reference::vectors::mean_of(&instance.wide, &(0..N - F).collect::<Vec<_>>());
                let reach = match rule {
                    "sign_majority" => 2.0 * (d as f64).sqrt() + norm(&mean),
                    "centered_clipping" => 10.0 + norm(&mean),
                    _ => spread(&instance.wide),
                };
                if properties.bounded {
                    assert_near(&label, &widen(&result.vector), &mean, reach);
                }
            }
        }
    }
}

#[test]
fn up_to_f_outliers_of_any_size_leave_the_result_near_the_honest_rows_in_f32() {
    outliers_are_bounded::<f32>();
}

#[test]
fn up_to_f_outliers_of_any_size_leave_the_result_near_the_honest_rows_in_f64() {
    outliers_are_bounded::<f64>();
}

#[test]
fn too_few_messages_are_refused_by_name_with_a_verdict_on_every_worker() {
    for entry in aggregators::TABLE.iter().filter(|entry| entry.name != "mean") {
        for n in 1..=8usize {
            let rows = vec![vec![1.0f32, 2.0]; n];
            for f in 0..=n {
                let needed = match entry.name {
                    "krum" | "multi_krum" => f + 3,
                    "bulyan" => 4 * f + 1,
                    "divide_and_conquer" => f + 1,
                    _ => 2 * f + 1,
                };
                match run(entry.name, &rows, f, Kernels::Scalar) {
                    Ok(_) => assert!(n >= needed, "{} took n={n} f={f}", entry.name),
                    Err(Error::Refused {
                        reason: Refusal::Undefined { rule, messages, tolerance, .. },
                        verdicts,
                    }) => {
                        assert!(n < needed, "{} refused n={n} f={f}", entry.name);
                        assert_eq!((rule, messages, tolerance), (entry.name, n, f));
                        assert_eq!(verdicts, vec![Verdict::Used; n]);
                    }
                    Err(other) => panic!("{}: {other}", entry.name),
                }
            }
        }
    }
}
