//! One or two classes each: the examples sorted by label (those of one label stay in order), cut into consecutive shards.
//!
//! Shards differ by at most one example. With `pad` every shard has ⌈n/count⌉ examples and the last is filled up with the
//! first of the order, as in the released code of Byz-NSGDM: 60,000 images give 17 shards of 3530, and 10 images of class 0
//! appear in the last shard too. It is the only case in which an example lands twice.
//! Reference: Karimireddy, He, Jaggi: "Byzantine-robust learning on heterogeneous datasets via bucketing", ICLR 2022.

use super::{
    Partition,
    cut::{enough, evenly, labels, sort_by_label},
};
use crate::{
    error::Result,
    registry::{Entry, Kind, Parameter, Properties},
    tasks::Examples,
};

struct SortedByLabel {
    pad: bool,
}

pub(super) const ENTRY: Entry<dyn Partition> = Entry {
    name: "sorted_by_label",
    aliases: &[],
    summary: "the examples sorted by label, cut into consecutive shards: one or two classes each",
    parameters: &[Parameter {
        name: "pad",
        default: "false",
        summary: "fill the last shard with the first examples, so that all have ⌈n/count⌉",
        kind: Kind::Choice(&["false", "true"]),
    }],
    requirement: "",
    reference: "Karimireddy, He, Jaggi, Byzantine-robust learning on heterogeneous datasets via bucketing, ICLR 2022",
    properties: Properties::NONE,
    build: |arguments| Ok(Box::new(SortedByLabel { pad: arguments.choice("pad") == Some("true") })),
};

impl Partition for SortedByLabel {
    fn shards(&self, examples: &Examples<'_>, count: usize, _: u64) -> Result<Vec<Vec<usize>>> {
        let labels = labels(examples, ENTRY.name)?;
        enough(examples.count, count, "examples")?;
        let mut order = sort_by_label((0..examples.count).collect(), labels);
        if self.pad {
            let full = order.len().div_ceil(count) * count;
            order.extend_from_within(..full - examples.count);
        }
        Ok(evenly(&order, count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_stably_and_cuts() {
        let examples = Examples { count: 5, labels: Some(&[1, 0, 1, 0, 2]), classes: 3 };
        let shards = |pad| SortedByLabel { pad }.shards(&examples, 2, 0).unwrap();
        assert_eq!(shards(false), [vec![1, 3, 0], vec![2, 4]]);
        assert_eq!(shards(true), [vec![1, 3, 0], vec![2, 4, 1]]);
    }

    /// The counts of MNIST's digits, and the classes of each shard that were read off the released code.
    #[test]
    fn reproduces_the_released_shards_of_mnist() {
        let counts = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949];
        let labels: Vec<u8> = (0u8..).zip(counts).flat_map(|(digit, count)| vec![digit; count]).collect();
        let examples = Examples { count: labels.len(), labels: Some(&labels), classes: 10 };
        let shards = SortedByLabel { pad: true }.shards(&examples, 17, 0).unwrap();
        assert!(shards.iter().all(|shard| shard.len() == 3530));
        let of = |shard: usize, digit: u8| {
            shards[shard].iter().filter(|&&example| labels[example] == digit).count()
        };
        assert_eq!((of(0, 0), of(7, 3), of(11, 7), of(16, 9), of(16, 0)), (3530, 44, 425, 3520, 10));
        assert_eq!(shards[16][3520..], (0..10).collect::<Vec<_>>());
    }
}
