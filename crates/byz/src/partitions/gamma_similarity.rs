//! Between sorted and iid: a share γ of the examples, drawn at random, is dealt out evenly; the rest is sorted by label and cut.
//!
//! γ = 1 is iid, γ = 0 is sorted by label. Default 0.5. All shards differ by at most one example.
//! Reference: Karimireddy et al.: "SCAFFOLD", ICML 2020.

use super::{
    Partition,
    cut::{enough, even, evenly, labels, sort_by_label},
};
use crate::{
    error::Result,
    random::Stream,
    registry::{Entry, Kind, Parameter, Properties},
    tasks::Examples,
};

struct GammaSimilarity {
    gamma: f64,
}

pub(super) const ENTRY: Entry<dyn Partition> = Entry {
    name: "gamma_similarity",
    aliases: &[],
    summary: "a share gamma of the examples is iid, the rest sorted by label",
    parameters: &[Parameter {
        name: "gamma",
        default: "0.5",
        summary: "share of iid examples: 1 is iid, 0 is sorted by label",
        kind: Kind::NonNegative,
    }],
    requirement: "",
    reference: "Karimireddy et al., SCAFFOLD, ICML 2020",
    properties: Properties::NONE,
    build: |arguments| {
        let gamma = arguments.number("gamma").unwrap_or(0.5);
        match gamma <= 1.0 {
            true => Ok(Box::new(GammaSimilarity { gamma })),
            false => Err(arguments.reject("gamma", "a number from 0 to 1")),
        }
    },
};

impl Partition for GammaSimilarity {
    fn shards(&self, examples: &Examples<'_>, count: usize, seed: u64) -> Result<Vec<Vec<usize>>> {
        let labels = labels(examples, ENTRY.name)?;
        enough(examples.count, count, "examples")?;
        let order = Stream::new(seed, "partition", 0, 0).permutation(examples.count);
        let alike = (self.gamma * examples.count as f64).round() as usize;
        let (alike, rest) = order.split_at(alike.min(examples.count));
        let mut sorted = sort_by_label(rest.to_vec(), labels).into_iter();
        let mut shards = evenly(alike, count);
        for (index, shard) in shards.iter_mut().enumerate() {
            let missing = even(examples.count, count, index) - shard.len();
            shard.extend(sorted.by_ref().take(missing));
        }
        Ok(shards)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_foreign_classes_is_gamma() {
        let labels: Vec<u8> = (0..1003).map(|example| (example % 4) as u8).collect();
        let examples = Examples { count: 1003, labels: Some(&labels), classes: 4 };
        for (gamma, foreign) in [(0.0, 0.003), (0.4, 0.3), (1.0, 0.75)] {
            let shards = GammaSimilarity { gamma }.shards(&examples, 4, 5).unwrap();
            let own = shards[0].iter().filter(|&&example| labels[example] == 0).count();
            let share = 1.0 - own as f64 / shards[0].len() as f64;
            assert!((share - foreign).abs() < 0.05, "{gamma}: {share}");
            assert!(shards.iter().all(|shard| (250..=251).contains(&shard.len())));
        }
    }
}
