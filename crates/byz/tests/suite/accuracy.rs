//! A common vector of norm 1e3 with differences of 1e-3, in f32, d = 1e5: what a Gram matrix gets wrong.
//!
//! Everything is judged by f64 arithmetic on the stored f32 numbers.

use crate::reference::{
    Rows,
    data::{normals, widen},
    geometric_median, mixers,
    run::{rows_note, run},
    vectors::{ascending, distance, norm, squared_distances},
};
use byz::{Aggregate, Kernels, Stream};

const N: usize = 20;
const F: usize = 4;
const D: usize = 100_000;

/// Honest rows a common vector apart from zero and 1e-3 from it; the first `far.len()` are that far away instead.
struct Cloud {
    rows: Vec<Vec<f32>>,
    wide: Rows,
    squared: Rows,
    liars: usize,
}

impl Cloud {
    fn new(seed: u64, far: &[f64]) -> Cloud {
        Cloud::of(D, seed, far)
    }

    fn of(dimension: usize, seed: u64, far: &[f64]) -> Cloud {
        let unit = 1.0 / (dimension as f64).sqrt();
        let mut stream = Stream::new(seed, "cloud", 0, 0);
        let common = normals(&mut stream, dimension, 1e3 * unit);
        let row = |i: usize| {
            let size = far.get(i).copied().unwrap_or(1e-3);
            let difference = normals(&mut Stream::new(seed, "row", i as u64, 0), dimension, size * unit);
            common.iter().zip(difference).map(|(c, x)| (c + x) as f32).collect()
        };
        let rows: Vec<Vec<f32>> = (0..N).map(row).collect();
        let wide: Rows = rows.iter().map(|row| widen(row)).collect();
        let squared = squared_distances(&wide);
        Cloud { rows, wide, squared, liars: far.len() }
    }

    /// The largest distance between honest rows.
    fn spread(&self) -> f64 {
        let honest = self.liars..N;
        honest
            .clone()
            .flat_map(|i| honest.clone().map(move |j| (i, j)))
            .fold(0.0f64, |s, (i, j)| s.max(self.squared[i][j]))
            .sqrt()
    }

    fn krum_scores(&self, neighbors: usize) -> Vec<f64> {
        let score = |row: &Vec<f64>| {
            let mut row = row.clone();
            row.sort_by(f64::total_cmp);
            row[1..=neighbors].iter().sum()
        };
        self.squared.iter().map(score).collect()
    }
}

/// Benign, one row 1e8 away, four rows at 1e30, and a mixture.
fn clouds() -> impl Iterator<Item = (u64, Vec<f64>)> {
    let far = [vec![], vec![1e8], vec![1e30; F], vec![1e30, 1e8, 1.0, 1e-2]];
    (1..=2).flat_map(move |seed| far.clone().into_iter().map(move |far| (seed, far)))
}

fn sorted(mut rows: Vec<usize>) -> Vec<usize> {
    rows.sort_unstable();
    rows
}

fn selected(result: byz::Result<Aggregate<f32>>) -> Vec<usize> {
    rows_note(&result.expect("defined"), "selected").expect("the choice is noted")
}

#[test]
fn every_neighbour_set_of_honest_rows_equals_the_f64_reference() {
    for (seed, far) in clouds() {
        let cloud = Cloud::new(seed, &far);
        for i in cloud.liars..N {
            let expected = sorted(ascending(&cloud.squared[i])[..N - F].to_vec());
            let rule = format!("monna(trusted={i})");
            let found = selected(run(&rule, &cloud.rows, F, Kernels::fastest()));
            assert_eq!(sorted(found), expected, "seed {seed}, {far:?}, row {i}");
        }
    }
}

/// In few dimensions, where f64 can tell which of the others are nearest to a row 1e8 away; in many, its own sums cannot.
#[test]
fn the_neighbour_set_of_a_row_far_away_equals_the_f64_reference() {
    for seed in 1..=20 {
        let cloud = Cloud::of(200, seed, &[1e8]);
        let expected = sorted(ascending(&cloud.squared[0])[..N - F].to_vec());
        let found = selected(run("monna(trusted=0)", &cloud.rows, F, Kernels::fastest()));
        assert_eq!(sorted(found), expected, "seed {seed}");
    }
}

