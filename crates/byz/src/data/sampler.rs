//! Which examples each worker takes in each round: a fresh order of its shard per epoch, cut into batches.
//!
//! A shard of m examples has min(per_epoch, ⌊m / batch⌋) batches per epoch, at least one; what is left over is not seen in
//! that epoch. A shard smaller than a batch fills it by repeating its order. The order depends on (seed, worker, epoch)
//! alone, so any round is reached without the rounds before it.

use crate::{pytorch_random::Generator, random::Stream};

/// In which order a worker takes its shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Drawn by this seed.
    Seeded(u64),
    /// As the released code of Byz-NSGDM draws it on MNIST, whatever the seed: an honest worker by worker³ + epoch; a Byzantine
    /// one takes every honest-th of an order drawn by the epoch, as PyTorch's DistributedSampler does.
    Released {
        /// Honest workers; they come first.
        honest: usize,
    },
}

impl Order {
    /// Positions in a shard of `count` examples, for this worker in this epoch.
    fn positions(self, worker: usize, epoch: u64, count: usize) -> Vec<usize> {
        match self {
            Order::Seeded(seed) => Stream::new(seed, "batches", worker as u64, epoch).permutation(count),
            Order::Released { honest } if worker < honest => {
                Generator::new((worker as u64).pow(3) + epoch).permutation(count)
            }
            Order::Released { honest } => {
                let order = Generator::new(epoch).permutation(count);
                let full = count.div_ceil(honest) * honest;
                (0..full).skip(worker - honest).step_by(honest).map(|place| order[place % count]).collect()
            }
        }
    }

    /// How many of `count` examples an epoch may take.
    fn length(self, worker: usize, count: usize) -> usize {
        match self {
            Order::Released { honest } if worker >= honest => count.div_ceil(honest),
            _ => count,
        }
    }
}

/// Batches of examples for every worker.
#[derive(Clone, Debug)]
pub struct Sampler {
    shards: Vec<Vec<usize>>,
    batch: usize,
    order: Order,
    per_epoch: u64,
    /// Per worker: an epoch and its order, empty before the first.
    orders: Vec<(u64, Vec<usize>)>,
}

impl Sampler {
    /// Batches of `batch` examples (at least one) from these shards, with at most `per_epoch` batches per epoch.
    pub fn new(shards: Vec<Vec<usize>>, batch: usize, order: Order, per_epoch: Option<usize>) -> Sampler {
        let orders = vec![(0, Vec::new()); shards.len()];
        let per_epoch = per_epoch.map_or(u64::MAX, |most| most as u64);
        Sampler { shards, batch: batch.max(1), order, per_epoch, orders }
    }

    /// The examples of this worker in this round (1, 2, …); none for a worker without a shard.
    pub fn batch(&mut self, worker: usize, round: u64, out: &mut Vec<usize>) {
        out.clear();
        let Some(shard) = self.shards.get(worker).filter(|shard| !shard.is_empty()) else { return };
        let length = self.order.length(worker, shard.len());
        let batches = self.per_epoch.min((length / self.batch) as u64).max(1);
        let (epoch, index) = ((round.max(1) - 1) / batches, (round.max(1) - 1) % batches);
        let (cached, order) = &mut self.orders[worker];
        if *cached != epoch || order.is_empty() {
            *order = self.order.positions(worker, epoch, shard.len());
            *cached = epoch;
        }
        let start = index as usize * self.batch;
        out.extend((start..start + self.batch).map(|position| shard[order[position % length]]));
    }

