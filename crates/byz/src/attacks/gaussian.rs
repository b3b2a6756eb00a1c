//! Gaussian noise instead of a message.
//!
//!   yᵢ ~ N(μ, σ² I), around = zero;   yᵢ ~ mean(honest) + N(μ, σ² I), around = mean
//!
//! Defaults: μ = `mean` = 0, σ = `deviation` = 1, around zero. Every worker draws its own noise every round.
//! Reference: Blanchard, El Mhamdi, Guerraoui, Stainer: "Machine learning with adversaries", NeurIPS 2017 (with σ =
//! 200).

use super::{Attack, View, statistics};
use crate::{
    error::Result,
    kernels::Scalar,
    random::Stream,
    registry::{Entry, Kind, Parameter, Properties},
    rows_mut::RowsMut,
};

struct Gaussian {
    offset: f64,
    deviation: f64,
    around_mean: bool,
    mean: Vec<f64>,
}

pub(super) const fn entry<T: Scalar>() -> Entry<dyn Attack<T>> {
    Entry {
        name: "gaussian",
        aliases: &["noise"],
        summary: "normal noise, around zero or around the honest mean",
        parameters: &[
            Parameter {
                name: "mean",
                default: "0",
                summary: "mean of every coordinate's noise",
                kind: Kind::Number,
            },
            Parameter {
                name: "deviation",
                default: "1",
                summary: "its standard deviation",
                kind: Kind::NonNegative,
            },
            Parameter {
                name: "around",
                default: "zero",
                summary: "what the noise is added to: nothing, or the honest mean",
                kind: Kind::Choice(&["zero", "mean"]),
            },
        ],
        requirement: "acts on messages",
        reference: "Blanchard et al., Machine learning with adversaries, NeurIPS 2017",
        properties: Properties::NONE,
        build: |arguments| {
            Ok(Box::new(Gaussian {
                offset: arguments.number("mean").unwrap_or(0.0),
                deviation: arguments.number("deviation").unwrap_or(1.0),
                around_mean: arguments.choice("around") == Some("mean"),
                mean: Vec::new(),
            }))
        },
    }
}

impl<T: Scalar> Attack<T> for Gaussian {
    fn forge(&mut self, view: &View<'_, T>, mut out: RowsMut<'_, T>) -> Result<()> {
        if self.around_mean && !view.honest.is_empty() {
            statistics::mean(view, &mut self.mean);
        } else {
            self.mean.clear();
            self.mean.resize(out.dimension(), 0.0);
        }
        for (worker, row) in out.iter_mut().enumerate() {
            let mut stream = Stream::new(view.seed, "gaussian", worker as u64, view.round);
            for (to, mean) in row.iter_mut().zip(&self.mean) {
                *to = T::from_f64(mean + self.offset + self.deviation * stream.normal());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::attacks::testing::forge;

    #[test]
    fn without_deviation_only_the_means_are_left() {
        let honest = [vec![1.0, 2.0], vec![3.0, 6.0]];
        let own = [vec![0.0, 0.0]];
        assert_eq!(forge("gaussian(mean=5,deviation=0)", &honest, &own), [[5.0, 5.0]]);
        assert_eq!(forge("gaussian(mean=5,deviation=0,around=mean)", &honest, &own), [[7.0, 9.0]]);
    }

    #[test]
    fn draws_have_the_asked_moments_and_differ_between_workers() {
        let sent = forge(
            "gaussian(mean=3,deviation=2)",
            &[vec![0.0; 20_000]],
            &[vec![0.0; 20_000], vec![0.0; 20_000]],
        );
        let mean = sent[0].iter().sum::<f64>() / 2e4;
        let variance = sent[0].iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 2e4;
        assert!((mean - 3.0).abs() < 0.06 && (variance - 4.0).abs() < 0.15, "{mean} {variance}");
        assert_ne!(sent[0], sent[1]);
    }
}
