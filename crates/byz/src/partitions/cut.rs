//! What the partitions share: even cuts, examples by label, and the checks before them.

use crate::{
    error::{Error, Result},
    tasks::Examples,
};

/// Size of part `index` when `total` is cut into `count` parts that differ by at most one, the larger ones first.
pub(super) fn even(total: usize, count: usize, index: usize) -> usize {
    total / count + usize::from(index < total % count)
}

/// Cuts an order into consecutive shards of even size.
pub(super) fn evenly(order: &[usize], count: usize) -> Vec<Vec<usize>> {
    let mut rest = order;
    let mut next = |index| {
        let (shard, after) = rest.split_at(even(order.len(), count, index));
        rest = after;
        shard.to_vec()
    };
    (0..count).map(&mut next).collect()
}

/// Refuses cuts that would leave a worker without an example.
pub(super) fn enough(available: usize, count: usize, what: &str) -> Result<()> {
    match count > 0 && available >= count {
        true => Ok(()),
        false => Err(Error::Usage(format!(
            "{available} {what} cannot be cut into {count} shards of at least one; use fewer workers or more data"
        ))),
    }
}

/// The labels, one per example and each below the number of classes.
pub(super) fn labels<'a>(examples: &Examples<'a>, partition: &str) -> Result<&'a [u8]> {
    let labels = examples.labels.ok_or_else(|| {
        Error::Usage(format!(
            "{partition} needs labels, which this task does not have; use iid or contiguous instead"
        ))
    })?;
    match labels.len() == examples.count && labels.iter().all(|label| usize::from(*label) < examples.classes)
    {
        true => Ok(labels),
        false => Err(Error::Usage(format!(
            "the task has {} labels for {} examples, or labels beyond its {} classes",
            labels.len(),
            examples.count,
            examples.classes
        ))),
    }
}

/// The examples sorted by label; those of one label stay in the order given.
pub(super) fn sort_by_label(mut order: Vec<usize>, labels: &[u8]) -> Vec<usize> {
    order.sort_by_key(|example| labels[*example]);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_cuts_differ_by_at_most_one_and_keep_the_order() {
        let shards = evenly(&[5, 4, 3, 2, 1, 0, 6], 3);
        assert_eq!(shards, [vec![5, 4, 3], vec![2, 1], vec![0, 6]]);
    }

    #[test]
    fn labels_must_fit() {
        let with = |labels, classes| Examples { count: 2, labels, classes };
        assert_eq!(labels(&with(Some(&[1, 0]), 2), "x").unwrap(), [1, 0]);
        assert!(labels(&with(None, 2), "x").unwrap_err().to_string().contains("x needs labels"));
        assert!(labels(&with(Some(&[1]), 2), "x").is_err());
        assert!(labels(&with(Some(&[1, 2]), 2), "x").is_err());
    }
}
