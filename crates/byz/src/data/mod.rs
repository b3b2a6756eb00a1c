//! Data sets: where they are, whether they are what they should be, and their numbers.

use crate::error::{Error, Result};
use std::{
    io::Read,
    path::{Path, PathBuf},
};

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

/// A part of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// To train on.
    Train,
    /// To judge on.
    Test,
}

/// Images of handwritten digits, 28 × 28 pixels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mnist {
    /// 784 numbers per image, row after row.
    pub images: Vec<u8>,
    /// The digit on each.
    pub labels: Vec<u8>,
}

/// Reads a part of MNIST.
pub fn mnist(directory: &Directory, part: Part) -> Result<Mnist> {
    let prefix = if part == Part::Train { "train" } else { "t10k" };
    let read = |name: &str, header: usize| {
        let path = directory.path().join("mnist").join(format!("{prefix}-{name}-ubyte.gz"));
        let problem = |error: std::io::Error| Error::File { path: path.clone(), problem: error.to_string() };
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(std::fs::File::open(&path).map_err(problem)?)
            .read_to_end(&mut bytes)
            .map_err(problem)?;
        Ok::<_, Error>(bytes.split_off(header))
    };
    Ok(Mnist { images: read("images-idx3", 16)?, labels: read("labels-idx1", 8)? })
}
