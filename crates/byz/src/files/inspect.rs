//! A look at every number before anything is aggregated, and the tensors of a checkpoint one by one.
//!
//! A worker with a bad number in one tensor is faulty in all of them, so whoever aggregates tensor by tensor inspects
//! the whole first.

use super::{
    inputs::{Content, Inputs, Worker},
    layout::Layout,
};
use crate::{
    engine::Engine,
    inspect::first_inadmissible,
    kernels::Scalar,
    messages::{Row, Rows, Stored},
    verdict::{Reason, Verdict},
};

impl Inputs {
    /// The verdict on every worker after a look at every number, without aggregating.
    pub fn inspect<T: Scalar>(&self, engine: Engine<'_>) -> Vec<Verdict> {
        let dimension = self.dimension.unwrap_or(0);
        let mut verdicts: Vec<Verdict> = self.workers.iter().map(Worker::verdict).collect();
        let mut rows = Vec::new();
        for (worker, verdict) in self.workers.iter().zip(&mut verdicts) {
            let Content::Row(row) = &worker.content else { continue };
            let found = Stored::<T>::len(row);
            if found == dimension {
                rows.push(Row::Stored(row as &dyn Stored<T>));
            } else {
                *verdict = Verdict::Invalid(Reason::WrongLength { found, expected: dimension });
            }
        }
        if rows.is_empty() || dimension == 0 {
            return verdicts;
        }
        let used = verdicts.iter_mut().filter(|verdict| **verdict == Verdict::Used);
        for (verdict, bad) in used.zip(first_inadmissible(&Rows { rows, dimension }, engine)) {
            if let Some((coordinate, value)) = bad {
                *verdict = Verdict::Invalid(match value.is_finite() {
                    true => Reason::OutOfRange { coordinate, value },
                    false => Reason::NonFinite { coordinate, value },
                });
            }
        }
        verdicts
    }

    /// The messages of one tensor of the layout. Who has a verdict keeps it.
    pub fn tensor(&self, index: usize, verdicts: &[Verdict]) -> Option<Inputs> {
        let tensor = self.layout.as_ref()?.tensors().get(index)?;
        let part = |(worker, verdict): (&Worker, &Verdict)| {
            let content = match (&worker.content, verdict) {
                (Content::Row(row), Verdict::Used) => Content::Row(row.slice(&tensor.columns)),
                (Content::Row(_), verdict) => Content::Malformed(verdict.to_string()),
                (other, _) => other.clone(),
            };
            Worker { content, ..worker.clone() }
        };
        let mut alone = tensor.clone();
        alone.columns = 0..tensor.columns.len();
        Some(Inputs {
            workers: self.workers.iter().zip(verdicts).map(part).collect(),
            dimension: Some(alone.columns.len()),
            layout: Some(Layout::Checkpoint(vec![alone])),
            metadata: self.metadata.clone(),
            disagree: false,
        })
    }
}
