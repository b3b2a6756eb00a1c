//! Messages that make a defence err: hill climbing from structured starts.
//!
//! An instance is n rows, with the Byzantine ones last or, because ties go to the lowest index, first. Its ratio is the left side of the definition over the spread on the right, so no ratio
//! exceeds a proved constant, and the largest one found is a lower bound on the coefficient that anyone can check.

mod moves;
mod starts;

use super::{Counts, Definition};
use crate::{
    defense::{Defense, Options},
    error::{Error, Result},
    messages::Messages,
    random::Stream,
};
use moves::change;
use starts::{start, structured};
use std::ops::Range;

/// Messages and what a defence makes of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// The messages.
    pub rows: Vec<Vec<f64>>,
    /// Which of them are honest.
    pub honest: Range<usize>,
    /// Error over spread; infinite where the honest agree and the aggregate does not.
    pub ratio: f64,
}

/// A place of a climb.
#[derive(Clone)]
struct Place {
    /// The honest rows, then the Byzantine ones.
    rows: Vec<Vec<f64>>,
    /// Whether the Byzantine ones are sent first.
    liars_first: bool,
    ratio: f64,
}

impl Place {
    /// The rows as they are sent.
    fn instance(mut self, counts: &Counts) -> Instance {
        let first = if self.liars_first { counts.tolerance.min(self.rows.len()) } else { 0 };
        self.rows.rotate_right(first);
        let honest = first..first + self.rows.len().saturating_sub(counts.tolerance);
        Instance { rows: self.rows, honest, ratio: self.ratio }
    }
}

/// Messages that a search has just looked at.
pub struct Look<'a> {
    place: &'a Place,
    counts: &'a Counts,
}

impl Look<'_> {
    /// The error over the spread; infinite where the honest agree and the aggregate does not, negative where the defence refuses the
    /// messages or they have more leverage than promised.
    pub fn ratio(&self) -> f64 {
        self.place.ratio
    }

    /// The messages, to keep.
    pub fn instance(&self) -> Instance {
        self.place.clone().instance(self.counts)
    }
}

/// Moves without success after which a climb begins elsewhere.
const PATIENCE: usize = 400;
/// Honest messages that lie closer together than this, beside their size, agree: what is left of their spread is rounding.
const AGREEMENT: f64 = 1e-6;
/// And an aggregate farther away than this does not.
const DISAGREEMENT: f64 = 1e-6;

