//! How the learning rate of a cell is chosen: every candidate runs in full, or the better half goes on with twice the rounds.

use super::{
    grid::Cell,
    record::{Status, Summary},
    sweep::Settled,
};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// How the rate of a cell is chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuning {
    /// Candidates, for cells whose options name none.
    #[serde(default)]
    pub rates: Vec<f64>,
    /// `grid`: every candidate runs all `rounds`; `halving`: the better half of them goes on with twice the rounds.
    #[serde(default = "grid")]
    pub method: String,
    /// Rounds of a (full) candidate; the run's own if none.
    pub rounds: Option<u64>,
    /// What decides: `metric`, `best_metric`, `mean_metric`, `loss`, `training_loss`, `aggregate_norm`, `gradient_norm`.
    #[serde(default = "metric")]
    pub metric: String,
    /// `validation`, or `test` as the paper did.
    #[serde(default = "validation")]
    pub on: String,
    /// The task of the candidates, where it is not that of the cells.
    pub task: Option<String>,
    /// Seeds of the candidates; their scores are averaged.
    #[serde(default = "one_seed")]
    pub seeds: Vec<u64>,
    /// Candidates after the first that scores above this are not considered.
    pub stop_above: Option<f64>,
}

fn grid() -> String {
    "grid".into()
}
fn metric() -> String {
    "metric".into()
}
fn validation() -> String {
    "validation".into()
}

fn one_seed() -> Vec<u64> {
    vec![0]
}

impl Tuning {
    /// The cell as its candidates run it.
    pub(super) fn candidate(&self, mut cell: Cell) -> Cell {
        cell.draft.task = self.task.clone().or(cell.draft.task);
        cell
    }

    /// Everything that can be checked without the cells.
    pub(super) fn check(&self) -> Result<()> {
        let usage = |problem: &str| Err(Error::Usage(format!("the grid is not usable: {problem}")));
        if !["grid", "halving"].contains(&self.method.as_str()) {
            return usage("tuning.method: expected grid or halving");
        }
        if !Summary::MEASURES.contains(&self.metric.as_str()) {
            return usage(&format!("tuning.metric: expected one of {}", Summary::MEASURES.join(", ")));
        }
        if !["validation", "test"].contains(&self.on.as_str()) {
            return usage("tuning.on: expected validation or test");
        }
        if self.seeds.is_empty() {
            return usage("tuning.seeds is empty; give at least one");
        }
        if self.rounds == Some(0) {
            return usage("tuning.rounds = 0: candidates need at least one round");
        }
        Ok(())
    }
}

/// Candidates and rounds of each rung.
pub(super) fn rungs(tuning: &Tuning, candidates: usize, rounds: u64) -> Vec<(usize, u64)> {
    let full = tuning.rounds.unwrap_or(rounds);
    if candidates == 0 {
        return Vec::new();
    }
    if tuning.method != "halving" {
        return vec![(candidates, full)];
    }
    let mut counts = vec![candidates];
    while let Some(&count) = counts.last().filter(|count| **count > 2) {
        counts.push(count.div_ceil(2));
    }
    let last = counts.len() - 1;
    counts.iter().enumerate().map(|(rung, &count)| (count, (full >> (last - rung)).max(1))).collect()
}

/// Why the candidates of a cell cannot be compared: one of them failed, or did not measure what decides. Candidates that
/// diverged can: they are the worst.
pub(super) fn problem(settled: &[&Settled], tuning: &Tuning) -> Option<Error> {
    settled.iter().find_map(|settled| match &settled.outcome {
        Err(error) => Some(Error::Usage(format!("tuning failed at rate {}: {error}", settled.config.rate))),
        Ok(summary) if summary.status == Status::Finished && summary.measure(&tuning.metric).is_none() => {
            Some(Error::Usage(format!(
                "tuning.metric = {}: {} does not measure it; choose another",
                tuning.metric, settled.config.task
            )))
        }
        Ok(_) => None,
    })
}

/// The mean score of a candidate over its seeds, less is better.
fn mean_score(rate: f64, settled: &[&Settled], tuning: &Tuning) -> f64 {
    let own: Vec<f64> = (settled.iter().filter(|settled| settled.config.rate == rate))
        .map(|settled| score(settled, &tuning.metric))
        .collect();
    let mean = own.iter().sum::<f64>() / own.len() as f64;
    if mean.is_nan() { f64::INFINITY } else { mean }
}

/// Every candidate's mean as people know it: more accuracy is better.
pub(super) fn told(candidates: &[f64], settled: &[&Settled], tuning: &Tuning) -> Vec<(f64, Option<f64>)> {
    let higher = |settled: &&Settled| matches!(&settled.outcome, Ok(summary) if summary.higher_is_better);
    let turned = tuning.metric.ends_with("metric") && settled.iter().any(higher);
    let tell = |&rate: &f64| {
        let score = mean_score(rate, settled, tuning);
        (rate, score.is_finite().then_some(if turned { -score } else { score }))
    };
    candidates.iter().map(tell).collect()
}

/// The `keep` best candidates, best first; ties go to the earlier one.
pub(super) fn best(candidates: &[f64], settled: &[&Settled], tuning: &Tuning, keep: usize) -> Vec<f64> {
    let mut scores: Vec<(f64, f64)> = Vec::new();
    for &rate in candidates {
        let score = mean_score(rate, settled, tuning);
        scores.push((score, rate));
        if tuning.stop_above.is_some_and(|limit| score > limit) {
            break;
        }
    }
    scores.sort_by(|a, b| a.0.total_cmp(&b.0));
    scores.into_iter().take(keep).map(|(_, rate)| rate).collect()
}

/// How a candidate did, less is better; a run that failed or diverged is worse than any other.
fn score(settled: &Settled, metric: &str) -> f64 {
    let Ok(summary) = &settled.outcome else { return f64::INFINITY };
    if summary.status == Status::Diverged {
        return f64::INFINITY;
    }
    let sign = if summary.higher_is_better && metric.ends_with("metric") { -1.0 } else { 1.0 };
    summary.measure(metric).map_or(f64::INFINITY, |value| sign * value)
}
