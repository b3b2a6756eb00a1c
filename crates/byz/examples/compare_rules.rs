//! What several rules make of the same round, and what they tell about it.
//!
//! cargo run --release -p byz --example compare_rules

use byz::{Defense, Messages, Options};

fn main() -> byz::Result<()> {
    let rows =
        [vec![0.0, 0.0], vec![1.0, 0.0], vec![0.0, 1.0], vec![1.0, 1.0], vec![0.4, 0.6], vec![90.0, -90.0]];
    for rule in ["mean", "krum(neighbors=n-f-1)", "median", "geometric_median", "minimum_diameter_averaging"]
    {
        let result = Defense::new(rule, 1)?.aggregate(&Messages::from_rows(&rows), &Options::default())?;
        println!("{rule:<28} {:?}", result.vector);
        for (name, note) in &result.notes {
            println!("{:>28} {name}: {note:?}", "");
        }
    }
    Ok(())
}
