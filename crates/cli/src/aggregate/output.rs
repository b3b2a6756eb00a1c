//! Where the aggregate goes, checked before any work is done.

use super::Arguments;
use byz::{
    Error, Scalar,
    files::{Inputs, Layout, write_npy, write_safetensors},
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// What is wrong with the place of the output, whatever the inputs hold.
pub(super) fn check(arguments: &Arguments) -> Result<(), Error> {
    let Some(path) = &arguments.output else { return Ok(()) };
    let usage = |problem: &str| Err(Error::Usage(format!("--output {}: {problem}", path.display())));
    if !is(path, "npy") && !is(path, "safetensors") {
        return usage("the name must end in .npy or .safetensors");
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if directory.is_some_and(|directory| !directory.is_dir()) {
        return usage("its directory does not exist; create it first");
    }
    if path.is_dir() {
        return usage("is a directory; name a file in it");
    }
    let place = fs::canonicalize(path).ok();
    let same = |input: &PathBuf| place.is_some() && fs::canonicalize(input).ok() == place;
    if arguments.inputs.iter().chain(&arguments.reference).any(same) {
        return usage("is also an input, and inputs are never overwritten; choose another name");
    }
    Ok(())
}

/// A vector has no tensors to name.
pub(super) fn check_kind(arguments: &Arguments, layout: &Layout) -> Result<(), Error> {
    match (&arguments.output, layout) {
        (Some(path), Layout::Vector { .. }) if is(path, "safetensors") => Err(Error::Usage(format!(
            "--output {}: .npy inputs have no tensor names for a checkpoint; write to an .npy file instead",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// Writes the aggregate, if a place was named.
pub(super) fn write<T: Scalar>(arguments: &Arguments, inputs: &Inputs, vector: &[T]) -> Result<(), Error> {
    match (&arguments.output, inputs.layout()) {
        (Some(path), Some(layout)) if is(path, "safetensors") => {
            write_safetensors(path, layout.tensors(), inputs.metadata(), vector)
        }
        (Some(path), _) => write_npy(path, vector),
        (None, _) => Ok(()),
    }
}

fn is(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}
