//! Classes of unequal size: class i keeps the share βⁱ of its examples, the rest is left out; what is kept is dealt out.
//!
//! A class that has examples keeps at least one. `order` = iid deals at random, sorted cuts by label. Default β = 0.5, with
//! which the tenth of ten equal classes is 512 times smaller than the first.
//! Examples land at most once: those left out land nowhere.
//! Reference: Karimireddy, He, Jaggi: "Byzantine-robust learning on heterogeneous datasets via bucketing", ICLR 2022.

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

struct LongTail {
    beta: f64,
    sorted: bool,
}

pub(super) const ENTRY: Entry<dyn Partition> = Entry {
    name: "long_tail",
    aliases: &[],
    summary: "class i keeps the share beta^i of its examples; what is kept is dealt out",
    parameters: &[
        Parameter {
            name: "beta",
            default: "0.5",
            summary: "how much smaller each class is than the one before, up to 1",
            kind: Kind::Positive,
        },
        Parameter {
            name: "order",
            default: "iid",
            summary: "how the kept examples are dealt out: at random, or sorted by label",
            kind: Kind::Choice(&["iid", "sorted"]),
        },
    ],
    requirement: "",
    reference: "Karimireddy, He, Jaggi, Byzantine-robust learning on heterogeneous datasets via bucketing, ICLR 2022",
    properties: Properties::NONE,
    build: |arguments| {
        let beta = arguments.number("beta").unwrap_or(0.5);
        match beta <= 1.0 {
            true => Ok(Box::new(LongTail { beta, sorted: arguments.choice("order") == Some("sorted") })),
            false => Err(arguments.reject("beta", "a number above 0, up to 1")),
        }
    },
};

impl Partition for LongTail {
    fn shards(&self, examples: &Examples<'_>, count: usize, seed: u64) -> Result<Vec<Vec<usize>>> {
        let labels = labels(examples, ENTRY.name)?;
        let mut sizes = [0usize; 256];
        labels.iter().for_each(|label| sizes[usize::from(*label)] += 1);
        let keep = |(class, size): (i32, &usize)| (self.beta.powi(class) * *size as f64).round() as usize;
        let mut left: Vec<usize> = (0..).zip(&sizes).map(keep).map(|kept| kept.max(1)).collect();
        let mut kept = Stream::new(seed, "partition", 0, 0).permutation(examples.count);
        kept.retain(|example| {
            let left = &mut left[usize::from(labels[*example])];
            let keep = *left > 0;
            *left -= usize::from(keep);
            keep
        });
        enough(kept.len(), count, "kept examples")?;
        Ok(evenly(&if self.sorted { sort_by_label(kept, labels) } else { kept }, count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_shrink_by_beta() {
        let labels: Vec<u8> = (0..400).map(|example| (example % 4) as u8).collect();
        let examples = Examples { count: 400, labels: Some(&labels), classes: 4 };
        let count = |beta, sorted| {
            let shards = LongTail { beta, sorted }.shards(&examples, 3, 5).unwrap();
            let of = |class: u8| shards.iter().flatten().filter(|&&example| labels[example] == class).count();
            [of(0), of(1), of(2), of(3)]
        };
        assert_eq!(count(0.5, false), [100, 50, 25, 13]);
        assert_eq!(count(0.5, true), [100, 50, 25, 13]);
        assert_eq!(count(1.0, false), [100; 4]);
        assert_eq!(count(1e-9, false), [100, 1, 1, 1]);
    }
}
