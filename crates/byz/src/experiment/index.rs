//! What a sweep's directory holds: `index.json` names every cell, the rate that tuning chose, and the keys of its runs.
//!
//! It is written before the first run, so that a sweep that was cut off can be reported. A cell that was left out keeps what
//! an earlier call wrote of it, while its runs are those that the grid asks for.

use super::{grid::Cell, presentation::Presentation, record::write_json};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::{fs, path::Path};

const NAME: &str = "index.json";

/// A sweep's table of contents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Index {
    /// The sweep's name.
    pub name: String,
    /// How it wants to be shown.
    pub report: Presentation,
    /// The names of the axes.
    pub axes: Vec<String>,
    /// Every cell of the grid, in its order.
    pub cells: Vec<Indexed>,
}

/// One cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Indexed {
    /// The label on every axis.
    pub labels: Vec<String>,
    /// The rate its runs have; none if nothing was run.
    pub rate: Option<f64>,
    /// Every candidate's rate and score; no score if it diverged.
    pub scores: Vec<(f64, Option<f64>)>,
    /// The keys of its runs, by seed; empty if none was asked for.
    pub runs: Vec<String>,
}

impl Indexed {
    /// A cell that was not run.
    pub(super) fn idle(cell: &Cell) -> Indexed {
        let labels = cell.labels.iter().map(|(_, label)| label.clone()).collect();
        Indexed { labels, rate: None, scores: Vec::new(), runs: Vec::new() }
    }
}

impl Index {
    /// The index of this directory, if it has one.
    pub fn load(directory: &Path) -> Result<Option<Index>> {
        let path = directory.join(NAME);
        let Ok(text) = fs::read_to_string(&path) else { return Ok(None) };
        let damaged =
            |error| Error::file(&path, format_args!("is damaged ({error}); run the sweep again to mend it"));
        serde_json::from_str(&text).map(Some).map_err(damaged)
    }

    /// Writes it, with what an earlier index says of cells for which that still `stands`, by their place in the grid.
    pub(super) fn save(
        mut self,
        directory: &Path,
        stands: impl Fn(usize, &Indexed) -> Result<bool>,
    ) -> Result<()> {
        // A damaged one is replaced.
        let earlier = Index::load(directory).ok().flatten().filter(|earlier| earlier.axes == self.axes);
        let known = earlier.map_or(Vec::new(), |earlier| earlier.cells);
        for (place, cell) in self.cells.iter_mut().enumerate() {
            let before = known.iter().find(|known| known.labels == cell.labels);
            if let Some(before) = before.filter(|before| !before.runs.is_empty())
                && stands(place, before)?
            {
                *cell = before.clone();
            }
        }
        write_json(&directory.join(NAME), &self)
    }
}
