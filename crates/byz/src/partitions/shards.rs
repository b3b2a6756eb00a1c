//! A few pieces each: the examples sorted by label, cut into count·k pieces, and k random pieces for every worker.
//!
//! Default k = 2: most workers see two classes. Pieces differ by at most one example, so shards by at most k.
//! Reference: McMahan, Moore, Ramage, Hampson, Agüera y Arcas: "Communication-efficient learning of deep networks from
//! decentralized data", AISTATS 2017.

use super::{
    Partition,
    cut::{enough, evenly, labels, sort_by_label},
};
use crate::{
    error::Result,
    random::Stream,
    registry::{Entry, Kind, Parameter, Properties},
    tasks::Examples,
};

struct Shards {
    per_worker: usize,
}

pub(super) const ENTRY: Entry<dyn Partition> = Entry {
    name: "shards",
    aliases: &[],
    summary: "the examples sorted by label and cut into small pieces, a few random pieces each",
    parameters: &[Parameter {
        name: "per_worker",
        default: "2",
        summary: "pieces for every worker",
        kind: Kind::Count { least: 1 },
    }],
    requirement: "",
    reference: "McMahan et al., Communication-efficient learning of deep networks, AISTATS 2017",
    properties: Properties::NONE,
    build: |arguments| Ok(Box::new(Shards { per_worker: arguments.count("per_worker").unwrap_or(2) })),
};

impl Partition for Shards {
    fn shards(&self, examples: &Examples<'_>, count: usize, seed: u64) -> Result<Vec<Vec<usize>>> {
        let labels = labels(examples, ENTRY.name)?;
        let pieces = count.saturating_mul(self.per_worker);
        enough(examples.count, pieces, "examples")?;
        let cut = evenly(&sort_by_label((0..examples.count).collect(), labels), pieces);
        let order = Stream::new(seed, "partition", 0, 0).permutation(pieces);
        let shard = |mine: &[usize]| mine.iter().flat_map(|piece| cut[*piece].iter().copied()).collect();
        Ok(order.chunks(self.per_worker).map(shard).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_worker_sees_more_classes_than_it_has_pieces() {
        let labels: Vec<u8> = (0..100).map(|example| (example % 10) as u8).collect();
        let examples = Examples { count: 100, labels: Some(&labels), classes: 10 };
        let shards = Shards { per_worker: 2 }.shards(&examples, 5, 1).unwrap();
        for shard in &shards {
            let classes: std::collections::BTreeSet<u8> =
                shard.iter().map(|example| labels[*example]).collect();
            assert!(shard.len() == 20 && classes.len() == 2);
        }
        assert!(Shards { per_worker: usize::MAX }.shards(&examples, 5, 1).is_err());
    }
}
