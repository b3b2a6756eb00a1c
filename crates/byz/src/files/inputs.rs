//! The files of a round as messages: what each holds, what most of them look like, who differs.
//!
//! One `.npy` matrix has a worker per row. Else every file is a worker's, and what a message must look like is what more
//! than half of the files that can be read look like: honest workers are that many, and agree.

use super::{
    candidate::{Candidate, Format},
    float::Float,
    layout::Layout,
    map::Map,
    metadata::shared_metadata,
    npy::Array,
    row::FileRow,
};
use crate::{
    error::{Error, Refusal, Result},
    kernels::Scalar,
    majority::majority,
    messages::{Message, Messages, Row},
    verdict::{Reason, Verdict},
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Workers at most: planning takes the square of it in memory.
pub const MOST_WORKERS: usize = 10_000;

/// How files are taken for messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Open {
    /// The expected dimension; without it, that of the majority.
    pub dimension: Option<usize>,
    /// Byzantine workers assumed: what no more than these agree on is nobody's word.
    pub tolerance: usize,
    /// A path that does not exist is a missing worker instead of an error.
    pub allow_missing: bool,
}

/// One worker and what its file holds.
#[derive(Clone)]
pub struct Worker {
    /// Its file.
    pub path: PathBuf,
    /// Its row, in a matrix.
    pub row: Option<usize>,
    pub(super) content: Content,
}

#[derive(Clone)]
pub(super) enum Content {
    Row(FileRow),
    Malformed(String),
    Missing,
}

/// The messages of a round, in mapped files.
#[derive(Clone)]
pub struct Inputs {
    pub(super) workers: Vec<Worker>,
    pub(super) layout: Option<Layout>,
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) dimension: Option<usize>,
    pub(super) disagree: bool,
}

impl Inputs {
    /// Maps the files and compares them. Fails where a path is wrong; what is wrong inside a worker's file
    /// is its verdict.
    pub fn open(paths: &[PathBuf], open: Open) -> Result<Inputs> {
        if paths.len() > MOST_WORKERS {
            return Err(Error::Usage(format!(
                "{} files are more than {MOST_WORKERS}, the most",
                paths.len()
            )));
        }
        let formats = paths.iter().map(|path| Format::of(path)).collect::<Result<Vec<_>>>()?;
        if let ([path], [Format::Npy]) = (paths, &formats[..])
            && let Some(map) = Map::open(path)?
        {
            let malformed = |problem| Error::file(path, problem);
            let array = Array::parse(Arc::new(map)).map_err(malformed)?;
            if array.shape().len() == 2 {
                return Inputs::from_matrix(path, &array, open.dimension);
            }
            array.vector().map_err(|problem| Error::file(path, format!("{problem} or a matrix")))?;
        }
        let read = paths.iter().zip(formats).map(|(path, format)| Candidate::read(path, format));
        let candidates = read.collect::<Result<Vec<_>>>()?;
        let absent = candidates.iter().find(|one| matches!(one.worker.content, Content::Missing));
        if let Some(candidate) = absent.filter(|_| !open.allow_missing) {
            let path = candidate.worker.path.display();
            return Err(Error::Usage(format!(
                "{path}: no such file; --allow-missing counts it as a missing worker"
            )));
        }
        Inputs::compare(candidates, open)
    }

    fn from_matrix(path: &Path, array: &Array, dimension: Option<usize>) -> Result<Inputs> {
        let (rows, length) = (array.shape()[0], array.shape()[1]);
        check_dimension(length)?;
        if rows > MOST_WORKERS {
            return Err(Error::Usage(format!(
                "{}: {rows} rows would be as many workers, more than {MOST_WORKERS}; is the matrix transposed?",
                path.display()
            )));
        }
        let worker =
            |(index, row)| Worker { path: path.to_path_buf(), row: Some(index), content: Content::Row(row) };
        Ok(Inputs {
            workers: array.rows().into_iter().flatten().enumerate().map(worker).collect(),
            layout: Some(Layout::Vector { float: array.float(), length }),
            metadata: BTreeMap::new(),
            dimension: Some(dimension.unwrap_or(length)),
            disagree: false,
        })
    }

    fn compare(candidates: Vec<Candidate>, Open { dimension, tolerance, .. }: Open) -> Result<Inputs> {
        // With a stated dimension only those that have it can be right.
        let fits = |layout: &&Layout| dimension.is_none_or(|dimension| layout.length() == dimension);
        let fitting: Vec<&Layout> =
            candidates.iter().filter_map(|one| one.layout.as_ref()).filter(fits).collect();
        let layout = majority(&fitting, tolerance).cloned();
        let metadata = shared_metadata(&candidates, layout.as_ref());
        let disagree = layout.is_none() && !fitting.is_empty();
        if let Some(layout) = &layout {
            check_dimension(layout.length())?;
        }
        let judged = |candidate: Candidate| {
            let Candidate { mut worker, layout: found, .. } = candidate;
            let found = found.as_ref().filter(|found| dimension.is_none() || fits(found));
            let difference = layout.as_ref().zip(found).and_then(|(layout, found)| layout.difference(found));
            if let Some(difference) = difference {
                worker.content = Content::Malformed(difference);
            }
            worker
        };
        let expected = dimension.or_else(|| layout.as_ref().map(Layout::length));
        let workers = candidates.into_iter().map(judged).collect();
        Ok(Inputs { workers, layout, metadata, dimension: expected, disagree })
    }

    /// The workers, in the order of the files or rows.
    pub fn workers(&self) -> &[Worker] {
        &self.workers
    }

    /// What a message of this round looks like; none if no file could be read.
    pub fn layout(&self) -> Option<&Layout> {
        self.layout.as_ref()
    }

    /// The metadata entries that more than half of the checkpoints of this layout share, so that no minority
    /// decides what the aggregate's file says.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// The number type to compute with.
    pub fn computed(&self) -> Float {
        self.layout.as_ref().map_or(Float::F32, Layout::computed)
    }

    /// The refusal that is certain before any number is read: no layout is that of more than half.
    pub fn refusal(&self) -> Option<Error> {
        let verdicts = || self.workers.iter().map(Worker::verdict).collect();
        self.disagree.then(|| Error::Refused { reason: Refusal::NoMajority, verdicts: verdicts() })
    }

    /// The messages, read as T; meant to be [`Inputs::computed`].
    pub fn messages<T: Scalar>(&self) -> Messages<'_, T> {
        let workers = self.workers.iter().map(|worker| match &worker.content {
            Content::Row(row) => Message::Row(Row::Stored(row)),
            Content::Malformed(why) => Message::Malformed(why.clone()),
            Content::Missing => Message::Missing,
        });
        let workers = workers.collect();
        // Without any readable file no length can be wrong.
        Messages { workers, dimension: Some(self.dimension.unwrap_or(0)) }
    }
}

impl Worker {
    /// What is known before its numbers are read.
    pub(super) fn verdict(&self) -> Verdict {
        match &self.content {
            Content::Row(_) => Verdict::Used,
            Content::Malformed(why) => Verdict::Invalid(Reason::Malformed(why.clone())),
            Content::Missing => Verdict::Missing,
        }
    }
}

fn check_dimension(dimension: usize) -> Result<()> {
    if dimension > 0 {
        return Ok(());
    }
    Err(Error::Usage("the messages hold no numbers (dimension 0), so there is nothing to aggregate".into()))
}
