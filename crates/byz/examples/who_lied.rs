//! Aggregates a round in which two of nine workers lie and prints who was trusted, by how much.
//!
//! cargo run --release -p byz --example who_lied

use byz::{Defense, Messages, Options};

fn main() -> byz::Result<()> {
    let mut rows: Vec<Vec<f32>> =
        (0..9).map(|w| vec![1.0 + 0.01 * w as f32, -2.0, 0.5 - 0.02 * w as f32]).collect();
    rows[3] = vec![-100.0, 200.0, -50.0];
    rows[7][1] = f32::NAN;
    let defense = Defense::new("nnm+geometric_median", 2)?;
    let options = Options { explain: true, ..Options::default() };
    let result = defense.aggregate(&Messages::from_rows(&rows), &options)?;
    println!("aggregate {:?}", result.vector);
    for (worker, verdict) in result.verdicts.iter().enumerate() {
        let weight = result.weights.as_ref().map_or(0.0, |weights| weights[worker]);
        println!("worker {worker}: {:<32} weight {weight:.3}", verdict.to_string());
    }
    Ok(())
}
