//! A sweep as a file: a base configuration, axes whose options multiply, seeds, and how the rate is tuned.
//!
//! ```toml
//! seeds = [0, 1, 2]
//! [base]
//! task = "quartic"
//! [axes]
//! attack = ["sign_flip", "little_is_enough(z=1)"]
//! optimizer = [{ label = "Ours", optimizer = "byz_nsgdm", rates = [0.01, 0.1] }, { label = "Base", optimizer = "baseline" }]
//! [tuning]
//! rates = [0.01, 0.1, 1.0]
//! rounds = 500
//! ```
//!
//! An option is a value of its axis' key, or a table of keys with a label and, where the optimisers differ, rates of its own.

use super::{
    config::{Config, not_usable},
    draft::{DEFAULT_WORKERS, Draft},
    presentation::Presentation,
    record::Summary,
    tuning::Tuning,
};
use crate::error::{Error, Result};
use serde::Deserialize;
use std::collections::HashSet;

/// A sweep as written.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// Every cell is run with each of these.
    #[serde(default = "one_seed")]
    pub seeds: Vec<u64>,
    /// What all cells share.
    #[serde(default)]
    base: toml::Table,
    /// What they differ in; the cells are the product.
    #[serde(default)]
    axes: toml::Table,
    /// Rates of single cells, by patterns such as `BF/RFA/*`; these are not tuned.
    #[serde(default)]
    rates: toml::Table,
    /// How the rate is chosen; without it, each cell's own rate stands.
    pub tuning: Option<Tuning>,
    /// How the results are shown.
    #[serde(default)]
    pub report: Presentation,
}

fn one_seed() -> Vec<u64> {
    vec![0]
}

/// One combination of options.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Axis and label of each option.
    pub labels: Vec<(String, String)>,
    /// The configuration, without a seed and a tuned rate.
    pub draft: Draft,
    /// Candidate rates; empty if the rate is not tuned.
    pub rates: Vec<f64>,
}

impl Cell {
    /// The configuration with this seed, and this rate if one was chosen.
    pub fn config(&self, seed: u64, rate: Option<f64>) -> Result<Config> {
        let mut draft = self.draft.clone();
        draft.seed = Some(seed);
        draft.rate = rate.or(draft.rate);
        draft.resolve()
    }

    /// The same, without asking whether anything can come of it: to tell of what was refused.
    pub(super) fn unchecked(&self, seed: u64) -> Result<Config> {
        let mut draft = self.draft.clone();
        draft.seed = Some(seed);
        draft.rate = self.rates.first().copied().or(draft.rate);
        draft.filled()
    }

    /// The labels, one after another.
    pub fn name(&self) -> String {
        let labels: Vec<&str> = self.labels.iter().map(|(_, label)| label.as_str()).collect();
        if labels.is_empty() { "the only cell".into() } else { labels.join("/") }
    }

    /// Whether a pattern such as `BF/RFA/*` means this cell; trailing labels may be left out, and case does not matter.
    fn matches(&self, pattern: &str) -> bool {
        self.matches_after(0, pattern)
    }

    /// The same with leading labels left out: the pattern means the last ones.
    fn ends_so(&self, pattern: &str) -> bool {
        let skipped = self.labels.len().checked_sub(pattern.split('/').count());
        skipped.is_some_and(|skipped| self.matches_after(skipped, pattern))
    }

    fn matches_after(&self, skipped: usize, pattern: &str) -> bool {
        let (mut parts, labels) = (pattern.split('/'), &self.labels[skipped..]);
        let fits = |(_, label): &(_, String), part: &str| part == "*" || part.eq_ignore_ascii_case(label);
        labels.iter().all(|label| parts.next().is_none_or(|part| fits(label, part))) && parts.next().is_none()
    }
}

impl Grid {
    /// Reads and checks a grid.
    pub fn from_toml(text: &str) -> Result<Grid> {
        let grid: Grid = toml::from_str(text).map_err(|error| match toml::from_str::<Draft>(text) {
            Ok(_) => {
                Error::Usage("the file is the configuration of one run, not a grid: byz run FILE".into())
            }
            Err(_) => not_usable("the grid", text, &error),
        })?;
        let usage = |problem: &str| Err(Error::Usage(format!("the grid is not usable: {problem}")));
        if grid.seeds.is_empty() {
            return usage("seeds is empty; give at least one");
        }
        if (1..grid.seeds.len()).any(|k| grid.seeds[..k].contains(&grid.seeds[k])) {
            return usage("seeds names one seed twice; the same run again is no other result");
        }
        let shown = &grid.report;
        for measure in [Some(&shown.measure), shown.beside.as_ref()].into_iter().flatten() {
            if !Summary::MEASURES.contains(&measure.as_str()) {
                return usage(&format!("report.measure: expected one of {}", Summary::MEASURES.join(", ")));
            }
        }
        shown.check()?;
        if let Some(tuning) = &grid.tuning {
            tuning.check()?;
            if grid.cells()?.iter().all(|cell| cell.rates.is_empty()) {
                return usage("tuning has no rates; give tuning.rates, or rates in the options of an axis");
            }
        }
        if grid.base.contains_key("seed") || grid.axes.contains_key("seed") {
            return usage("seed in base or axes would be lost; list seeds = [...] at the top of the file");
        }
        grid.check_cells()?;
        Ok(grid)
    }

