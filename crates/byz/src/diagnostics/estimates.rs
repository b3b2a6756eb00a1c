//! The constants of the convergence theorem as a run meets them: what its bound needs and nobody knows beforehand.
//!
//! Every honest worker computes two gradients on fresh, independent batches at the parameters before the step, g and h, and
//! the first again after it. With m the mean of the honest messages vᵢ, A the aggregate and G honest workers:
//!
//!   κ = ‖A − m‖ / (1/G) Σ‖vᵢ − m‖          (linear; squared: both sides squared)
//!   C = max ‖vᵢ − m‖ / (1/G) Σ‖vᵢ − m‖
//!   σ² = (1/G) Σ ½‖gᵢ − hᵢ‖²               ζ² = (1/G) Σ ⟨gᵢ − ḡ, hᵢ − h̄⟩
//!   tracking² = (1/G) Σ ⟨vᵢ − gᵢ, vᵢ − hᵢ⟩   ℓ = ‖ḡ(x⁺) − ḡ(x)‖ / ‖x⁺ − x‖
//!
//! σ², ζ² and tracking² are unbiased, because the noises of g and h are independent; so the last two may come out negative,
//! and means over rounds are to be taken before roots. ℓ is measured on one batch: it is the smoothness of the function that
//! batch defines. Cost: three gradients per honest worker, and an aggregation per tolerance.

use super::{
    advisor,
    moments::{Spread, moments},
};
use crate::{
    engine::Engine, error::Result, kernels::Scalar, random::Stream, rows_mut::RowsMut, tasks::Batch,
    trainer::Trainer, transforms::length::Length,
};
use serde::{Deserialize, Serialize};

/// What a look at one round estimates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimates {
    /// Error of the aggregate in units of the honest spread; none where the honest agree.
    pub kappa_linear: Option<f64>,
    /// The same, both squared.
    pub kappa_squared: Option<f64>,
    /// C: the farthest honest message in units of the mean distance.
    pub leverage: Option<f64>,
    /// ζ², unbiased.
    pub zeta_squared: f64,
    /// σ², unbiased.
    pub sigma_squared: f64,
    /// The honest messages' squared distance from the gradients, unbiased.
    pub tracking_squared: f64,
    /// V₀, in the first round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_momentum_error: Option<f64>,
    /// ‖ḡ‖ of the batches on which the smoothness was measured.
    pub gradient_norm: f64,
    /// ℓ; none if the parameters did not move.
    pub smoothness: Option<f64>,
    /// The least line L₀ + L₁‖∇f‖ above every ℓ so far, with its L₀ and L₁.
    pub envelope: Option<[f64; 2]>,
    /// What κ would have been, linear, with each tolerance that the defence is defined for.
    pub tolerances: Vec<(usize, f64)>,
}

/// A look that waits for the step.
pub(crate) struct Look<T> {
    estimates: Estimates,
    parameters: Vec<T>,
    examples: Vec<Vec<usize>>,
    seed: u64,
    gradients: Vec<T>,
    /// ḡ before the step.
    mean: Vec<f64>,
}

impl<T: Scalar> Look<T> {
    /// Everything that can be estimated before the step.
    pub(crate) fn before(trainer: &mut Trainer<T>, aggregate: &[T], engine: Engine<'_>) -> Result<Look<T>> {
        let (dimension, honest) = (aggregate.len(), trainer.honest);
        let tolerances = advisor::costs(trainer, engine)?;
        let [first, second] = [0, 1].map(|which| Draw::new(trainer, which));
        let g = first.gradients(trainer, engine)?;
        let h = second.gradients(trainer, engine)?;
        let messages: Vec<&[T]> = trainer.rows.chunks_exact(dimension).take(honest).collect();
        let rows = |of: &[T]| of.chunks_exact(dimension).map(<[T]>::to_vec).collect::<Vec<_>>();
        let moments = moments(&messages, &rows(&g), &rows(&h), aggregate);
        let spread = Spread::of(&messages, &moments.message_mean);
        let relative = |value: f64, unit: f64| (unit > 0.0).then(|| value / unit).filter(|x| x.is_finite());
        let estimates = Estimates {
            kappa_linear: relative(moments.error.sqrt(), spread.mean),
            kappa_squared: relative(moments.error, spread.mean_square),
            leverage: relative(spread.largest, spread.mean),
            zeta_squared: moments.zeta,
            sigma_squared: moments.sigma,
            tracking_squared: moments.tracking,
            initial_momentum_error: (trainer.round == 1).then(|| {
                let zero = trainer.workers[0].0.iter().any(|link| link.starts_from_zero());
                if zero { moments.gradient } else { moments.sigma }.max(0.0).sqrt()
            }),
            gradient_norm: moments.g_mean.iter().map(|x| x * x).sum::<f64>().sqrt(),
            smoothness: None,
            envelope: None,
            tolerances,
        };
        let Draw { examples, seed } = first;
        let parameters = trainer.parameters.clone();
        Ok(Look { estimates, parameters, examples, seed, gradients: g, mean: moments.g_mean })
    }

    /// The rest, after it.
    pub(crate) fn after(self, trainer: &mut Trainer<T>, engine: Engine<'_>) -> Result<Estimates> {
        let Look { mut estimates, parameters, examples, seed, gradients, mean } = self;
        let moved: Vec<f64> =
            trainer.parameters.iter().zip(&parameters).map(|(a, b)| a.to_f64() - b.to_f64()).collect();
        let step = Length::of(&moved).value();
        let mut draw = gradients;
        Draw { examples, seed }.write(trainer, engine, &mut draw)?;
        let (dimension, count) = (parameters.len(), trainer.honest as f64);
        let changed: Vec<f64> = (0..dimension)
            .map(|k| {
                draw.iter().skip(k).step_by(dimension).map(|x| x.to_f64()).sum::<f64>() / count - mean[k]
            })
            .collect();
        let smoothness = Length::of(&changed).value() / step;
        estimates.smoothness = (step > 0.0 && smoothness.is_finite()).then_some(smoothness);
        if let Some(smoothness) = estimates.smoothness {
            trainer.envelope.add(estimates.gradient_norm, smoothness);
        }
        estimates.envelope = trainer.envelope.line();
        Ok(estimates)
    }
}

/// One fresh batch per honest worker.
struct Draw {
    examples: Vec<Vec<usize>>,
    seed: u64,
}

impl Draw {
    fn new<T: Scalar>(trainer: &Trainer<T>, which: u64) -> Draw {
        let seed = Stream::new(trainer.seed, "estimates", which, trainer.round).next_u64();
        let one = |worker| trainer.sampler.fresh(worker, seed);
        Draw { examples: (0..trainer.honest).map(one).collect(), seed }
    }

    fn gradients<T: Scalar>(&self, trainer: &Trainer<T>, engine: Engine<'_>) -> Result<Vec<T>> {
        let mut out = vec![T::default(); trainer.honest * trainer.parameters.len()];
        self.write(trainer, engine, &mut out)?;
        Ok(out)
    }

    fn write<T: Scalar>(&self, trainer: &Trainer<T>, engine: Engine<'_>, out: &mut [T]) -> Result<()> {
        let (round, seed) = (trainer.round, self.seed);
        let one = |(worker, examples)| Batch { worker, round, seed, examples, labels: None };
        let batches: Vec<_> = self.examples.iter().map(Vec::as_slice).enumerate().map(one).collect();
        let out = RowsMut::new(out, trainer.parameters.len());
        trainer.task.gradients(&trainer.parameters, &batches, out, engine.threads).map(drop)
    }
}
