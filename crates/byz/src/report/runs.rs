//! Finding the records below some directories.

use crate::{
    error::{Error, Result},
    experiment::{Config, Record, Summary},
};
use std::{
    fs,
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

/// All ended runs in or below the directories, in the order of their paths; the candidates of a tuning do not count.
pub fn load<P: AsRef<Path>>(directories: &[P]) -> Result<Vec<Run>> {
    let mut runs = Vec::new();
    for directory in directories {
        let directory = directory.as_ref();
        if !directory.is_dir() {
            return Err(Error::Usage(format!("{} is no directory", directory.display())));
        }
        visit(directory, &mut runs)?;
    }
    Ok(runs)
}

fn visit(directory: &Path, runs: &mut Vec<Run>) -> Result<()> {
    let stored = directory.join("config.toml");
    if let Ok(text) = fs::read_to_string(&stored) {
        let config = Config::from_toml(&text)
            .map_err(|error| Error::file(&stored, format_args!("is not usable: {error}")))?;
        if let Some(summary) = Record::at(directory)?.summary()? {
            runs.push(Run { directory: directory.to_path_buf(), config, summary });
        }
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
    below.iter().try_for_each(|path| visit(path, runs))
}
