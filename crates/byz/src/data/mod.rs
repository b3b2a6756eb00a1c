//! Data sets: where they are, whether they are what they should be, and their numbers.

mod sampler;
pub use sampler::Sampler;
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
