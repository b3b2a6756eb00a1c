//! What one round tells: how large the steps are, who was trusted, how far the aggregate is from the honest mean.

mod advisor;
mod envelope;
mod estimates;
mod moments;

pub use envelope::Envelope;
pub use estimates::Estimates;
pub(crate) use estimates::Look;

use crate::{
    collector::{Arrival, Collected},
    defense::Aggregate,
    kernels::Scalar,
    schedules::Pace,
    trainer::Trainer,
    transforms::length::Length,
    verdict::Verdict,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// What is known of a round once it is done.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Round {
    /// Its number, from 1.
    pub round: u64,
    /// Mean loss of the honest workers' batches, before the step.
    pub loss: f64,
    /// The learning rate.
    pub rate: f64,
    /// Length of the aggregate.
    pub aggregate_norm: f64,
    /// Share of the aggregate that Byzantine workers had, where the rule has weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub byzantine_weight: Option<f64>,
    /// Squared error of the aggregate against the honest mean, in units of the honest variance; when explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kappa: Option<f64>,
    /// Every worker's weight, when explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<f64>>,
    /// Workers whose messages were not used, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<(usize, String)>,
    /// What came over the network and was not looked at, by kind.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ignored: BTreeMap<&'static str, u64>,
    /// The theorem's constants, in rounds that were looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimates: Option<Estimates>,
}

/// What a trainer's round tells, from the messages as they were sent.
pub(crate) fn of_round<T: Scalar>(
    trainer: &Trainer<T>,
    collected: &Collected,
    aggregate: &Aggregate<T>,
    pace: Pace,
    explain: bool,
) -> Round {
    let honest = trainer.honest;
    // In a simulation the honest workers are known.
    let doubted = trainer.collector.as_ref().map_or(0, |_| trainer.defense.tolerance);
    let verdicts = aggregate.verdicts.iter().enumerate();
    Round {
        round: trainer.round,
        loss: collected.loss(honest, doubted),
        rate: pace.rate,
        aggregate_norm: Length::of(&aggregate.vector).value(),
        byzantine_weight: aggregate
            .weights
            .as_ref()
            .map(|weights| weights[honest..].iter().fold(0.0, |sum, weight| sum + weight)),
        kappa: explain.then(|| realised_kappa(trainer, collected, &aggregate.vector)).flatten(),
        weights: aggregate.weights.clone().filter(|_| explain),
        verdicts: verdicts
            .filter(|(_, verdict)| !matches!(verdict, Verdict::Used))
            .map(|(worker, verdict)| (worker, verdict.to_string()))
            .collect(),
        ignored: collected.ignored.clone(),
        estimates: None,
    }
}

/// κ̂ = ‖A − x̄‖² / ((1/G) Σ‖xᵢ − x̄‖²) over the honest workers; none where they agree.
fn realised_kappa<T: Scalar>(trainer: &Trainer<T>, collected: &Collected, aggregate: &[T]) -> Option<f64> {
    let dimension = aggregate.len();
    let honest = trainer.rows.chunks_exact(dimension).zip(&collected.arrivals).take(trainer.honest);
    let answered = honest.filter(|(_, arrival)| matches!(arrival, Arrival::Row { .. }));
    let rows: Vec<&[T]> = answered.map(|(row, _)| row).collect();
    let honest = rows.len();
    let (mut error, mut variance) = (0.0, 0.0);
    for k in 0..dimension {
        // About the first row, so that a common part of the messages costs no digits.
        let origin = rows[0][k].to_f64();
        let (mut sum, mut squares) = (0.0, 0.0);
        for row in &rows {
            let value = row[k].to_f64() - origin;
            sum += value;
            squares += value * value;
        }
        let mean = sum / honest as f64;
        error += (aggregate[k].to_f64() - origin - mean).powi(2);
        variance += squares / honest as f64 - mean * mean;
    }
    (variance > 0.0).then(|| error / variance)
}