    /// The names of the axes, in order.
    pub fn axes(&self) -> Vec<String> {
        self.axes.keys().cloned().collect()
    }

    /// Gives every cell this many rounds, and candidates no more than that.
    pub fn limit_rounds(&mut self, rounds: u64) -> Result<()> {
        let value = i64::try_from(rounds).ok().filter(|rounds| *rounds > 0);
        let value = value.ok_or_else(|| Error::Usage(format!("rounds = {rounds}: expected at least 1")))?;
        self.base.insert("rounds".into(), value.into());
        if let Some(limit) = self.tuning.as_mut().and_then(|tuning| tuning.rounds.as_mut()) {
            *limit = rounds.min(*limit);
        }
        Ok(())
    }

    /// Adds what a breakdown varies besides the file's own axes: the true number of Byzantine workers up to n/2, and every
    /// tolerance below n/2 that all cells are defined for; of many, some, with the last.
    pub fn break_down(&mut self) -> Result<()> {
        let missing: Vec<&str> =
            ["byzantine", "tolerance"].into_iter().filter(|axis| !self.axes.contains_key(*axis)).collect();
        if !missing.is_empty() {
            let workers = self.workers(&missing)?;
            let counts = |last: usize| some_counts(last, workers / 2);
            let axis = |counts: Vec<usize>| {
                toml::Value::Array(counts.into_iter().map(|count| toml::Value::from(count as i64)).collect())
            };
            if missing.contains(&"byzantine") {
                let most = workers.div_ceil(2).min(workers.saturating_sub(1));
                self.axes.insert("byzantine".into(), axis(counts(most)));
            }
            if missing.contains(&"tolerance") {
                let mut defined = Vec::new();
                for count in counts(workers.saturating_sub(1) / 2) {
                    let mut grid = self.clone();
                    grid.axes.insert("tolerance".into(), axis(vec![count]));
                    if grid.cells()?.iter().all(|cell| cell.config(0, cell.rates.first().copied()).is_ok()) {
                        defined.push(count);
                    }
                }
                if defined.is_empty() {
                    let problem = format!(
                        "no tolerance below n/2 suits all cells of {workers} workers; give axes.tolerance"
                    );
                    return Err(Error::Usage(problem));
                }
                self.axes.insert("tolerance".into(), axis(defined));
            }
        }
        self.report.figures = vec!["breakdown".into()];
        self.check_cells()
    }

    /// The number of workers of all cells, from which the missing axes follow.
    fn workers(&self, missing: &[&str]) -> Result<usize> {
        let counts: HashSet<usize> =
            self.cells()?.iter().map(|cell| cell.draft.workers.unwrap_or(DEFAULT_WORKERS)).collect();
        match counts.into_iter().collect::<Vec<_>>()[..] {
            [workers] => Ok(workers),
            _ => Err(Error::Usage(format!(
                "a breakdown over several numbers of workers cannot choose the counts; give axes.{} in the file",
                missing.join(" and axes.")
            ))),
        }
    }

    /// Wrong cells are found before the first one runs. One that its rule refuses fails alone, as long as others do not.
    fn check_cells(&self) -> Result<()> {
        let (mut refused, mut able) = (None, false);
        let cells = self.cells()?;
        if let Some(tuning) = self.tuning.as_ref().filter(|tuning| tuning.task.is_some()) {
            if cells.iter().any(|cell| cell.draft.task != cells[0].draft.task) {
                let problem = "tuning.task is one task, and the cells have several; leave it out";
                return Err(Error::Usage(format!("the grid is not usable: {problem}")));
            }
            for cell in cells.iter().filter(|cell| !cell.rates.is_empty()) {
                match tuning.candidate(cell.clone()).config(self.seeds[0], cell.rates.first().copied()) {
                    Ok(_) | Err(Error::Refused { .. }) => {}
                    Err(error) => return Err(Error::Usage(format!("tuning.task: {error}"))),
                }
            }
        }
        for cell in cells {
            let rates = cell.rates.iter().copied().map(Some);
            for rate in rates.chain(cell.rates.is_empty().then_some(None)) {
                let told = |error: Error| Error::Usage(format!("cell {}: {error}", cell.name()));
                match cell.config(self.seeds[0], rate) {
                    Ok(_) => able = true,
                    Err(error @ Error::Refused { .. }) => refused = refused.or(Some(told(error))),
                    Err(error) => return Err(told(error)),
                }
            }
        }
        refused.filter(|_| !able).map_or(Ok(()), Err)
    }

