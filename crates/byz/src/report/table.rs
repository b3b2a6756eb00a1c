//! A study as a table: one line per cell, with mean ± standard deviation, beside the published number where there is one.

use super::{Deviation, Expected, Measure, Study, StudyCell, measure::mean};
use crate::error::Result;

/// Headings and lines of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// One per column.
    pub heading: Vec<String>,
    /// As many cells each.
    pub lines: Vec<Vec<String>>,
}

impl Table {
    /// With the labels of the first columns made one, for terminals.
    pub fn joined(mut self, columns: usize) -> Table {
        for line in &mut self.lines {
            let name = line.drain(..columns).collect::<Vec<_>>().join("/");
            line.insert(0, name);
        }
        self.heading.splice(..columns, ["cell".to_string()]);
        self
    }
}

/// How a cell compares with what was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// Within the stated bounds.
    Agrees,
    /// Outside of them, or diverged.
    Differs,
    /// No run has ended.
    NotRun,
}

impl Agreement {
    /// In two words at most.
    pub fn text(self) -> &'static str {
        match self {
            Agreement::Agrees => "agrees",
            Agreement::Differs => "differs",
            Agreement::NotRun => "not run",
        }
    }
}

/// What a table tells of each cell.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    /// The number of interest.
    pub measure: Measure,
    /// What stands beside it.
    pub beside: Option<Measure>,
    /// How deviations are computed.
    pub deviation: Deviation,
}

impl Study {
    /// What the study itself wants to be told.
    pub fn columns(&self, deviation: Deviation) -> Result<Columns> {
        let beside = self.report.beside.as_deref().map(Measure::find).transpose()?;
        Ok(Columns { measure: Measure::find(&self.report.measure)?, beside, deviation })
    }

    /// What was published of a cell.
    pub fn expected(&self, cell: &StudyCell) -> Option<&Expected> {
        self.expected.iter().find(|expected| expected.labels == cell.labels)
    }

    /// How a cell compares with it.
    pub fn agreement(&self, cell: &StudyCell, columns: Columns) -> Option<Agreement> {
        // Only the measure that was published can agree.
        let expected = self.expected(cell).filter(|_| columns.measure.name == self.report.measure)?;
        if cell.runs.is_empty() {
            return Some(Agreement::NotRun);
        }
        let found = mean(&cell.values(columns.measure), columns.deviation);
        let agrees = found.is_some_and(|(mean, _)| expected.agrees(mean / self.report.unit));
        Some(if agrees { Agreement::Agrees } else { Agreement::Differs })
    }

    /// What a measure is called in this study.
    pub fn measure_name(&self, measure: Measure) -> String {
        let shown = self.report.measure == measure.name;
        let mut names = self.cells.iter().flat_map(|cell| &cell.runs).map(|run| &run.summary.metric_name);
        let own = names.next().filter(|first| names.all(|name| name == *first));
        match own {
            _ if shown && !self.report.name.is_empty() => self.report.name.clone(),
            Some(own) if measure.name == "metric" => own.clone(),
            _ => measure.name.replace('_', " "),
        }
    }

    /// In what unit the numbers are, in words; nothing if it is one.
    pub fn unit(&self) -> String {
        if self.report.unit == 1.0 { String::new() } else { format!("in units of {:e}", self.report.unit) }
    }

    /// The number of runs of every cell, if it is the same everywhere and none diverged.
    pub fn runs_each(&self) -> Option<usize> {
        let first = self.cells.first().map(|cell| cell.runs.len());
        let same = |cell: &StudyCell| {
            Some(cell.runs.len()) == first && cell.runs.len() == cell.wanted && cell.diverged() == 0
        };
        first.filter(|_| self.cells.iter().all(same))
    }

    /// A table for people.
    pub fn table(&self, columns: Columns) -> Table {
        let published = !self.expected.is_empty();
        let tuned = self.cells.iter().any(|cell| !cell.scores.is_empty());
        let counted = self.runs_each().is_none();
        let mut heading = self.axes.clone();
        heading.extend(tuned.then(|| "rate".to_string()));
        heading.push(self.measure_name(columns.measure));
        heading.extend(columns.beside.map(|beside| self.measure_name(beside)));
        heading.extend(published.then(|| self.report.expected_name.clone()));
        heading.extend(published.then(String::new));
        heading.extend(counted.then(|| "runs".to_string()));
        let lines = self.cells.iter().map(|cell| {
            let mut line = cell.labels.clone();
            line.extend(tuned.then(|| cell.rate.map_or(String::new(), |rate| format!("{rate}"))));
            line.push(self.value(cell, columns.measure, columns.deviation));
            line.extend(columns.beside.map(|beside| self.value(cell, beside, columns.deviation)));
            if published {
                line.push(self.expected(cell).map_or(String::new(), |expected| match expected.std {
                    Some(std) => format!("{} ± {std}", expected.mean),
                    None => expected.mean.to_string(),
                }));
                line.push(self.agreement(cell, columns).map_or("", Agreement::text).into());
            }
            line.extend(counted.then(|| cell.counted()));
            line
        });
        Table { lines: lines.collect(), heading }
    }

