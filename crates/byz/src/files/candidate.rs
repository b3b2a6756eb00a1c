//! One file, recognised but not yet compared with the others.

use super::{
    checkpoint::Checkpoint,
    inputs::{Content, Worker},
    layout::Layout,
    map::Map,
    npy::Array,
    row::FileRow,
};
use crate::{
    error::{Error, Result},
    messages::Stored,
};
use std::{collections::BTreeMap, path::Path, sync::Arc};

/// A file before it is compared with the others.
pub(super) struct Candidate {
    pub(super) worker: Worker,
    pub(super) layout: Option<Layout>,
    pub(super) metadata: BTreeMap<String, String>,
}

/// What the name of a file promises.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Format {
    Npy,
    Safetensors,
}

impl Format {
    pub(super) fn of(path: &Path) -> Result<Format> {
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("npy") => Ok(Format::Npy),
            Some("safetensors") => Ok(Format::Safetensors),
            _ => Err(Error::Usage(format!(
                "{}: the name must end in .npy or .safetensors, the formats that byz knows",
                path.display()
            ))),
        }
    }
}

impl Candidate {
    pub(super) fn read(path: &Path, format: Format) -> Result<Candidate> {
        let candidate = |content, layout, metadata| {
            let worker = Worker { path: path.to_path_buf(), row: None, content };
            Candidate { worker, layout, metadata }
        };
        let Some(map) = Map::open(path)? else {
            return Ok(candidate(Content::Missing, None, BTreeMap::new()));
        };
        let found = read(Arc::new(map), format);
        Ok(match found {
            Ok((row, layout, metadata)) => candidate(Content::Row(row), Some(layout), metadata),
            Err(why) => candidate(Content::Malformed(why), None, BTreeMap::new()),
        })
    }
}

/// The row of a worker's own file; the error is a reason for a verdict.
pub(super) fn read(
    map: Arc<Map>,
    format: Format,
) -> Result<(FileRow, Layout, BTreeMap<String, String>), String> {
    match format {
        Format::Npy => {
            let array = Array::parse(map)?;
            let row = array.vector()?;
            let layout = Layout::Vector { float: array.float(), length: Stored::<f32>::len(&row) };
            Ok((row, layout, BTreeMap::new()))
        }
        Format::Safetensors => {
            let Checkpoint { layout, row, metadata } = Checkpoint::parse(&map)?;
            Ok((row, layout, metadata))
        }
    }
}
