//! Minimum diameter averaging: the mean of the n − f messages whose largest pairwise distance is least.
//!
//! Exact. The least diameter is found by bisection over the sorted distances: a diameter t is feasible if f messages
//! cover every pair farther apart than t, a vertex cover decided by a bounded search tree (branch on the message with most
//! conflicts: leave it out, or leave out all it conflicts with). Among the subsets of least diameter the
//! lexicographically first is taken. No list of the C(n, f) subsets is made; beyond a budget of 5·10¹⁰/n² search steps,
//! each of which compares every pair, the rule refuses rather than guesses. Needs n ≥ 2f + 1. Costs two passes and the search.
//! Reference: El Mhamdi, Guerraoui, Guirguis, Hoang, Rouault: "Genuinely distributed Byzantine machine learning", PODC 2020.

use super::Aggregator;
use crate::{
    defense::Round,
    error::{Error, Refusal, Result},
    geometry::Geometry,
    measure::pairs,
    plan::{Decision, Note},
    registry::{Entry, Properties},
    theory::{Constants, Counts, Definition},
};

/// Pairs compared at most, over all diameters tried: about a minute.
const BUDGET: u64 = 50_000_000_000;

struct MinimumDiameterAveraging;

pub(super) const ENTRY: Entry<dyn Aggregator> = Entry {
    name: "minimum_diameter_averaging",
    aliases: &["mda"],
    summary: "the mean of the n−f messages of least diameter, found exactly",
    parameters: &[],
    requirement: "n ≥ 2f+1; refuses beyond 5·10¹⁰/n² search steps",
    reference: "El Mhamdi et al., Genuinely distributed Byzantine machine learning, PODC 2020",
    properties: Properties::ALL,
    build: |_| Ok(Box::new(MinimumDiameterAveraging)),
};

impl Aggregator for MinimumDiameterAveraging {
    /// Of the chosen n − f, j ≤ f are Byzantine and j honest ones are left out: F − m = (1/G)(Σ (b − m) − Σ (x − m)) over these. A chosen b
    /// is within the honest diameter of the chosen honest ones, of whom there are n − 2f.
    fn robustness(&self, counts: &Counts) -> Constants {
        let (f, honest, r) = (counts.tolerance as f64, counts.honest(), counts.ratio());
        Constants::proved(match counts.definition {
            Definition::Squared => {
                (f * (2.0 / honest).sqrt() + f / honest * r.sqrt() + (f / honest).sqrt()).powi(2)
            }
            Definition::Linear if f == 0.0 => 0.0,
            Definition::Linear => 1.0 + f + 0.5 * r,
        })
    }

    fn plan(&self, geometry: &Geometry<'_>, round: &Round<'_>) -> Result<Decision> {
        let n = geometry.messages();
        let mut diameters: Vec<f64> = pairs(n).map(|(i, j)| geometry.squared(i, j)).chain([0.0]).collect();
        diameters.sort_unstable_by(f64::total_cmp);
        diameters.dedup();
        let mut search = Search { geometry, limit: 0.0, steps: 0 };
        let everyone = vec![true; n];
        // The largest distance is always feasible; halve the range below it.
        let (mut low, mut high) = (0, diameters.len() - 1);
        while low < high {
            let middle = (low + high) / 2;
            search.limit = diameters[middle];
            if search.coverable(&mut everyone.clone(), round.tolerance)? {
                high = middle
            } else {
                low = middle + 1
            }
        }
        search.limit = diameters[low];
        let selected = search.first_subset(n, round.tolerance)?;
        let decision = Decision::mean_of(&selected, geometry.points());
        let diameter = Note::Number(search.limit.sqrt());
        Ok(decision.note("selected", Note::Rows(selected)).note("diameter", diameter))
    }
}

struct Search<'g> {
    geometry: &'g Geometry<'g>,
    /// Pairs farther apart than this (squared) conflict.
    limit: f64,
    steps: usize,
}

impl Search<'_> {
    fn conflicts<'s>(&'s self, i: usize, alive: &'s [bool]) -> impl Iterator<Item = usize> + 's {
        (0..alive.len()).filter(move |&j| alive[j] && j != i && self.geometry.squared(i, j) > self.limit)
    }

    /// Whether leaving out at most `left` of those alive resolves every conflict.
    fn coverable(&mut self, alive: &mut Vec<bool>, left: usize) -> Result<bool> {
        self.steps += 1;
        let most = usize::try_from(BUDGET / (alive.len() as u64).pow(2)).unwrap_or(usize::MAX);
        if self.steps > most {
            return Err(Error::refused(Refusal::Budget { rule: ENTRY.name, steps: most }));
        }
        let degrees: Vec<usize> =
            (0..alive.len()).map(|i| if alive[i] { self.conflicts(i, alive).count() } else { 0 }).collect();
        let worst = (0..alive.len()).max_by_key(|&i| (degrees[i], usize::MAX - i)).unwrap_or(0);
        let most = degrees.get(worst).copied().unwrap_or(0);
        if most == 0 {
            return Ok(true);
        }
        // Each message left out resolves at most `most` conflicts.
        if degrees.iter().sum::<usize>() / 2 > left * most {
            return Ok(false);
        }
        alive[worst] = false;
        let without = self.coverable(alive, left - 1)?;
        alive[worst] = true;
        if without || most > left {
            return Ok(without);
        }
        let others: Vec<usize> = self.conflicts(worst, alive).collect();
        others.iter().for_each(|&j| alive[j] = false);
        let with = self.coverable(alive, left - others.len())?;
        others.iter().for_each(|&j| alive[j] = true);
        Ok(with)
    }

    /// The lexicographically first n − f messages without conflicts: keep each as long as the rest can be completed.
    fn first_subset(&mut self, n: usize, tolerance: usize) -> Result<Vec<usize>> {
        let (mut alive, mut left, mut kept) = (vec![true; n], tolerance, Vec::new());
        for i in 0..n {
            if kept.len() == n - tolerance {
                break;
            }
            if !alive[i] {
                continue;
            }
            let others: Vec<usize> = self.conflicts(i, &alive).collect();
            if others.len() <= left && !others.iter().any(|other| kept.contains(other)) {
                let mut trial = alive.clone();
                others.iter().for_each(|&j| trial[j] = false);
                if self.coverable(&mut trial.clone(), left - others.len())? {
                    (alive, left) = (trial, left - others.len());
                    kept.push(i);
                    continue;
                }
            }
            alive[i] = false;
            left -= 1;
        }
        Ok(kept)
    }
}
