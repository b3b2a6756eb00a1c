//! Rules at small and middle dimensions, where n×n planning counts. `byz bench` measures large ones in reads.
//!
//! cargo bench -p byz

use byz::{Defense, Messages, Options, Stream};

fn main() {
    divan::main();
}

const RULES: [&str; 8] = [
    "mean",
    "median",
    "krum",
    "geometric_median",
    "nnm+geometric_median(iterations=8)",
    "nnm+trimmed_mean",
    "smea",
    "minimum_diameter_averaging",
];

#[divan::bench(args = RULES, consts = [10, 1_000, 100_000])]
fn aggregate<const D: usize>(bencher: divan::Bencher<'_, '_>, rule: &str) {
    let mut stream = Stream::new(0, "bench", 0, 0);
    let rows: Vec<Vec<f32>> = (0..20).map(|_| (0..D).map(|_| stream.uniform() as f32).collect()).collect();
    let defense = Defense::new(rule, 3).expect("the rule is known");
    let messages = Messages::from_rows(&rows);
    bencher.bench(|| defense.aggregate(&messages, &Options::default()));
}
