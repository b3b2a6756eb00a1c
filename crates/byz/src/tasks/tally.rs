//! What is counted over images to judge on: the loss, and per class how many were seen and told right.

use super::{Metrics, digits::CLASSES};
use crate::nn::{Real, cross_entropy};

/// The counts of some images.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    loss: f64,
    seen: [usize; CLASSES],
    right: [usize; CLASSES],
}

impl Tally {
    /// Ties, and logits that are no numbers, go to the lowest class. The logits are used up.
    pub(super) fn new<T: Real>(logits: &mut [T], labels: &[u8]) -> Tally {
        let mut tally = Tally::default();
        for (row, &label) in logits.chunks_exact(CLASSES).zip(labels) {
            let chosen =
                (1..CLASSES).fold(0, |best, class| if row[class] > row[best] { class } else { best });
            let label = usize::from(label);
            tally.seen[label] += 1;
            tally.right[label] += usize::from(chosen == label);
        }
        tally.loss = cross_entropy(logits, CLASSES, |sample| usize::from(labels[sample]), T::ZERO);
        tally
    }

    /// Both together.
    pub(super) fn add(mut self, other: Tally) -> Tally {
        self.loss += other.loss;
        for class in 0..CLASSES {
            self.seen[class] += other.seen[class];
            self.right[class] += other.right[class];
        }
        self
    }

    /// Mean loss and accuracies in percent; the accuracy of a class that was not seen is NaN.
    pub(super) fn metrics(self) -> Metrics {
        let count: usize = self.seen.iter().sum();
        let percent = |right: usize, seen: usize| 100.0 * right as f64 / seen as f64;
        Metrics {
            loss: self.loss / count as f64,
            metric: percent(self.right.iter().sum(), count),
            gradient_norm: None,
            per_class: Some(
                self.right.iter().zip(self.seen).map(|(&right, seen)| percent(right, seen)).collect(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_by_class_and_gives_a_diverged_model_the_share_of_class_zero() {
        let mut logits = [[0.0; CLASSES]; 4];
        logits[0][3] = 1.0;
        logits[1][2] = 1.0;
        logits[2] = [f64::NAN; CLASSES];
        let mut logits = logits.concat();
        let metrics =
            Tally::new(&mut logits[..20], &[3, 3]).add(Tally::new(&mut logits[20..], &[0, 9])).metrics();
        assert_eq!(metrics.metric, 50.0);
        let per_class = metrics.per_class.expect("there are classes");
        assert_eq!((per_class[3], per_class[0], per_class[9]), (50.0, 100.0, 0.0));
        assert!(per_class[1].is_nan() && metrics.loss.is_nan());
    }
}
