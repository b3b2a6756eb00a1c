//! What a run leaves behind: `rounds.jsonl`, a line per round without any clock in it, and `summary.json`.
//!
//! The lines of a run that was cut off and resumed are those of one that was not, byte for byte: before resuming, the file is
//! cut back to the checkpoint's round.

use super::{config::Config, number};
use crate::{
    diagnostics::Round,
    error::{Error, Result},
    files,
    tasks::Metrics,
};
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{BufRead, BufReader, BufWriter, Write},
    path::{Path, PathBuf},
};

/// One line of `rounds.jsonl`.
#[derive(Debug, Serialize)]
pub struct Line<'a> {
    /// The round; 0 is the start.
    pub round: u64,
    /// What the round told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training: Option<&'a Round>,
    /// What an evaluation after the round told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluation: Option<&'a Metrics>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// All rounds done.
    Finished,
    /// Left the finite numbers.
    Diverged,
}

/// `summary.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// How it ended.
    pub status: Status,
    /// The run's key.
    pub key: String,
    /// Rounds done; the round in which a diverged run ended.
    pub rounds: u64,
    /// What `metric` measures.
    pub metric_name: String,
    /// Whether more of it is better.
    pub higher_is_better: bool,
    /// The last evaluation.
    #[serde(with = "number::optional", default)]
    pub metric: Option<f64>,
    /// The best evaluation.
    #[serde(with = "number::optional", default)]
    pub best_metric: Option<f64>,
    /// The mean of all evaluations after the start.
    #[serde(with = "number::optional", default)]
    pub mean_metric: Option<f64>,
    /// Loss of the last evaluation.
    #[serde(with = "number::optional", default)]
    pub loss: Option<f64>,
    /// Mean batch loss of the last round.
    #[serde(with = "number::optional", default)]
    pub training_loss: Option<f64>,
    /// Length of the last aggregate.
    #[serde(with = "number::optional", default)]
    pub aggregate_norm: Option<f64>,
    /// Length of the true gradient at the end, where it is known.
    #[serde(with = "number::optional", default)]
    pub gradient_norm: Option<f64>,
    /// Accuracy per class at the end, where there are classes; none of a class that was not seen.
    pub per_class: Option<Vec<Option<f64>>>,
    /// Rounds whose update was zero.
    pub zero_updates: u64,
    /// Messages found invalid, over all rounds.
    pub invalid_messages: u64,
}

impl Summary {
    /// The names of its measures.
    pub const MEASURES: [&str; 7] =
        ["metric", "best_metric", "mean_metric", "loss", "training_loss", "aggregate_norm", "gradient_norm"];

    /// The measure of this name, if it was taken.
    pub fn measure(&self, name: &str) -> Option<f64> {
        match name {
            "metric" => self.metric,
            "best_metric" => self.best_metric,
            "mean_metric" => self.mean_metric,
            "loss" => self.loss,
            "training_loss" => self.training_loss,
            "aggregate_norm" => self.aggregate_norm,
            "gradient_norm" => self.gradient_norm,
            _ => None,
        }
    }
}

/// A run's directory.
#[derive(Clone, Debug)]
pub struct Record {
    directory: PathBuf,
}

impl Record {
    /// The record in this directory, which is made if need be.
    pub fn at(directory: &Path) -> Result<Record> {
        fs::create_dir_all(directory)
            .map_err(|error| Error::file(directory, format_args!("cannot be made: {error}")))?;
        Ok(Record { directory: directory.to_path_buf() })
    }

    /// Where it is.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// A file of the record.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Writes a small file whole.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<()> {
        files::replace(&self.path(name), |out| out.write_all(text.as_bytes()))
    }

    /// The summary, if the run has ended.
    pub fn summary(&self) -> Result<Option<Summary>> {
        let path = self.path("summary.json");
        let Ok(text) = fs::read_to_string(&path) else { return Ok(None) };
        let parsed = serde_json::from_str(&text);
        parsed.map(Some).map_err(|error| Error::file(&path, format_args!("is damaged ({error})")))
    }

    /// `timing.jsonl`, open for more, which nobody else may have open meanwhile: two processes would write over each other.
    pub(super) fn lock(&self) -> Result<File> {
        let path = self.path("timing.jsonl");
        let failed = |error: std::io::Error| Error::file(&path, format_args!("cannot be opened: {error}"));
        let file = OpenOptions::new().create(true).append(true).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => {
                let problem = "another process is working on this run; wait for it or choose another --out";
                Err(Error::file(&self.directory, problem))
            }
            // Some file systems have no locks.
            Err(TryLockError::Error(_)) => Ok(file),
        }
    }

    /// The first round of which `rounds.jsonl` lacks the line that this configuration asks for.
    pub(super) fn first_gap(&self, config: &Config) -> u64 {
        File::open(self.path("rounds.jsonl")).map_or(0, |file| Lines::of(file, config, u64::MAX).next)
    }

    /// `rounds.jsonl`, cut back to what happened up to `round` and open for more; from the beginning if none.
    pub(super) fn rounds(&self, config: &Config, round: Option<u64>) -> Result<BufWriter<File>> {
        let path = self.path("rounds.jsonl");
        let failed = |error: std::io::Error| Error::file(&path, format_args!("cannot be written: {error}"));
        let keep = match round {
            None => 0,
            Some(round) => Lines::of(File::open(&path).map_err(failed)?, config, round).bytes,
        };
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
        file.set_len(keep).map_err(failed)?;
        let mut file = BufWriter::new(file);
        std::io::Seek::seek(&mut file, std::io::SeekFrom::End(0)).map_err(failed)?;
        Ok(file)
    }
}

/// The whole lines at the beginning of a record, without a gap.
struct Lines {
    /// The round whose line should come next.
    next: u64,
    bytes: u64,
}

impl Lines {
    /// Those of rounds up to `last`.
    fn of(file: File, config: &Config, last: u64) -> Lines {
        #[derive(Deserialize)]
        struct Numbered {
            round: u64,
        }
        let mut reader = BufReader::new(file);
        let (mut lines, mut line) = (Lines { next: 0, bytes: 0 }, Vec::new());
        while lines.next <= last {
            line.clear();
            let read = reader.read_until(b'\n', &mut line);
            let numbered = serde_json::from_slice::<Numbered>(&line);
            match (read, numbered) {
                (Ok(bytes), Ok(Numbered { round })) if line.ends_with(b"\n") && round == lines.next => {
                    lines.bytes += bytes as u64;
                    let after = (round + 1..=config.rounds).find(|round| config.records(*round));
                    lines.next = after.unwrap_or(u64::MAX);
                }
                _ => break,
            }
        }
        lines
    }
}

/// Writes a value as JSON, whole or not at all.
pub(super) fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Error::Internal(format!("a record is no JSON: {error}")))?;
    files::replace(path, |out| out.write_all((text + "\n").as_bytes()))
}
