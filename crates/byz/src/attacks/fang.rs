//! Fang: every coordinate beyond the honest ones, on the side away from the mean's sign.
//!
//!   target = trimmed_mean:  uniform between min and the lower of b·min, min/b where mean > 0,
//!                           uniform between max and the higher of b·max, max/b elsewhere
//!   target = median:        min or max itself
//!
//! b = `factor` = 2. Every Byzantine worker draws its own numbers, as in the paper's full-knowledge attack.
//! Deviation: the paper sends the same against a median as against a trimmed mean; but a median feels only the
//! side, so here the colluders stay at the honest extreme, where rules that measure distances see least of them.
//! Reference: Fang, Cao, Jia, Gong: "Local model poisoning attacks to Byzantine-robust federated learning", USENIX
//! Security 2020.

use super::{Attack, View, statistics};
use crate::{
    error::Result,
    kernels::{Scalar, moments::BLOCK},
    random::Stream,
    registry::{Entry, Kind, Parameter, Properties},
    rows_mut::RowsMut,
};

struct Fang {
    /// b; 1 leaves nothing to draw.
    factor: f64,
    mean: Vec<f64>,
    extreme: Vec<f64>,
}

pub(super) const fn entry<T: Scalar>() -> Entry<dyn Attack<T>> {
    Entry {
        name: "fang",
        aliases: &["directed_deviation"],
        summary: "beyond the honest extreme of every coordinate, against the sign of the mean",
        parameters: &[
            Parameter {
                name: "target",
                default: "trimmed_mean",
                summary: "the rule it is made for",
                kind: Kind::Choice(&["trimmed_mean", "median"]),
            },
            Parameter {
                name: "factor",
                default: "2",
                summary: "b: how far beyond the extreme, for a trimmed mean; at least 1",
                kind: Kind::Positive,
            },
        ],
        requirement: "acts on messages",
        reference: "Fang et al., Local model poisoning attacks, USENIX Security 2020",
        properties: Properties::NONE,
        build: |arguments| {
            let factor = match (arguments.choice("target"), arguments.number("factor")) {
                (Some("median"), None) => 1.0,
                (Some("median"), _) => {
                    return Err(arguments.reject("factor", "target=trimmed_mean beside it"));
                }
                (_, factor) => factor.unwrap_or(2.0),
            };
            if factor < 1.0 {
                return Err(arguments.reject("factor", "a finite number of at least 1"));
            }
            Ok(Box::new(Fang { factor, mean: Vec::new(), extreme: Vec::new() }))
        },
    }
}

impl<T: Scalar> Attack<T> for Fang {
    fn forge(&mut self, view: &View<'_, T>, mut out: RowsMut<'_, T>) -> Result<()> {
        if view.is_idle(&out) {
            return Ok(());
        }
        statistics::mean(view, &mut self.mean);
        self.extreme.resize(self.mean.len(), 0.0);
        for (k, (mean, extreme)) in self.mean.chunks(BLOCK).zip(self.extreme.chunks_mut(BLOCK)).enumerate() {
            find_extremes(view.honest, k * BLOCK, mean, extreme);
        }
        for (worker, row) in out.iter_mut().enumerate() {
            let mut stream = Stream::new(view.seed, "fang", worker as u64, view.round);
            for ((to, mean), extreme) in row.iter_mut().zip(&self.mean).zip(&self.extreme) {
                // Away from zero if the extreme lies on the side it is pushed to, else towards it.
                let outwards = (*mean > 0.0) != (*extreme > 0.0);
                let end = if outwards { extreme * self.factor } else { extreme / self.factor };
                let share = if self.factor > 1.0 { stream.uniform() } else { 0.0 };
                *to = T::from_f64(extreme + share * (end - extreme));
            }
        }
        Ok(())
    }
}

/// The smallest honest value where the mean is positive, the largest elsewhere; the columns from `start` on.
fn find_extremes<T: Scalar>(rows: &[&[T]], start: usize, mean: &[f64], extreme: &mut [f64]) {
    T::widen(&rows[0][start..], extreme);
    for row in &rows[1..] {
        for ((extreme, mean), value) in extreme.iter_mut().zip(mean).zip(&row[start..]) {
            let value = value.to_f64();
            *extreme = if *mean > 0.0 { extreme.min(value) } else { extreme.max(value) };
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::attacks::testing::{build, forge};

    fn honest() -> [Vec<f64>; 2] {
        [vec![1.0, -1.0, -2.0, 1.0], vec![3.0, 3.0, -4.0, -3.0]]
    }

    #[test]
    fn against_a_median_the_extreme_itself_is_sent() {
        assert_eq!(forge("fang(target=median)", &honest(), &[vec![0.0; 4]]), [[1.0, -1.0, -2.0, 1.0]]);
    }

    #[test]
    fn against_a_trimmed_mean_every_worker_draws_beyond_the_extreme() {
        let sent = forge("fang", &honest(), &[vec![0.0; 4], vec![0.0; 4]]);
        let intervals = [(0.5, 1.0), (-2.0, -1.0), (-2.0, -1.0), (1.0, 2.0)];
        for row in &sent {
            assert!(row.iter().zip(intervals).all(|(x, (low, high))| (low..=high).contains(x)), "{row:?}");
        }
        assert_ne!(sent[0], sent[1]);
        assert!(build::<f32>("fang(factor=0.5)").is_err());
        assert!(build::<f32>("fang(target=median,factor=2)").is_err());
    }
}
