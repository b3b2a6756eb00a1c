//! Which number of a run is meant, and what many runs say of it.

use super::StudyCell;
use crate::{
    error::{Error, Result},
    experiment::{Status, Summary},
    registry::nearest,
};

/// Which number of a summary.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// Its name in the summary.
    pub name: &'static str,
}

impl Measure {
    /// By its name in the summary.
    pub fn find(name: &str) -> Result<Measure> {
        let known = Summary::MEASURES;
        known.into_iter().find(|known| *known == name).map(|name| Measure { name }).ok_or_else(|| {
            Error::UnknownName {
                family: "measure",
                name: name.to_string(),
                nearest: nearest(name, known.into_iter()),
                known: known.map(String::from).to_vec(),
            }
        })
    }

    /// Of a run that finished.
    pub fn of(self, summary: &Summary) -> Option<f64> {
        summary.measure(self.name).filter(|_| summary.status == Status::Finished)
    }
}

/// How a standard deviation is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deviation {
    /// Divided by the number of runs, as the paper's tables.
    Population,
    /// Divided by one less.
    Sample,
}

/// Mean and standard deviation; none of nothing. The sample deviation of a single value is no number.
pub fn mean(values: &[f64], deviation: Deviation) -> Option<(f64, f64)> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let divisor = if deviation == Deviation::Sample { count - 1.0 } else { count };
    let spread = (squares / divisor).sqrt();
    (!values.is_empty()).then_some((mean, spread))
}

impl StudyCell {
    /// The measure of every run that finished.
    pub fn values(&self, measure: Measure) -> Vec<f64> {
        self.runs.iter().filter_map(|run| measure.of(&run.summary)).collect()
    }

    /// Runs that left the finite numbers.
    pub fn diverged(&self) -> usize {
        self.runs.iter().filter(|run| run.summary.status == Status::Diverged).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_comes_with_either_deviation() {
        assert_eq!(mean(&[1.0, 3.0], Deviation::Population), Some((2.0, 1.0)));
        assert_eq!(mean(&[1.0, 3.0], Deviation::Sample), Some((2.0, 2f64.sqrt())));
        assert_eq!(mean(&[5.0], Deviation::Population), Some((5.0, 0.0)));
        assert!(mean(&[5.0], Deviation::Sample).is_some_and(|(mean, spread)| mean == 5.0 && spread.is_nan()));
        assert_eq!(mean(&[], Deviation::Sample), None);
    }
}
