//! All alike: a random order of all examples, cut evenly.

use super::{
    Partition,
    cut::{enough, evenly},
};
use crate::{
    error::Result,
    random::Stream,
    registry::{Entry, Properties},
    tasks::Examples,
};

struct Iid;

pub(super) const ENTRY: Entry<dyn Partition> = Entry {
    name: "iid",
    aliases: &[],
    summary: "a random order of all examples, cut evenly",
    parameters: &[],
    requirement: "",
    reference: "folklore",
    properties: Properties::NONE,
    build: |_| Ok(Box::new(Iid)),
};

impl Partition for Iid {
    fn shards(&self, examples: &Examples<'_>, count: usize, seed: u64) -> Result<Vec<Vec<usize>>> {
        enough(examples.count, count, "examples")?;
        Ok(evenly(&Stream::new(seed, "partition", 0, 0).permutation(examples.count), count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depends_on_the_seed_alone() {
        let examples = Examples { count: 100, labels: None, classes: 0 };
        let first = Iid.shards(&examples, 7, 1).unwrap();
        assert_eq!(first, Iid.shards(&examples, 7, 1).unwrap());
        assert_ne!(first, Iid.shards(&examples, 7, 2).unwrap());
        assert_eq!((first[0].len(), first[6].len()), (15, 14));
    }
}
