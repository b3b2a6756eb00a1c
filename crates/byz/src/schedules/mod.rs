//! How the rate changes from round to round. One schedule per file.

mod constant;
mod doubling;
mod inverse_sqrt;
mod theory;
mod warmup;

use crate::registry::Entry;

/// What a schedule says about one round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// The learning rate γ of this round.
    pub rate: f64,
    /// The momentum parameter η, where the schedule sets it too.
    pub momentum: Option<f64>,
    /// Whether momentum starts afresh before this round.
    pub restart: bool,
}

/// A sequence of rates.
pub trait Schedule: Send + Sync {
    /// Round `round` (1, 2, …) of a run of `rounds`, with base rate γ₀.
    fn pace(&self, base: f64, round: u64, rounds: u64) -> Pace;
}

/// Every schedule.
pub static TABLE: &[Entry<dyn Schedule>] =
    &[constant::ENTRY, inverse_sqrt::ENTRY, theory::ENTRY, doubling::ENTRY];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::read;

    #[test]
    fn rates_are_positive_never_above_the_base_and_proportional_to_it() {
        for entry in TABLE {
            for arguments in ["", "(warmup=7)"] {
                let schedule = read("schedule", TABLE, &format!("{}{arguments}", entry.name)).unwrap();
                for round in (1..200).chain([10_000, 1 << 40, u64::MAX]) {
                    let Pace { rate, momentum, restart } = schedule.pace(0.5, round, 200);
                    assert!(rate > 0.0 && rate <= 0.5, "{} {round}: {rate}", entry.name);
                    assert!(momentum.is_none_or(|momentum| momentum > 0.0 && momentum <= 1.0));
                    assert!(!restart);
                    assert_eq!(schedule.pace(1.0, round, 200).rate, 2.0 * rate);
                }
            }
        }
    }

    #[test]
    fn a_warm_up_rises_to_the_rate_itself() {
        for entry in TABLE {
            let plain = read("schedule", TABLE, entry.name).unwrap();
            let ramped = read("schedule", TABLE, &format!("{}(warmup=4)", entry.name)).unwrap();
            for (round, share) in [(1, 0.25), (2, 0.5), (3, 0.75), (4, 1.0), (5, 1.0)] {
                let full = plain.pace(1.0, round, 10);
                assert_eq!(
                    ramped.pace(1.0, round, 10),
                    Pace { rate: full.rate * share, ..full },
                    "{}",
                    entry.name
                );
            }
        }
    }

    #[test]
    fn moments_out_of_range_are_named() {
        for expression in
            ["theory(moment=1)", "theory(moment=2.1)", "doubling(moment=0.5)", "doubling(first=0)"]
        {
            assert!(read("schedule", TABLE, expression).is_err(), "{expression}");
        }
    }
}
