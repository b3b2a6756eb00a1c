//! Who was trusted: every worker's weight over the rounds that tell it, the Byzantine workers marked.
//!
//! A weight is a worker's share of the aggregate or, for rules that work coordinate by coordinate, the share of
//! coordinates in which its value was kept.

mod sheet;

use super::{
    Drawing, Medium,
    trace::{Trace, name},
};
use crate::report::{Study, StudyCell};

/// More rounds than this are thinned out: some are left away.
const MOST_ROUNDS: usize = 60;

/// One drawing per cell.
pub(super) fn draw(study: &Study, traces: &[Trace], medium: Medium) -> Vec<Drawing> {
    let known = study.cells.iter().zip(traces).filter(|(_, trace)| !trace.weights.is_empty());
    known.filter_map(|(cell, trace)| Map::of(cell, trace)?.drawing(study, cell, medium)).collect()
}

struct Map {
    rounds: Vec<u64>,
    /// By worker, then by round.
    weights: Vec<Vec<f64>>,
    honest: usize,
    largest: f64,
}

impl Map {
    fn of(cell: &StudyCell, trace: &Trace) -> Option<Map> {
        let config = &cell.runs.first()?.config;
        let stride = trace.weights.len().div_ceil(MOST_ROUNDS);
        let shown: Vec<&(u64, Vec<f64>)> = trace.weights.iter().step_by(stride.max(1)).collect();
        let workers = shown.iter().map(|(_, weights)| weights.len()).max()?;
        let of = |worker: usize| {
            shown.iter().map(move |(_, weights)| weights.get(worker).map_or(0.0, |w| w.max(0.0)))
        };
        let weights: Vec<Vec<f64>> = (0..workers).map(|worker| of(worker).collect()).collect();
        let largest = weights.iter().flatten().copied().fold(0.0, f64::max);
        let honest = workers.saturating_sub(config.byzantine);
        Some(Map { rounds: shown.iter().map(|(round, _)| *round).collect(), weights, honest, largest })
    }

    fn drawing(&self, study: &Study, cell: &StudyCell, medium: Medium) -> Option<Drawing> {
        let label = if cell.labels.is_empty() { "all runs".into() } else { name(study, &cell.labels) };
        let seed = cell.runs.first()?.config.seed;
        let title = format!("Weights of the workers: {label}, seed {seed}");
        let (trusted, share) = self.byzantine();
        let note = match self.weights.len() - self.honest {
            0 => "No worker is Byzantine.".to_string(),
            liars => format!(
                "The {liars} Byzantine of {} workers ({:.0} %) had {:.0} % of the weight on average.",
                self.weights.len(),
                100.0 * share,
                100.0 * trusted
            ),
        };
        let parts: Vec<&str> =
            std::iter::once("trust").chain(cell.labels.iter().map(String::as_str)).collect();
        let svg = self.svg(&title, &note, medium);
        Some(Drawing { name: parts.join("-"), title, note, svg, legend: Vec::new(), cell: Some(label) })
    }

    /// Their share of all weight, and of the workers.
    fn byzantine(&self) -> (f64, f64) {
        let sum = |rows: &[Vec<f64>]| rows.iter().flatten().sum::<f64>();
        let all = sum(&self.weights);
        let trusted = if all > 0.0 { sum(&self.weights[self.honest..]) / all } else { 0.0 };
        (trusted, (self.weights.len() - self.honest) as f64 / self.weights.len().max(1) as f64)
    }
}
