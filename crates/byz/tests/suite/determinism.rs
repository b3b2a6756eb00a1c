//! Same bits whatever the threads, the layout and the repetition; another round, another shuffle.

use crate::reference::{
    data::{Instance, Look, widen},
    vectors::distance,
};
use byz::{
    Aggregate, Defense, Engine, Kernels, Message, Messages, Options, Row, Scalar, Stored, Strided,
    aggregators,
};

const N: usize = 11;
const F: usize = 2;

fn expressions() -> Vec<String> {
    let pipelines = [
        "nnm+median",
        "nnm+geometric_median",
        "arc+nnm+trimmed_mean",
        "bucketing+median",
        "clipping+krum",
        "divide_and_conquer(coordinates=500,iterations=2)",
    ];
    let rules = aggregators::TABLE.iter().map(|entry| entry.name);
    rules.chain(pipelines).map(String::from).collect()
}

fn options<T: Scalar>(threads: usize, kernels: Kernels, round: u64) -> Options<'static, T> {
    let engine = Engine { threads, kernels, progress: None };
    Options { engine, round, explain: true, ..Options::default() }
}

fn tolerance(expression: &str) -> usize {
    if expression.contains("bucketing") { 1 } else { F }
}

fn aggregate<T: Scalar>(
    expression: &str,
    messages: &Messages<'_, T>,
    options: &Options<'_, T>,
) -> Aggregate<T> {
    let defense = Defense::new(expression, tolerance(expression)).expect("a valid expression");
    defense.aggregate(messages, options).unwrap_or_else(|error| panic!("{expression}: {error}"))
}

/// Equal results with equal bits: comparing numbers would let −0 pass for 0.
fn assert_same<T: Scalar>(label: &str, one: &Aggregate<T>, other: &Aggregate<T>) {
    assert_eq!(one, other, "{label}");
    let bits = |result: &Aggregate<T>| result.vector.iter().map(|x| x.to_f64().to_bits()).collect::<Vec<_>>();
    assert!(bits(one) == bits(other), "{label}: the bits differ");
}

fn threads_do_not_matter<T: Scalar>(d: usize) {
    for look in [Look::Benign, Look::Outliers(1e9)] {
        let instance = Instance::<T>::random(look, N, F, d, 41);
        let messages = Messages::from_rows(&instance.rows);
        for expression in expressions() {
            let one = aggregate(&expression, &messages, &options(1, Kernels::fastest(), 0));
            for threads in [2, 3, 8] {
                let many = aggregate(&expression, &messages, &options(threads, Kernels::fastest(), 0));
                assert_same(&format!("{expression} with {threads} threads"), &one, &many);
            }
        }
    }
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    threads_do_not_matter::<f32>(100_003);
    threads_do_not_matter::<f64>(100_001);
}

#[test]
fn strided_rows_give_the_bits_of_contiguous_ones() {
    let d = 20_011;
    let instance = Instance::<f32>::random(Look::Outliers(50.0), N, F, d, 42);
    // Worker after worker within a coordinate, as a Fortran matrix lies.
    let columns: Vec<f32> = (0..d).flat_map(|k| instance.rows.iter().map(move |row| row[k])).collect();
    let strided: Vec<Strided<'_, f32>> =
        (0..N).map(|i| Strided::new(&columns[i..], N, d).expect("long enough")).collect();
    assert_eq!(strided[0].len(), d);
    let workers = strided.iter().map(|row| Message::Row(Row::Stored(row))).collect();
    let scattered = Messages { workers, dimension: None };
    for expression in expressions() {
        for kernels in Kernels::available() {
            let options = options(2, kernels, 0);
            let contiguous = aggregate(&expression, &Messages::from_rows(&instance.rows), &options);
            assert_same(&expression, &contiguous, &aggregate(&expression, &scattered, &options));
        }
    }
}

#[test]
fn scalar_and_fast_kernels_agree_within_rounding() {
    fn check<T: Scalar>(relative: f64) {
        let instance = Instance::<T>::random(Look::Outliers(50.0), N, F, 3_001, 43);
        let messages = Messages::from_rows(&instance.rows);
        for expression in expressions() {
            let plain = aggregate(&expression, &messages, &options(1, Kernels::Scalar, 0));
            for kernels in Kernels::available() {
                let fast = aggregate(&expression, &messages, &options(1, kernels, 0));
                let error = distance(&widen(&plain.vector), &widen(&fast.vector)) / instance.spread();
                assert!(error <= relative, "{expression} {} {kernels:?}: {error:e} of the spread", T::NAME);
            }
        }
    }
    check::<f32>(1e-5);
    check::<f64>(1e-12);
}

#[test]
fn the_same_seed_and_round_repeat_and_another_round_or_seed_shuffles_anew() {
    let instance = Instance::<f64>::random(Look::Benign, N, F, 2_000, 44);
    let messages = Messages::from_rows(&instance.rows);
    let drawn = "divide_and_conquer(coordinates=3,factor=2";
    for (expression, reseeded) in [
        ("bucketing+median".to_string(), "bucketing(seed=1)+median".to_string()),
        (format!("{drawn})"), format!("{drawn},seed=1)")),
    ] {
        let run = |expression: &str, round| {
            aggregate(expression, &messages, &options(1, Kernels::fastest(), round))
        };
        let first = run(&expression, 0);
        assert_same(&expression, &first, &run(&expression, 0));
        let rounds = (1..6).filter(|&round| run(&expression, round).vector != first.vector).count();
        assert!(rounds >= 4, "{expression}: other rounds draw anew");
        assert_ne!(first.vector, run(&reseeded, 0).vector, "{reseeded}");
    }
}
