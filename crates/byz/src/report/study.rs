//! Runs put in order: a sweep by its index, loose runs by what tells them apart.

use super::{Expected, Run};
use crate::{
    error::{Error, Result},
    experiment::{Index, Presentation},
};
use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

/// Cells on axes, with their runs.
#[derive(Clone, Debug)]
pub struct Study {
    /// The sweep's name; empty for loose runs.
    pub name: String,
    /// How it wants to be shown.
    pub report: Presentation,
    /// The names of the axes.
    pub axes: Vec<String>,
    /// In the order of the grid.
    pub cells: Vec<StudyCell>,
    /// What was published of them.
    pub expected: Vec<Expected>,
}

/// Runs that differ only in their seeds.
#[derive(Clone, Debug)]
pub struct StudyCell {
    /// The label on every axis.
    pub labels: Vec<String>,
    /// The base learning rate of the runs.
    pub rate: Option<f64>,
    /// Every candidate's rate and score, where the rate was tuned.
    pub scores: Vec<(f64, Option<f64>)>,
    /// Runs that were asked for.
    pub wanted: usize,
    /// Those that have ended.
    pub runs: Vec<Run>,
}

/// All studies in or below the directories: every sweep, and all loose runs as one more.
pub fn load<P: AsRef<Path>>(directories: &[P]) -> Result<Vec<Study>> {
    let (mut studies, mut loose) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    for directory in directories {
        let directory = directory.as_ref();
        if !directory.is_dir() {
            return Err(Error::Usage(format!("{} is no directory", directory.display())));
        }
        visit(directory, &mut seen, &mut studies, &mut loose)?;
    }
    if !loose.is_empty() {
        studies.push(Study::of_runs(loose)?);
    }
    Ok(studies)
}

fn visit(
    directory: &Path,
    seen: &mut HashSet<PathBuf>,
    studies: &mut Vec<Study>,
    loose: &mut Vec<Run>,
) -> Result<()> {
    // The same run twice would count as two.
    if !seen.insert(directory.canonicalize().unwrap_or_else(|_| directory.to_path_buf())) {
        return Ok(());
    }
    if let Some(index) = Index::load(directory)? {
        studies.push(Study::of_sweep(directory, index)?);
        return Ok(());
    }
    if directory.join("config.toml").is_file() {
        loose.extend(Run::load(directory)?);
        return Ok(());
    }
    let failed = |error| Error::file(directory, format_args!("cannot be read: {error}"));
    let mut below: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_directory && entry.file_name() != "tuning" {
            below.push(entry.path());
        }
    }
    below.sort();
    below.iter().try_for_each(|path| visit(path, seen, studies, loose))
}

/// Keys that runs of one cell may differ in.
const SEEDS: [&str; 2] = ["seed", "data_seed"];

impl Study {
    /// What a sweep has run so far.
    pub fn of_sweep(directory: &Path, index: Index) -> Result<Study> {
        let mut cells = Vec::with_capacity(index.cells.len());
        for cell in index.cells {
            let mut runs = Vec::new();
            for key in &cell.runs {
                runs.extend(Run::load(&directory.join("runs").join(key))?);
            }
            let (labels, rate, scores) = (cell.labels, cell.rate, cell.scores);
            cells.push(StudyCell { labels, rate, scores, wanted: cell.runs.len(), runs });
        }
        let expected = match fs::read_to_string(directory.join("expected.csv")) {
            Ok(text) => Expected::read(&text, &index.axes)?,
            Err(_) => Vec::new(),
        };
        Ok(Study { name: index.name, report: index.report, axes: index.axes, cells, expected })
    }

    /// Puts runs together that differ only in their seeds; the axes are the keys in which the others differ.
    pub fn of_runs(mut runs: Vec<Run>) -> Result<Study> {
        // A copy of a run is no other result.
        let mut keys = HashSet::new();
        runs.retain(|run| keys.insert(run.summary.key.clone()));
        let mut tables = Vec::new();
        for run in &runs {
            let mut table = toml::Table::try_from(&run.config)
                .map_err(|error| Error::Internal(format!("a configuration is no table: {error}")))?;
            SEEDS.iter().for_each(|key| drop(table.remove(*key)));
            tables.push(table);
        }
        let mut axes: Vec<String> = tables.iter().flat_map(|table| table.keys().cloned()).collect();
        axes.sort();
        axes.dedup();
        axes.retain(|key| tables.iter().any(|table| table.get(key) != tables[0].get(key)));
        let mut seen: Vec<toml::Table> = Vec::new();
        let mut cells: Vec<StudyCell> = Vec::new();
        for (run, table) in runs.into_iter().zip(tables) {
            let index = seen.iter().position(|known| *known == table).unwrap_or_else(|| {
                let labels = axes.iter().map(|key| table.get(key).map_or(String::new(), show)).collect();
                let rate = Some(run.config.rate);
                cells.push(StudyCell { labels, rate, scores: Vec::new(), wanted: 0, runs: Vec::new() });
                seen.push(table);
                cells.len() - 1
            });
            cells[index].wanted += 1;
            cells[index].runs.push(run);
        }
        cells.sort_by(|a, b| a.labels.cmp(&b.labels));
        Ok(Study { name: String::new(), report: Presentation::default(), axes, cells, expected: Vec::new() })
    }

    /// Whether any run has ended.
    pub fn is_empty(&self) -> bool {
        self.cells.iter().all(|cell| cell.runs.is_empty())
    }
}

/// A value as one would write it; text without quotes.
fn show(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(items) => items.iter().map(show).collect::<Vec<_>>().join("+"),
        other => other.to_string(),
    }
}
