//! Label skew by a dial: worker j gets the share p_{cj} of class c, p_c ~ Dirichlet(α, …, α), drawn anew for each class.
//!
//! Large α is iid, small α one class each. Sizes follow from the draws; all is drawn again, up to 1000 times, until every
//! shard has `minimum` examples (10). The shares are made in logarithms, so that α = 0.001 does not end in 0/0.
//! Defaults: alpha = 0.5, minimum = 10.
//! Reference: Hsu, Qi, Brown: "Measuring the effects of non-identical data distribution for federated visual
//! classification", 2019; the minimum as in Li, Diao, Chen, He: "Federated learning on non-IID data silos", ICDE 2022.

use super::{
    Partition,
    cut::{enough, labels, sort_by_label},
};
use crate::{
    error::{Error, Result},
    random::Stream,
    registry::{Entry, Kind, Parameter, Properties},
    tasks::Examples,
};

const ATTEMPTS: u64 = 1000;

struct Dirichlet {
    alpha: f64,
    minimum: usize,
}

pub(super) const ENTRY: Entry<dyn Partition> = Entry {
    name: "dirichlet",
    aliases: &[],
    summary: "every class is shared out by its own Dirichlet draw: small alpha, few classes each",
    parameters: &[
        Parameter {
            name: "alpha",
            default: "0.5",
            summary: "concentration: large is iid, small is one class each",
            kind: Kind::Positive,
        },
        Parameter {
            name: "minimum",
            default: "10",
            summary: "examples that every shard must have; drawn again until it has",
            kind: Kind::Count { least: 1 },
        },
    ],
    requirement: "",
    reference: "Hsu, Qi, Brown, Measuring the effects of non-identical data distribution, 2019",
    properties: Properties::NONE,
    build: |arguments| {
        Ok(Box::new(Dirichlet {
            // Below, even the logarithms overflow; it makes no difference.
            alpha: arguments.number("alpha").unwrap_or(0.5).max(1e-300),
            minimum: arguments.count("minimum").unwrap_or(10),
        }))
    },
};

impl Partition for Dirichlet {
    fn shards(&self, examples: &Examples<'_>, count: usize, seed: u64) -> Result<Vec<Vec<usize>>> {
        let labels = labels(examples, ENTRY.name)?;
        enough(examples.count, count, "examples")?;
        if examples.count / self.minimum < count {
            return Err(Error::Usage(format!(
                "dirichlet(minimum={}) for {count} workers needs {} examples, and there are {}; use a smaller minimum",
                self.minimum,
                self.minimum.saturating_mul(count),
                examples.count
            )));
        }
        for attempt in 0..ATTEMPTS {
            let shards = self.attempt(labels, count, Stream::new(seed, "partition", 0, attempt));
            if shards.iter().all(|shard| shard.len() >= self.minimum) {
                return Ok(shards);
            }
        }
        Err(Error::Usage(format!(
            "dirichlet(alpha={}) gave some of {count} workers fewer than {} examples in {ATTEMPTS} draws; use a larger \
             alpha, a smaller minimum or fewer workers",
            self.alpha, self.minimum
        )))
    }
}

impl Dirichlet {
    fn attempt(&self, labels: &[u8], count: usize, mut stream: Stream) -> Vec<Vec<usize>> {
        let order = sort_by_label(stream.permutation(labels.len()), labels);
        let mut shards = vec![Vec::new(); count];
        for class in order.chunk_by(|a, b| labels[*a] == labels[*b]) {
            let shares = self.shares(count, &mut stream);
            let (mut covered, mut start) = (0.0, 0);
            for (index, share) in shares.iter().enumerate() {
                covered += share;
                // The last takes what rounding left.
                let rounded = (covered * class.len() as f64).round() as usize;
                let end = if index + 1 == count { class.len() } else { rounded.clamp(start, class.len()) };
                shards[index].extend(&class[start..end]);
                start = end;
            }
        }
        shards
    }

    /// Gamma variables over their sum; Γ(α) = Γ(α+1)·U^{1/α}, whose logarithm does not underflow.
    fn shares(&self, count: usize, stream: &mut Stream) -> Vec<f64> {
        let mut draw = || stream.gamma(self.alpha + 1.0).ln() + (1.0 - stream.uniform()).ln() / self.alpha;
        let logarithms: Vec<f64> = (0..count).map(|_| draw()).collect();
        let largest = logarithms.iter().copied().fold(f64::MIN, f64::max);
        let weights: Vec<f64> = logarithms.iter().map(|logarithm| (logarithm - largest).exp()).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / sum).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_at_any_concentration() {
        for alpha in [1e-300, 1e-3, 0.5, 1.0, 1e6] {
            let dirichlet = Dirichlet { alpha, minimum: 1 };
            let shares = dirichlet.shares(9, &mut Stream::new(0, "test", 0, 0));
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{alpha}: {shares:?}");
        }
    }

    #[test]
    fn alpha_turns_the_dial() {
        let labels: Vec<u8> = (0..5000).map(|example| (example % 10) as u8).collect();
        let examples = Examples { count: 5000, labels: Some(&labels), classes: 10 };
        let largest_class = |alpha| {
            let shards = Dirichlet { alpha, minimum: 1 }.shards(&examples, 5, 3).unwrap();
            let count = |class: u8| shards[0].iter().filter(|&&example| labels[example] == class).count();
            (0..10).map(count).max().unwrap() as f64 / shards[0].len() as f64
        };
        assert!(largest_class(1e4) < 0.12);
        assert!(largest_class(0.05) > 0.3);
    }

    #[test]
    fn too_large_a_minimum_is_an_error() {
        let labels = [0; 40];
        let examples = Examples { count: 40, labels: Some(&labels), classes: 1 };
        let error =
            |alpha, minimum| Dirichlet { alpha, minimum }.shards(&examples, 4, 0).unwrap_err().to_string();
        assert!(error(0.01, 5).contains("in 1000 draws"));
        assert!(error(1.0, 11).contains("needs 44 examples, and there are 40"));
    }
}
