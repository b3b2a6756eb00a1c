//! Bucketing: shuffle the messages and average them in buckets of s.
//!
//!   y_b = mean of x_π(t), t in bucket b; ⌈n/s⌉ rows come out, the last bucket may be shorter.
//!
//! The rule that follows keeps the same f, so it needs ⌈n/s⌉ > 2f: choose s ≤ n/(2f). The shuffle is
//! drawn from (seed, round), so a round can be repeated.
//! Reference: Karimireddy, He, Jaggi: "Byzantine-robust learning on heterogeneous datasets via bucketing", ICLR 2022.

use super::PreAggregator;
use crate::{
    defense::{Requirements, Round},
    error::Result,
    geometry::Geometry,
    matrix::Matrix,
    random::Stream,
    registry::{Entry, Kind, Parameter, Properties},
};

struct Bucketing {
    size: usize,
    seed: u64,
}

pub(super) const ENTRY: Entry<dyn PreAggregator> = Entry {
    name: "bucketing",
    aliases: &["buckets"],
    summary: "shuffles the messages and averages them in buckets; fewer, more equal rows with the same f",
    parameters: &[
        Parameter {
            name: "size",
            default: "2",
            summary: "messages per bucket",
            kind: Kind::Count { least: 1 },
        },
        Parameter {
            name: "seed",
            default: "0",
            summary: "seed of the shuffle",
            kind: Kind::Count { least: 0 },
        },
    ],
    requirement: "⌈n/size⌉ ≥ 2f+1",
    reference: "Karimireddy et al., Byzantine-robust learning via bucketing, ICLR 2022",
    properties: Properties { symmetric: false, ..Properties::ALL },
    build: |arguments| {
        let size = arguments.count("size").unwrap_or(2);
        Ok(Box::new(Bucketing { size, seed: arguments.count("seed").unwrap_or(0) as u64 }))
    },
};

impl PreAggregator for Bucketing {
    fn requirements(&self) -> Requirements {
        Requirements::NONE
    }

    fn rows(&self, messages: usize) -> usize {
        messages.div_ceil(self.size)
    }

    fn keeps_workers(&self) -> bool {
        self.size == 1
    }

    fn defined(&self, messages: usize, tolerance: usize) -> bool {
        self.rows(messages) > 2 * tolerance
    }

    fn mix(&self, geometry: &Geometry<'_>, round: &Round<'_>) -> Result<Matrix> {
        let order = match self.size {
            1 => (0..geometry.messages()).collect(),
            _ => Stream::new(self.seed, "bucketing", 0, round.number).permutation(geometry.messages()),
        };
        Ok(bucket_means(&order, self.size, geometry.points()))
    }
}

/// Consecutive buckets of a given order.
fn bucket_means(order: &[usize], size: usize, points: usize) -> Matrix {
    let mut mixing = Matrix::zeros(order.len().div_ceil(size), points);
    for (b, bucket) in order.chunks(size).enumerate() {
        bucket.iter().for_each(|&row| mixing[(b, row)] = 1.0 / bucket.len() as f64);
    }
    mixing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_bucket_may_be_shorter() {
        let mixing = bucket_means(&[1, 2, 0], 2, 3);
        assert_eq!(mixing.as_slice(), [0.0, 0.5, 0.5, 1.0, 0.0, 0.0]);
    }
}
