//! Stand-in.

/// Stand-in.
pub struct Sampler {}
impl Sampler {
    /// Stand-in.
    pub fn new(_shards: Vec<Vec<usize>>, _batch: usize, _seed: u64, _per_epoch: Option<usize>) -> Sampler {
        Sampler {}
    }
    /// Stand-in.
    pub fn batch(&mut self, _worker: usize, _round: u64, _out: &mut Vec<usize>) {}
}