    /// Which cells the patterns mean, in the order of the grid; all of them if there is no pattern. A pattern with which no cell
    /// begins may be how some end: `BF/RFA/Ours` also where a fourth axis stands before these.
    pub fn select(&self, patterns: &[String]) -> Result<Vec<bool>> {
        let cells = self.cells()?;
        let mut chosen = vec![patterns.is_empty(); cells.len()];
        for pattern in patterns {
            let begins = cells.iter().any(|cell| cell.matches(pattern));
            let means = if begins { Cell::matches } else { Cell::ends_so };
            if !cells.iter().any(|cell| means(cell, pattern)) {
                let some: Vec<String> = cells.iter().take(4).map(Cell::name).collect();
                return Err(Error::Usage(format!(
                    "no cell is called {pattern}; a cell is {}, such as {}; * means any",
                    self.axes().join("/"),
                    some.join(", ")
                )));
            }
            chosen.iter_mut().zip(&cells).for_each(|(chosen, cell)| *chosen |= means(cell, pattern));
        }
        Ok(chosen)
    }

    /// The product of the axes, the last axis fastest.
    pub fn cells(&self) -> Result<Vec<Cell>> {
        let rates = self.tuning.as_ref().map_or(Vec::new(), |tuning| tuning.rates.clone());
        let mut cells = vec![(Vec::new(), self.base.clone(), rates)];
        for (axis, options) in &self.axes {
            let Some(options) = options.as_array().filter(|options| !options.is_empty()) else {
                return Err(Error::Usage(format!("axes.{axis}: expected a list of at least one option")));
            };
            let called = options.iter().map(label).collect::<Vec<_>>();
            if let Some(k) =
                (1..called.len()).find(|&k| called[k].is_some() && called[..k].contains(&called[k]))
            {
                let name = called[k].as_deref().unwrap_or_default();
                return Err(Error::Usage(format!("axes.{axis}: two options are called {name}; label them")));
            }
            let mut product = Vec::with_capacity(cells.len() * options.len());
            for (labels, table, rates) in cells {
                for option in options {
                    product.push(extend(&labels, &table, &rates, axis, option)?);
                }
            }
            cells = product;
        }
        let cell = |(labels, table, rates): Partial| {
            let draft: Draft = table.try_into().map_err(|error| not_usable("the grid", "", &error))?;
            let rates = if self.tuning.is_some() { rates } else { Vec::new() };
            Ok(Cell { labels, draft, rates })
        };
        let mut cells = cells.into_iter().map(cell).collect::<Result<Vec<_>>>()?;
        for (pattern, rate) in &self.rates {
            let Some(rate) = number(rate) else {
                return Err(Error::Usage(format!("rates.\"{pattern}\": expected a number")));
            };
            let mut known = false;
            for cell in cells.iter_mut().filter(|cell| cell.matches(pattern)) {
                (cell.draft.rate, cell.rates, known) = (Some(rate), Vec::new(), true);
            }
            if !known {
                return Err(Error::Usage(format!("rates.\"{pattern}\": no cell is called so")));
            }
        }
        Ok(cells)
    }
}

/// What an option is called, if it is.
fn label(option: &toml::Value) -> Option<String> {
    match option {
        toml::Value::Table(keys) => keys.get("label").and_then(|label| label.as_str()).map(str::to_string),
        value => Some(value.as_str().map_or_else(|| value.to_string(), str::to_string)),
    }
}

/// A number, whole or not.
fn number(value: &toml::Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|value| value as f64))
}

/// A breakdown takes no more steps than this on an axis, unless the file says so.
const MOST_STEPS: usize = 6;

/// Counts from zero to the last in even steps, so long that about half a federation is passed in the most steps.
fn some_counts(last: usize, half: usize) -> Vec<usize> {
    let step = half.div_ceil(MOST_STEPS).max(1);
    (0..last).step_by(step).chain([last]).collect()
}

type Partial = (Vec<(String, String)>, toml::Table, Vec<f64>);

/// A cell with one more option.
fn extend(
    labels: &[(String, String)],
    table: &toml::Table,
    rates: &[f64],
    axis: &str,
    option: &toml::Value,
) -> Result<Partial> {
    let (mut labels, mut table, mut rates) = (labels.to_vec(), table.clone(), rates.to_vec());
    match option {
        toml::Value::Table(keys) => {
            for (key, value) in keys {
                match (key.as_str(), value) {
                    ("label", toml::Value::String(_)) => {}
                    ("rates", toml::Value::Array(values)) => {
                        rates = values.iter().map(number).collect::<Option<_>>().ok_or_else(|| {
                            Error::Usage(format!("axes.{axis}: rates must be a list of numbers"))
                        })?;
                    }
                    _ => drop(table.insert(key.clone(), value.clone())),
                }
            }
        }
        value => {
            table.insert(axis.to_string(), value.clone());
        }
    }
    let label = label(option)
        .ok_or_else(|| Error::Usage(format!("axes.{axis}: an option that is a table needs a label")))?;
    labels.push((axis.to_string(), label));
    Ok((labels, table, rates))
}
