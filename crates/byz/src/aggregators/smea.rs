//! SMEA: the mean of the n − f messages whose covariance has the least largest eigenvalue.
//!
//! Exact, by branch and bound. From a set T with r messages still to leave out, project on T's leading eigenvector:
//! whatever r are left out, the spread along it is at least that of the tightest window of |T| − r projections, and the
//! eigenvalue at least that spread. Branches leave out the most extreme projections first. Beyond a budget of
//! 3·10¹⁰/n³ eigenvalue computations the rule refuses rather than guesses. Ties (relative 1e-12) go to the lexicographically
//! first subset. Needs n ≥ 2f + 1. Costs two passes and the search.
//! Reference: Allouah, Guerraoui, Gupta, Pinot, Stephan: "On the privacy-robustness-utility trilemma in distributed
//! learning", ICML 2023.

use super::Aggregator;
use crate::{
    defense::Round,
    error::{Error, Refusal, Result},
    geometry::{Geometry, ascending},
    plan::{Decision, Note},
    registry::{Entry, Properties},
    spectral::{largest_eigenpair, scatter},
};

/// Eigenvalue computations at most, times what one of n messages takes, n³: some ten seconds.
const BUDGET: u64 = 30_000_000_000;
/// Eigenvalues closer than this are equal.
const TIE: f64 = 1e-12;

struct Smea;

pub(super) const ENTRY: Entry<dyn Aggregator> = Entry {
    name: "smea",
    aliases: &["smallest_maximum_eigenvalue_averaging"],
    summary: "the mean of the n−f messages whose covariance has the least largest eigenvalue, found exactly",
    parameters: &[],
    requirement: "n ≥ 2f+1; refuses beyond 3·10¹⁰/n³ search steps",
    reference: "Allouah et al., On the privacy-robustness-utility trilemma, ICML 2023",
    properties: Properties::ALL,
    build: |_| Ok(Box::new(Smea)),
};

impl Aggregator for Smea {
    fn plan(&self, geometry: &Geometry<'_>, round: &Round<'_>) -> Result<Decision> {
        let everyone: Vec<usize> = (0..geometry.messages()).collect();
        let mut search = Search { geometry, best: (f64::INFINITY, everyone.clone()), steps: 0 };
        search.descend(&everyone, &[], round.tolerance)?;
        let (scatter, selected) = search.best;
        let eigenvalue = Note::Number(scatter / selected.len() as f64);
        let decision = Decision::mean_of(&selected, geometry.points());
        Ok(decision.note("selected", Note::Rows(selected)).note("eigenvalue", eigenvalue))
    }
}

struct Search<'g> {
    geometry: &'g Geometry<'g>,
    best: (f64, Vec<usize>),
    steps: usize,
}

impl Search<'_> {
    /// Looks through all subsets of `members` that hold `kept` and leave out `left` others.
    fn descend(&mut self, members: &[usize], kept: &[usize], left: usize) -> Result<()> {
        self.steps += 1;
        // One is enough where nobody is left out.
        let most = (BUDGET / (self.geometry.messages() as u64).pow(3)).max(1) as usize;
        if self.steps > most {
            return Err(Error::refused(Refusal::Budget { rule: ENTRY.name, steps: most }));
        }
        let size = members.len();
        let products = scatter(self.geometry, members, &vec![1.0 / size as f64; size]);
        let (value, vector) = largest_eigenpair(&products);
        if left == 0 {
            self.offer(value.max(0.0), members);
            return Ok(());
        }
        let place: Vec<f64> = vector.iter().map(|x| x * value.max(0.0).sqrt()).collect();
        if tightest_window(&place, size - left) > self.best.0 * (1.0 + TIE) {
            return Ok(());
        }
        let mut outermost = ascending(&place.iter().map(|x| -x.abs()).collect::<Vec<_>>());
        outermost.retain(|&i| !kept.contains(&members[i]));
        // Branch k keeps the k outermost and leaves out the next.
        let mut kept = kept.to_vec();
        let mut kept_place: Vec<f64> =
            (0..size).filter(|&i| kept.contains(&members[i])).map(|i| place[i]).collect();
        for (k, &i) in outermost.iter().enumerate() {
            if outermost.len() - k < left || spread(&kept_place) > self.best.0 * (1.0 + TIE) {
                break;
            }
            let rest: Vec<usize> = members.iter().copied().filter(|&member| member != members[i]).collect();
            self.descend(&rest, &kept, left - 1)?;
            kept.push(members[i]);
            kept_place.push(place[i]);
        }
        Ok(())
    }

    fn offer(&mut self, value: f64, members: &[usize]) {
        let (best, incumbent) = &self.best;
        let better = value < best * (1.0 - TIE);
        let equal_and_first = value <= best * (1.0 + TIE) && members < incumbent.as_slice();
        if better || equal_and_first {
            self.best = (value, members.to_vec());
        }
    }
}

/// Σ (x − mean)².
fn spread(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    values.iter().map(|x| (x - mean) * (x - mean)).sum()
}

/// The least spread of any `count` of the values; they are neighbours in sorted order.
fn tightest_window(values: &[f64], count: usize) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.windows(count).map(spread).fold(f64::INFINITY, f64::min)
}
