//! Data sets: where they are, whether they are what they should be, and their numbers.

use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

/// A directory that holds data sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory {
    path: PathBuf,
}

impl Directory {
    /// This directory.
    pub fn at(path: impl Into<PathBuf>) -> Directory {
        Directory { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The text of tinyshakespeare.
pub fn shakespeare(directory: &Directory) -> Result<String> {
    let path = directory.path().join("shakespeare/input.txt");
    std::fs::read_to_string(&path).map_err(|error| Error::File { path, problem: error.to_string() })
}
