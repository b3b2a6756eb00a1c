//! The examples in the order they come, cut into consecutive shards: passages of a text.
//!
//! `remainder` says who takes the n mod count examples that are left: `spread` gives one each to the first shards, `last`
//! all of them to the last shard, as the released language model code of Byz-NSGDM does (7842 blocks, 17 shards: 461
//! each, 466 in the last).

use super::{
    Partition,
    cut::{enough, evenly},
};
use crate::{
    error::Result,
    registry::{Entry, Kind, Parameter, Properties},
    tasks::Examples,
};

struct Contiguous {
    last: bool,
}

pub(super) const ENTRY: Entry<dyn Partition> = Entry {
    name: "contiguous",
    aliases: &["contiguous_text"],
    summary: "the examples in their order, cut into consecutive shards",
    parameters: &[Parameter {
        name: "remainder",
        default: "spread",
        summary: "who takes what is left over: the first shards one each, or the last all",
        kind: Kind::Choice(&["spread", "last"]),
    }],
    requirement: "",
    reference: "folklore",
    properties: Properties::NONE,
    build: |arguments| Ok(Box::new(Contiguous { last: arguments.choice("remainder") == Some("last") })),
};

impl Partition for Contiguous {
    fn shards(&self, examples: &Examples<'_>, count: usize, _: u64) -> Result<Vec<Vec<usize>>> {
        enough(examples.count, count, "examples")?;
        let order: Vec<usize> = (0..examples.count).collect();
        let equal = if self.last { order.len() / count * count } else { order.len() };
        let mut shards = evenly(&order[..equal], count);
        if let Some(last) = shards.last_mut() {
            last.extend(&order[equal..]);
        }
        Ok(shards)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_released_code_gives_the_rest_to_the_last() {
        let examples = Examples { count: 7842, labels: None, classes: 0 };
        let shards = Contiguous { last: true }.shards(&examples, 17, 0).unwrap();
        assert!(shards[..16].iter().all(|shard| shard.len() == 461));
        assert_eq!((shards[16].len(), shards[16][0], shards[16][465]), (466, 16 * 461, 7841));
        let shards = Contiguous { last: false }.shards(&examples, 17, 0).unwrap();
        assert_eq!((shards[4].len(), shards[5].len(), shards[1][0]), (462, 461, 462));
    }
}