    /// As many examples of this worker, drawn by this seed alone: independent of what the rounds see.
    pub fn fresh(&self, worker: usize, seed: u64) -> Vec<usize> {
        let Some(shard) = self.shards.get(worker).filter(|shard| !shard.is_empty()) else {
            return Vec::new();
        };
        let drawn = Stream::new(seed, "fresh", worker as u64, 0).sample(shard.len(), self.batch);
        drawn.iter().cycle().take(self.batch).map(|&position| shard[position]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(sampler: &mut Sampler, worker: usize, round: u64) -> Vec<usize> {
        let mut out = vec![99];
        sampler.batch(worker, round, &mut out);
        out
    }

    #[test]
    fn an_epoch_sees_no_example_twice_and_the_next_has_another_order() {
        let mut sampler = Sampler::new(vec![(100..200).collect()], 30, Order::Seeded(7), None);
        let epoch = |sampler: &mut Sampler, first: u64| {
            (first..first + 3).flat_map(|round| take(sampler, 0, round)).collect::<Vec<_>>()
        };
        let (one, two) = (epoch(&mut sampler, 1), epoch(&mut sampler, 4));
        let distinct: std::collections::BTreeSet<_> = one.iter().collect();
        assert_eq!((one.len(), distinct.len()), (90, 90));
        assert!(one.iter().all(|example| (100..200).contains(example)));
        assert_ne!(one, two);
    }

    #[test]
    fn any_round_is_reached_directly() {
        let shards = vec![(0..50).collect::<Vec<_>>(), (50..57).collect()];
        let mut whole = Sampler::new(shards.clone(), 8, Order::Seeded(1), Some(4));
        let rounds: Vec<_> =
            (1..=40).map(|round| [take(&mut whole, 0, round), take(&mut whole, 1, round)]).collect();
        for round in [40, 3, 17, 4, 5, 1] {
            let mut fresh = Sampler::new(shards.clone(), 8, Order::Seeded(1), Some(4));
            assert_eq!(take(&mut fresh, 1, round), rounds[round as usize - 1][1]);
            assert_eq!(take(&mut whole, 0, round), rounds[round as usize - 1][0]);
        }
        // Four of the six batches that 50 examples would give.
        let fifth = Stream::new(1, "batches", 0, 1).permutation(50);
        assert_eq!(rounds[4][0], fifth[..8]);
    }

    #[test]
    fn fresh_batches_are_the_shard_s_and_differ_by_seed() {
        let sampler =
            Sampler::new(vec![(100..200).collect(), vec![3, 4], vec![]], 30, Order::Seeded(7), None);
        let (one, two) = (sampler.fresh(0, 1), sampler.fresh(0, 2));
        assert!(one.len() == 30 && one != two && one == sampler.fresh(0, 1));
        assert!(one.iter().all(|example| (100..200).contains(example)));
        assert_eq!((sampler.fresh(1, 1).len(), sampler.fresh(2, 1).len()), (30, 0));
    }

    #[test]
    fn a_small_shard_repeats_itself_and_no_shard_gives_nothing() {
        let mut sampler = Sampler::new(vec![vec![5, 6, 7], vec![]], 7, Order::Seeded(0), None);
        let batch = take(&mut sampler, 0, 1);
        assert_eq!(batch[..3], batch[3..6]);
        assert_eq!(batch[0], batch[6]);
        assert!(take(&mut sampler, 1, 1).is_empty() && take(&mut sampler, 2, 9).is_empty());
    }

    /// Against what PyTorch's randperm gives: seeds 2³ + 1 and 1.
    #[test]
    fn the_released_order_is_by_cubes_and_shared_out_among_the_byzantine() {
        let order = Order::Released { honest: 3 };
        assert_eq!(order.positions(2, 1, 6), Generator::new(9).permutation(6));
        let all = Generator::new(1).permutation(10);
        assert_eq!(order.positions(3, 1, 10), [all[0], all[3], all[6], all[9]]);
        assert_eq!(order.positions(4, 1, 10), [all[1], all[4], all[7], all[0]]);
        let mut sampler = Sampler::new(vec![(0..10).collect(); 4], 2, order, None);
        // Two batches per epoch of four examples, so round 3 begins the second epoch.
        assert_eq!(take(&mut sampler, 3, 3), [all[0], all[3]]);
        assert_eq!(take(&mut sampler, 3, 4), [all[6], all[9]]);
    }
}
