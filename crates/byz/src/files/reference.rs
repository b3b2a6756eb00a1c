//! The centre of centred clipping from a file: usually the aggregate of the round before.

use super::{
    candidate::{Format, read},
    inputs::Inputs,
    layout::Layout,
    map::Map,
};
use crate::{
    error::{Error, Result},
    kernels::Scalar,
    messages::Stored,
};
use std::{path::Path, sync::Arc};

impl Inputs {
    /// Reads a vector that must look like the messages: a checkpoint with the same tensors, or a vector of the same
    /// length whose numbers T holds exactly. The caller's own file, so anything wrong is an error.
    pub fn read_reference<T: Scalar>(&self, path: &Path) -> Result<Vec<T>> {
        let format = Format::of(path)?;
        let usage = |problem: String| Error::Usage(format!("{}: {problem}", path.display()));
        let map = Map::open(path)?.ok_or_else(|| usage("no such file".into()))?;
        let (row, found, _) = read(Arc::new(map), format)
            .map_err(|problem| usage(format!("no usable reference: {problem}")))?;
        let expected = self.layout().ok_or_else(|| usage("there is no message to compare it with".into()))?;
        let difference = match (expected, &found) {
            // An aggregate of float16 vectors is written as float32.
            (Layout::Vector { float: expected, .. }, Layout::Vector { float, .. })
                if float.computed() == expected.computed() =>
            {
                None
            }
            _ => expected.difference(&found),
        };
        if let Some(difference) = difference {
            return Err(usage(format!("the reference must look like the messages: {difference}")));
        }
        if found.length() != expected.length() {
            let (found, expected) = (found.length(), expected.length());
            return Err(usage(format!("the reference has length {found}, the messages {expected}")));
        }
        let mut vector = vec![T::default(); found.length()];
        row.read(0, &mut vector);
        Stored::<T>::release(&row, 0..vector.len());
        match vector.iter().position(|value| !value.is_admissible()) {
            None => Ok(vector),
            Some(k) => {
                Err(usage(format!("the reference has {:?} at coordinate {k}; it must be finite", vector[k])))
            }
        }
    }
}
