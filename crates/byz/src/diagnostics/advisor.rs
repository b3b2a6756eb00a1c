//! What another tolerance would have cost: the same messages aggregated again, as if the defence had assumed t Byzantine workers.
//!
//! Too small a t lets forgeries in; too large a one throws honest messages away, at best an error of t/(n − f − t) in the squared
//! definition where the honest lie badly. Only a simulation can tell, because only it knows the honest mean.

use super::moments::Spread;
use crate::{
    defense::Options, engine::Engine, error::Result, kernels::Scalar, messages::Messages, trainer::Trainer,
};

/// The realised κ, linear, of every tolerance below n/2 that the defence is defined for; nothing where the honest agree.
pub(super) fn costs<T: Scalar>(trainer: &mut Trainer<T>, engine: Engine<'_>) -> Result<Vec<(usize, f64)>> {
    let (dimension, workers) = (trainer.parameters.len(), trainer.workers.len());
    let honest: Vec<&[T]> = trainer.rows.chunks_exact(dimension).take(trainer.honest).collect();
    let mean = mean(&honest);
    let spread = Spread::of(&honest, &mean).mean;
    if spread <= 0.0 || !spread.is_finite() {
        return Ok(Vec::new());
    }
    let messages = Messages::from_matrix(&trainer.rows, workers);
    let options = Options { engine, round: trainer.round, center: trainer.center.as_deref(), explain: false };
    let chosen = trainer.defense.tolerance;
    let mut costs = Vec::new();
    for tolerance in 0..workers.div_ceil(2) {
        trainer.defense.tolerance = tolerance;
        // A tolerance that the rule refuses, or that the invalid messages exceed, costs the round.
        let Ok(aggregate) = trainer.defense.aggregate(&messages, &options) else { continue };
        let squared = aggregate.vector.iter().zip(&mean).map(|(a, m)| (a.to_f64() - m).powi(2)).sum::<f64>();
        costs.push((tolerance, squared.sqrt() / spread));
    }
    trainer.defense.tolerance = chosen;
    Ok(costs)
}

fn mean<T: Scalar>(rows: &[&[T]]) -> Vec<f64> {
    let at = |k: usize| {
        let first = rows[0][k].to_f64();
        first + rows.iter().map(|row| row[k].to_f64() - first).sum::<f64>() / rows.len() as f64
    };
    (0..rows[0].len()).map(at).collect()
}