    /// Mean ± deviation in the study's unit.
    pub(super) fn value(&self, cell: &StudyCell, measure: Measure, deviation: Deviation) -> String {
        let values: Vec<f64> = cell.values(measure).iter().map(|value| value / self.report.unit).collect();
        match mean(&values, deviation) {
            Some((mean, spread)) => shown(mean, spread),
            None if cell.diverged() > 0 => "diverged".into(),
            // Not run, or the task has no such measure.
            None => "-".into(),
        }
    }

    /// A table for machines: one number per field.
    pub fn numbers(&self, columns: Columns) -> Table {
        let mut heading = self.axes.clone();
        heading.extend(["learning_rate", "mean", "std"].map(String::from));
        heading.extend(
            columns.beside.iter().flat_map(|b| [format!("{}_mean", b.name), format!("{}_std", b.name)]),
        );
        heading.extend(["runs", "diverged"].map(String::from));
        if !self.expected.is_empty() {
            heading.extend(["published_mean", "published_std", "agreement"].map(String::from));
        }
        let line = |cell: &StudyCell| {
            let pair = |measure| {
                let values: Vec<f64> = cell.values(measure).iter().map(|v| v / self.report.unit).collect();
                let found = mean(&values, columns.deviation);
                found.map_or([String::new(), String::new()], |(mean, std)| {
                    [six(mean), if std.is_nan() { String::new() } else { six(std) }]
                })
            };
            let mut line = cell.labels.clone();
            line.push(cell.rate.map_or(String::new(), |rate| rate.to_string()));
            line.extend(pair(columns.measure));
            line.extend(columns.beside.into_iter().flat_map(pair));
            line.extend([cell.runs.len().to_string(), cell.diverged().to_string()]);
            if !self.expected.is_empty() {
                let expected = self.expected(cell);
                line.push(expected.map_or(String::new(), |expected| expected.mean.to_string()));
                line.push(expected.and_then(|e| e.std).map_or(String::new(), |std| std.to_string()));
                line.push(self.agreement(cell, columns).map_or("", Agreement::text).into());
            }
            line
        };
        Table { lines: self.cells.iter().map(line).collect(), heading }
    }
}

impl StudyCell {
    /// How many runs ended, of how many, and how many of them diverged.
    pub(super) fn counted(&self) -> String {
        let done = self.runs.len();
        let count = if done == self.wanted { done.to_string() } else { format!("{done} of {}", self.wanted) };
        match self.diverged() {
            0 => count,
            diverged => format!("{count} ({diverged} diverged)"),
        }
    }
}

/// Four digits of the mean, and as many decimals of the deviation.
pub fn with_spread(mean: f64, spread: f64) -> String {
    let exponent = if mean == 0.0 { 0 } else { mean.abs().log10().floor() as i32 };
    match exponent {
        -3..=5 => {
            let decimals = (3 - exponent).clamp(0, 6) as usize;
            format!("{mean:.decimals$} ± {spread:.decimals$}")
        }
        _ if mean.is_infinite() => mean.to_string(),
        _ => format!("{mean:.3e} ± {spread:.1e}"),
    }
}

/// The same of a deviation that a single value does not have.
fn shown(mean: f64, spread: f64) -> String {
    let both = with_spread(mean, spread);
    match both.split_once(" ± ") {
        Some((mean, _)) if spread.is_nan() => mean.to_string(),
        _ => both,
    }
}

/// Six digits, without the noise of the rest.
pub(super) fn six(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    rounded.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deviation_has_the_decimals_of_its_mean() {
        assert_eq!(with_spread(86.0377, 0.1731), "86.04 ± 0.17");
        assert_eq!(with_spread(7.33245, 0.403766), "7.332 ± 0.404");
        assert_eq!(with_spread(1234.0, 5.6), "1234 ± 6");
        assert_eq!(with_spread(3.2e-7, 1e-8), "3.200e-7 ± 1.0e-8");
        assert_eq!(with_spread(0.0, 0.0), "0.000 ± 0.000");
        assert_eq!(with_spread(f64::INFINITY, f64::NAN), "inf");
        assert_eq!((shown(7.33245, f64::NAN), shown(1.0, 0.5)), ("7.332".into(), "1.000 ± 0.500".into()));
        assert_eq!((six(0.1 + 0.2), six(12345678.0)), ("0.3".into(), "12345700".into()));
    }
}
