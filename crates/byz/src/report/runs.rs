//! A run that has ended, and its curve.

use crate::{
    diagnostics::Estimates,
    error::{Error, Result},
    experiment::{Config, Record, Summary},
};
use serde::Deserialize;
use std::{
    fs::{self, File},
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
};

/// A run that has ended.
#[derive(Clone, Debug)]
pub struct Run {
    /// Where it is kept.
    pub directory: PathBuf,
    /// What was run.
    pub config: Config,
    /// How it ended.
    pub summary: Summary,
}

/// One line of a record.
#[derive(Clone, Debug, Deserialize)]
pub struct Point {
    /// The round; 0 is the start.
    pub round: u64,
    /// What the round told; none at the start.
    pub training: Option<Training>,
    /// What an evaluation after the round told.
    pub evaluation: Option<Evaluation>,
}

/// What a round told.
#[derive(Clone, Debug, Deserialize)]
pub struct Training {
    /// Mean loss of the honest batches.
    pub loss: f64,
    /// The learning rate.
    pub rate: f64,
    /// Length of the aggregate; no number where it overflowed.
    #[serde(deserialize_with = "null_is_no_number")]
    pub aggregate_norm: f64,
    /// Share of the aggregate that Byzantine workers had.
    pub byzantine_weight: Option<f64>,
    /// The realised robustness coefficient.
    pub kappa: Option<f64>,
    /// Every worker's weight.
    pub weights: Option<Vec<f64>>,
    /// The theorem's constants, where the round was looked at.
    pub estimates: Option<Estimates>,
}

/// What an evaluation told.
#[derive(Clone, Debug, Deserialize)]
pub struct Evaluation {
    /// Mean loss.
    pub loss: Option<f64>,
    /// The task's metric; none where it is not finite.
    pub metric: Option<f64>,
    /// Length of the true gradient.
    pub gradient_norm: Option<f64>,
    /// Accuracy per class.
    pub per_class: Option<Vec<Option<f64>>>,
}

/// JSON has no infinities; they are written as null.
fn null_is_no_number<'d, D: serde::Deserializer<'d>>(value: D) -> std::result::Result<f64, D::Error> {
    Ok(Option::deserialize(value)?.unwrap_or(f64::NAN))
}

impl Run {
    /// The run of this directory; none if there is none or it has not ended.
    pub fn load(directory: &Path) -> Result<Option<Run>> {
        let stored = directory.join("config.toml");
        let Ok(text) = fs::read_to_string(&stored) else { return Ok(None) };
        let config = Config::from_toml(&text)
            .map_err(|error| Error::file(&stored, format_args!("is not usable: {error}")))?;
        let summary = Record::at(directory)?.summary()?;
        Ok(summary.map(|summary| Run { directory: directory.to_path_buf(), config, summary }))
    }

    /// Its record, line by line.
    pub fn points(&self) -> Result<Vec<Point>> {
        let path = self.directory.join("rounds.jsonl");
        let failed = |error: std::io::Error| Error::file(&path, format_args!("cannot be read: {error}"));
        let mut points = Vec::new();
        for line in BufReader::new(File::open(&path).map_err(failed)?).lines() {
            let line = line.map_err(failed)?;
            points.push(
                serde_json::from_str(&line)
                    .map_err(|error| Error::file(&path, format_args!("is damaged: {error}")))?,
            );
        }
        Ok(points)
    }

    /// Seconds its rounds took, over all calls.
    pub fn seconds(&self) -> f64 {
        #[derive(Deserialize)]
        struct Timed {
            seconds: f64,
        }
        let text = fs::read_to_string(self.directory.join("timing.jsonl")).unwrap_or_default();
        text.lines()
            .filter_map(|line| serde_json::from_str::<Timed>(line).ok())
            .map(|line| line.seconds)
            .sum()
    }
}