/// Climbs until `proceed`, which is shown everything looked at, says no: one look is always taken, and no other without being
/// asked for. The same seed climbs the same way.
///
/// The instance has a negative ratio if there was none that the defence takes and the promised leverage allows.
///
/// # Errors
/// What the defence reports, other than refusals of single instances.
pub fn search(
    defense: &Defense,
    counts: &Counts,
    seed: u64,
    mut proceed: impl FnMut(&Look<'_>) -> bool,
) -> Result<Instance> {
    // Nothing is worse than an infinite ratio.
    let mut look = |place: &mut Place| {
        place.ratio = ratio(defense, counts, place)?;
        Ok::<_, Error>(proceed(&Look { place, counts }) && place.ratio < f64::INFINITY)
    };
    let mut best = Place { rows: Vec::new(), liars_first: false, ratio: f64::NEG_INFINITY };
    // A rule that trusts the first worker is not to be judged by that one's lies.
    let any_order = defense.is_symmetric();
    // All of these are looked at, and the first climb begins at the worst of them.
    for (rows, liars_first) in structured(counts, defense.robustness(counts).unbounded.is_some()) {
        let mut here = Place { rows, liars_first: liars_first && any_order, ratio: 0.0 };
        let proceed = look(&mut here)?;
        if here.ratio > best.ratio {
            best = here;
        }
        if !proceed {
            return Ok(best.instance(counts));
        }
    }
    for number in 0.. {
        let mut stream = Stream::new(seed, "kappa", 0, number);
        let mut here = best.clone();
        if number > 0 {
            here = Place {
                rows: start(counts, number, &mut stream),
                liars_first: any_order && number % 3 == 2,
                ratio: 0.0,
            };
            let proceed = look(&mut here)?;
            if here.ratio > best.ratio {
                best.clone_from(&here);
            }
            if !proceed {
                return Ok(best.instance(counts));
            }
        }
        let mut failures = 0;
        while failures <= PATIENCE {
            let mut there = here.clone();
            change(&mut there.rows, counts, &mut stream);
            let proceed = look(&mut there)?;
            failures = if there.ratio > here.ratio { 0 } else { failures + 1 };
            // Level ground is walked on: ratios of rules that select are flat in places.
            if there.ratio >= here.ratio {
                here = there;
            }
            if here.ratio > best.ratio {
                best.clone_from(&here);
            }
            if !proceed {
                return Ok(best.instance(counts));
            }
        }
    }
    Ok(best.instance(counts))
}

/// Error over spread; negative where the defence refuses, or the honest have more leverage than was promised.
fn ratio(defense: &Defense, counts: &Counts, place: &Place) -> Result<f64> {
    let rows = &place.rows[..];
    let (honest, byzantine) = rows.split_at(rows.len() - counts.tolerance);
    let count = honest.len() as f64;
    // About the first row: equal rows have it as their mean.
    let from_first = |k: usize| honest.iter().map(|row| row[k] - honest[0][k]).sum::<f64>() / count;
    let mean: Vec<f64> = (0..counts.dimension).map(|k| honest[0][k] + from_first(k)).collect();
    let lengths: Vec<f64> = honest.iter().map(|row| distance(row, &mean)).collect();
    let mean_length = lengths.iter().sum::<f64>() / count;
    let longest = lengths.iter().copied().fold(0.0, f64::max);
    if counts.leverage.is_some_and(|leverage| longest > leverage * mean_length) {
        return Ok(-1.0);
    }
    let (first, last) = if place.liars_first { (byzantine, honest) } else { (honest, byzantine) };
    let sent: Vec<&[f64]> = first.iter().chain(last).map(Vec::as_slice).collect();
    let aggregate = match defense.aggregate(&Messages::from_rows(&sent), &Options::default()) {
        Ok(result) => result.vector,
        Err(Error::Refused { .. }) => return Ok(-1.0),
        Err(other) => return Err(other),
    };
    let error = distance(&aggregate, &mean);
    let spread = match counts.definition {
        Definition::Linear => mean_length,
        Definition::Squared => (lengths.iter().map(|length| length * length).sum::<f64>() / count).sqrt(),
    };
    let size = |rows: &[Vec<f64>]| rows.iter().flatten().fold(0.0f64, |size, value| size.max(value.abs()));
    let (largest, largest_honest) = (size(rows), size(honest));
    // What rounding may have added counts against the search: what is found then holds for exact numbers.
    let rounding = 4.0 * rows.len() as f64 * f64::EPSILON * largest;
    // Where nothing but rounding could tell the honest apart only exact agreement counts.
    let linear = match (spread > AGREEMENT * largest, spread == 0.0, error > DISAGREEMENT * largest_honest) {
        (true, ..) => (error - rounding).max(0.0) / (spread + rounding),
        (false, true, true) => f64::INFINITY,
        _ => 0.0,
    };
    Ok(if counts.definition == Definition::Squared { linear * linear } else { linear })
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(
        rule: &str,
        n: usize,
        f: usize,
        d: usize,
        definition: Definition,
        moves: usize,
    ) -> (f64, Counts) {
        let defense = Defense::new(rule, f).unwrap();
        let counts = Counts { messages: n, tolerance: f, dimension: d, definition, leverage: None };
        let mut left = moves;
        let instance = search(&defense, &counts, 1, |_| {
            left -= 1;
            left > 0
        });
        (instance.unwrap().ratio, counts)
    }

    #[test]
    fn no_search_exceeds_a_proved_constant_and_the_exact_ones_are_attained() {
        for (n, f) in [(3, 1), (5, 1), (5, 2), (7, 2), (8, 3), (10, 3), (11, 5), (20, 3), (20, 9)] {
            for definition in [Definition::Linear, Definition::Squared] {
                for rule in [
                    "median",
                    "trimmed_mean",
                    "mean_around_median",
                    "geometric_median",
                    "krum",
                    "krum(neighbors=n-f-1)",
                    "multi_krum",
                    "mda",
                    "nnm+median",
                    "nnm+krum",
                    "nnm+gm",
                ] {
                    let d = 1 + (n + rule.len()) % 3;
                    let defense = Defense::new(rule, f).unwrap();
                    if defense.check_counts(n, f).is_err() {
                        continue;
                    }
                    let (ratio, counts) = found(rule, n, f, d, definition, 1500);
                    let known = defense.robustness(&counts);
                    let context =
                        format!("{rule} n={n} f={f} d={d} {definition:?}: {ratio} against {known:?}");
                    assert!(known.proved.is_none_or(|proved| ratio <= proved), "{context}");
                    assert!(known.exact.is_none_or(|exact| (ratio / exact - 1.0).abs() < 1e-9), "{context}");
                    assert!(
                        known.proved.is_none_or(|proved| proved >= counts.lower_bound() * (1.0 - 1e-12)),
                        "{context}"
                    );
                    if let (Some(paper), Some(proved)) = (known.paper, known.proved) {
                        assert!(proved <= paper * (1.0 + 1e-12), "{context}");
                    }
                    if known.unbounded.is_some() {
                        assert!(ratio > 1e2, "{context}");
                    }
                }
            }
        }
    }

    #[test]
    fn among_a_thousand_the_first_look_shows_what_no_rule_is_below_and_the_next_ones_more() {
        for rule in ["median", "trimmed_mean", "geometric_median", "krum", "multi_krum", "nnm+median"] {
            for definition in [Definition::Linear, Definition::Squared] {
                let (ratio, counts) = found(rule, 1000, 100, 2, definition, 1);
                assert!(ratio >= counts.lower_bound() * (1.0 - 1e-9), "{rule} {definition:?}: {ratio}");
                let known = Defense::new(rule, 100).unwrap().robustness(&counts);
                let (ratio, _) = found(rule, 1000, 100, 2, definition, 4);
                assert!(known.proved.is_none_or(|proved| ratio <= proved), "{rule}: {ratio} {known:?}");
                assert!(
                    known.exact.is_none_or(|exact| (ratio / exact - 1.0).abs() < 1e-9),
                    "{rule} {definition:?}: {ratio} {known:?}"
                );
            }
        }
    }

    #[test]
    fn messages_with_more_leverage_than_promised_have_no_ratio() {
        let defense = Defense::new("median", 25).unwrap();
        let (messages, tolerance, definition) = (60, 25, Definition::Linear);
        let counts = Counts { messages, tolerance, dimension: 1, definition, leverage: Some(1.0) };
        let mut heard = Vec::new();
        let instance = search(&defense, &counts, 1, |look| {
            heard.push(look.ratio());
            heard.len() < 3
        });
        // Of two values only halves have a leverage of one, and 35 has none.
        assert_eq!((heard, instance.unwrap().ratio), (vec![-1.0; 3], -1.0));
    }

    #[test]
    fn what_is_found_keeps_to_the_promised_leverage() {
        let defense = Defense::new("median", 2).unwrap();
        let counts = Counts {
            messages: 9,
            tolerance: 2,
            dimension: 1,
            definition: Definition::Linear,
            leverage: Some(1.2),
        };
        let mut left = 5000;
        let instance = search(&defense, &counts, 1, |_| {
            left -= 1;
            left > 0
        });
        let instance = instance.unwrap();
        let honest: Vec<f64> = instance.rows[instance.honest].iter().map(|row| row[0]).collect();
        let mean = honest.iter().sum::<f64>() / 7.0;
        let lengths: Vec<f64> = honest.iter().map(|value| (value - mean).abs()).collect();
        let longest = lengths.iter().copied().fold(0.0, f64::max);
        assert!(instance.ratio > 0.0 && longest <= 1.2 * lengths.iter().sum::<f64>() / 7.0 * (1.0 + 1e-12));
        let free = Counts { leverage: None, ..counts };
        assert!(instance.ratio < defense.robustness(&free).exact.unwrap());
        assert!(counts.least_possible().is_none() && free.least_possible().is_some());
    }

    #[test]
    fn rules_without_a_constant_are_found_out() {
        for rule in [
            "mean",
            "geometric_median(smoothing=0.1)",
            "centered_clipping(radius=1)",
            "sign_majority",
            "clipping(radius=1)+median",
        ] {
            let (ratio, counts) = found(rule, 7, 2, 2, Definition::Linear, 20_000);
            assert!(Defense::new(rule, 2).unwrap().robustness(&counts).unbounded.is_some(), "{rule}");
            assert!(ratio > 1e3, "{rule}: {ratio}");
        }
    }

    /// Copies far away mix to equal rows, which score zero like the honest ones, and the lowest index wins.
    #[test]
    fn liars_may_have_the_lowest_indices() {
        let defense = Defense::new("nnm+krum", 2).unwrap();
        let (messages, tolerance, definition) = (5, 2, Definition::Linear);
        let counts = Counts { messages, tolerance, dimension: 1, definition, leverage: None };
        assert!(defense.robustness(&counts).unbounded.is_some());
        let mut left = 20;
        let instance = search(&defense, &counts, 1, |_| {
            left -= 1;
            left > 0
        });
        let instance = instance.unwrap();
        assert_eq!((instance.ratio, instance.honest), (f64::INFINITY, 2..5));
        let aggregate = defense.aggregate(&Messages::from_rows(&instance.rows), &Options::default()).unwrap();
        assert!(instance.rows[2..].iter().all(|row| row == &instance.rows[2]));
        assert_ne!(aggregate.vector, instance.rows[2]);
        // But not where the rule trusts the first worker.
        assert!(found("monna", 5, 2, 1, Definition::Linear, 3000).0 < f64::INFINITY);
    }

    #[test]
    fn two_looks_find_out_rules_without_a_constant_among_a_thousand() {
        for rule in ["mean", "krum(neighbors=1)", "clipping(radius=1)+median", "centered_clipping(radius=1)"]
        {
            let (ratio, _) = found(rule, 1000, 100, 3, Definition::Linear, 2);
            assert!(ratio > 1e3, "{rule}: {ratio}");
        }
    }
}
