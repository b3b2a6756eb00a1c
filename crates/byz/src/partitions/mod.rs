//! How training examples are cut into shards, one per worker: from all alike to one class each. One partition per file.

use crate::{error::Result, registry::Entry, tasks::Examples};

/// A way to cut.
pub trait Partition: Send + Sync {
    /// The examples of each of `count` shards.
    fn shards(&self, examples: &Examples<'_>, count: usize, seed: u64) -> Result<Vec<Vec<usize>>>;
}

/// Every partition.
pub static TABLE: &[Entry<dyn Partition>] = &[];
