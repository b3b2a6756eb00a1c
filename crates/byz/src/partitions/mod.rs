//! How training examples are cut into shards, one per worker: from all alike to one class each. One partition per file.

mod contiguous;
mod cut;
mod dirichlet;
mod gamma_similarity;
mod iid;
mod long_tail;
mod shards;
mod sorted_by_label;

use crate::{error::Result, registry::Entry, tasks::Examples};

/// A way to cut. Every example lands in exactly one shard, except where a partition says otherwise, and no shard is empty.
pub trait Partition: Send + Sync {
    /// The examples of each of `count` shards.
    fn shards(&self, examples: &Examples<'_>, count: usize, seed: u64) -> Result<Vec<Vec<usize>>>;
}

/// Every partition.
pub static TABLE: &[Entry<dyn Partition>] = &[
    iid::ENTRY,
    sorted_by_label::ENTRY,
    dirichlet::ENTRY,
    gamma_similarity::ENTRY,
    long_tail::ENTRY,
    shards::ENTRY,
    contiguous::ENTRY,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{random::Stream, registry::read};
    use proptest::prelude::*;

    const EXPRESSIONS: &[&str] = &[
        "iid",
        "sorted_by_label",
        "sorted_by_label(pad=true)",
        "dirichlet(minimum=1)",
        "dirichlet(alpha=100)",
        "gamma_similarity",
        "gamma_similarity(gamma=1)",
        "gamma_similarity(gamma=0)",
        "long_tail",
        "long_tail(beta=1,order=sorted)",
        "shards",
        "shards(per_worker=5)",
        "contiguous",
        "contiguous_text(remainder=last)",
    ];

    fn cut(expression: &str, examples: &Examples<'_>, count: usize, seed: u64) -> Result<Vec<Vec<usize>>> {
        read("partition", TABLE, expression)?.shards(examples, count, seed)
    }

    proptest! {
        #[test]
        fn every_example_lands_once_and_no_shard_is_empty(
            count in 1usize..9, examples in 200usize..700, classes in 1usize..11, seed: u64,
        ) {
            let mut stream = Stream::new(seed, "labels", 0, 0);
            let labels: Vec<u8> = (0..examples).map(|_| stream.below(classes as u64) as u8).collect();
            let given = Examples { count: examples, labels: Some(&labels), classes };
            for expression in EXPRESSIONS {
                // A few workers may draw too little; that is an error and not an empty shard.
                let Ok(shards) = cut(expression, &given, count, seed) else {
                    prop_assert!(expression.starts_with("dirichlet"), "{}", expression);
                    continue;
                };
                prop_assert_eq!(shards.len(), count);
                prop_assert!(shards.iter().all(|shard| !shard.is_empty()), "{}", expression);
                let mut landed = vec![0usize; examples];
                shards.iter().flatten().for_each(|example| landed[*example] += 1);
                let extra = landed.iter().sum::<usize>().saturating_sub(examples);
                prop_assert!(extra == 0 || (expression.contains("pad") && extra < count), "{}", expression);
                let once = |landed: &usize| match *expression {
                    "long_tail" => *landed <= 1,
                    "sorted_by_label(pad=true)" => *landed >= 1,
                    _ => *landed == 1,
                };
                prop_assert!(landed.iter().all(once), "{}", expression);
                let again = cut(expression, &given, count, seed).unwrap();
                prop_assert_eq!(again, shards);
            }
        }
    }

    #[test]
    fn too_many_workers_and_missing_labels_are_errors() {
        let labels = [0, 1, 2, 3, 4];
        for expression in EXPRESSIONS {
            let with = |labels| Examples { count: 5, labels, classes: 5 };
            for count in [0, 6, usize::MAX] {
                assert!(cut(expression, &with(Some(&labels)), count, 0).is_err(), "{expression}");
            }
            let needs_labels = !expression.starts_with("iid") && !expression.starts_with("contiguous");
            let error = cut(expression, &with(None), 1, 0).err().map(|error| error.to_string());
            assert_eq!(
                error.is_some_and(|error| error.contains("needs labels")),
                needs_labels,
                "{expression}"
            );
        }
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        for expression in
            ["gamma_similarity(gamma=1.1)", "long_tail(beta=2)", "dirichlet(alpha=0)", "iid(x=1)"]
        {
            assert!(read("partition", TABLE, expression).is_err(), "{expression}");
        }
    }
}