#[test]
fn every_choice_of_krum_equals_the_f64_reference() {
    for (seed, far) in clouds() {
        let cloud = Cloud::new(seed, &far);
        for (neighbors, name) in [(N - F - 2, "n-f-2"), (N - F - 1, "n-f-1"), (3, "3")] {
            let scores = cloud.krum_scores(neighbors);
            for kernels in Kernels::available() {
                let rule = format!("krum(neighbors={name})");
                assert_eq!(
                    selected(run(&rule, &cloud.rows, F, kernels)),
                    ascending(&scores)[..1],
                    "seed {seed}, {far:?}"
                );
                let rule = format!("multi_krum(neighbors={name})");
                let found = selected(run(&rule, &cloud.rows, F, kernels));
                assert_eq!(found, ascending(&scores)[..N - F - 2], "seed {seed}, {far:?}");
            }
        }
        let (mixed, _) = mixers::nearest_neighbor_mixing(&cloud.wide, F);
        let found = run("nnm+krum", &cloud.rows, F, Kernels::fastest()).expect("defined");
        let nearest =
            (0..N).map(|i| distance(&mixed[i], &widen(&found.vector))).fold(f64::INFINITY, f64::min);
        assert!(
            nearest <= 6e-8 * norm(&mixed[N - 1]),
            "seed {seed}, {far:?}: no mixed row, {nearest:e} away"
        );
    }
}

/// Off by at most 1e-3 of the honest spread beyond what storing the result in f32 costs.
#[test]
fn the_geometric_median_with_and_without_mixing_is_within_a_thousandth_of_the_spread() {
    let mut worst: f64 = 0.0;
    for (seed, far) in clouds().filter(|(seed, _)| *seed == 1) {
        let cloud = Cloud::new(seed, &far);
        let (mixed, _) = mixers::nearest_neighbor_mixing(&cloud.wide, F);
        for (rule, rows) in [("geometric_median", &cloud.wide), ("nnm+geometric_median", &mixed)] {
            let expected = weiszfeld(rows);
            let found = run(rule, &cloud.rows, F, Kernels::fastest()).expect("defined");
            // The weights tell what was decided, free of the rounding of the stored result.
            let weights = found.weights.expect("a combination has weights");
            let decided = crate::reference::vectors::weighted_mean(&cloud.wide, &weights);
            let error = distance(&decided, &expected) / cloud.spread();
            worst = worst.max(error);
            assert!(error <= 1e-3, "{rule} seed {seed} {far:?}: off by {error:e} of the spread");
            let stored = distance(&widen(&found.vector), &expected);
            assert!(
                stored <= 1e-3 * cloud.spread() + 6e-8 * norm(&expected),
                "{rule} {far:?}: stored {stored:e}"
            );
        }
    }
    println!("geometric median: at most {worst:.1e} of the honest spread");
}

/// Enough iterations for a cloud of independent rows, from a start that no outlier moves.
fn weiszfeld(rows: &Rows) -> Vec<f64> {
    let mut z = rows[N - 1].clone();
    for _ in 0..60 {
        let next = geometric_median::step(rows, &z);
        let moved = distance(&next, &z);
        z = next;
        if moved <= 1e-9 {
            break;
        }
    }
    z
}

/// Rows of norm 1 beside one of 1e30: every digit of an f32 survives.
#[test]
fn clipping_beside_a_row_of_1e30_is_exact_to_f32_rounding() {
    let mut worst: f64 = 0.0;
    let unit = 1.0 / (D as f64).sqrt();
    let row = |i: usize| {
        let size = if i == 3 { 1e30 } else { 1.0 };
        normals(&mut Stream::new(i as u64, "clip", 0, 0), D, size * unit).iter().map(|&x| x as f32).collect()
    };
    let rows: Vec<Vec<f32>> = (0..N).map(row).collect();
    let wide: Rows = rows.iter().map(|row| widen(row)).collect();
    for rule in [
        "clipping(radius=0.5)+mean",
        "centered_clipping(radius=0.5)",
        "centered_clipping(radius=0.5,iterations=3)",
        "arc+mean",
        "arc+median",
        "arc+trimmed_mean",
        "clipping(radius=0.5)+median",
    ] {
        let expected = crate::reference::evaluate(rule, &wide, F, None).vector;
        let found = widen(&run(rule, &rows, F, Kernels::fastest()).expect("defined").vector);
        let error = distance(&found, &expected) / norm(&expected);
        println!("{rule} beside 1e30: relative error {error:.1e}");
        worst = worst.max(error);
        assert!(error <= 2e-7, "{rule}: relative error {error:e}");
    }
}

#[test]
fn extra_passes_are_taken_only_where_distances_would_cancel() {
    let rules = [
        "krum",
        "geometric_median",
        "nnm+krum",
        "nnm+geometric_median",
        "nnm+median",
        "bucketing+krum",
        "smea",
        "caf",
    ];
    let benign = Cloud::new(5, &[]);
    for rule in rules {
        let result = run(rule, &benign.rows, F, Kernels::fastest()).expect("defined");
        assert_eq!(result.extra_passes, 0, "{rule} on benign rows");
    }
    let far = Cloud::new(5, &[1e30]);
    for (rule, needed) in
        [("geometric_median", true), ("nnm+geometric_median", true), ("krum", false), ("median", false)]
    {
        let result = run(rule, &far.rows, F, Kernels::fastest()).expect("defined");
        assert_eq!(result.extra_passes > 0, needed, "{rule} beside 1e30");
    }
}
