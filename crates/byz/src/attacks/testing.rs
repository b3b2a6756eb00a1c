//! Rounds for tests: rows in, forged rows out.

use super::{Attack, NextLoss, Probe, View, table};
use crate::{
    Defense, Messages, Options, engine::Engine, error::Result, kernels::Scalar, registry, rows_mut::RowsMut,
};

/// The attack of this expression.
pub(super) fn build<T: Scalar>(expression: &str) -> Result<Box<dyn Attack<T>>> {
    registry::read("attack", table(), expression)
}

/// A view whose defence is the mean of all rows.
pub(super) fn with_view<T: Scalar, R>(honest: &[Vec<T>], act: impl FnOnce(&View<'_, T>) -> R) -> R {
    with_defense("mean", honest, 1, act)
}

/// A view of a round against this defence.
pub(super) fn with_defense<T: Scalar, R>(
    defense: &str,
    honest: &[Vec<T>],
    round: u64,
    act: impl FnOnce(&View<'_, T>) -> R,
) -> R {
    let honest: Vec<&[T]> = honest.iter().map(Vec::as_slice).collect();
    let probe: Probe<'_, T> = &|forged| {
        let all: Vec<&[T]> = honest.iter().chain(forged).copied().collect();
        let defense = Defense::new(defense, forged.len())?;
        Ok(defense.aggregate(&Messages::from_rows(&all), &Options::default())?.vector)
    };
    // A loss that falls along (1, …, 1): the attack should want the aggregate to point the other way.
    let next_loss: NextLoss<'_, T> = &|aggregate| Ok(-aggregate.iter().map(|x| x.to_f64()).sum::<f64>());
    let engine = Engine::default();
    act(&View { round, seed: 7, tolerance: 1, honest: &honest, probe, next_loss, engine })
}

/// What an attack makes of `own` in a round against this defence.
pub(super) fn run_against<T: Scalar>(
    defense: &str,
    attack: &mut dyn Attack<T>,
    honest: &[Vec<T>],
    own: &[Vec<T>],
    round: u64,
) -> Vec<Vec<T>> {
    let dimension = own.first().map_or(0, Vec::len);
    let mut data = own.concat();
    let rows = RowsMut::new(&mut data, dimension);
    with_defense(defense, honest, round, |view| attack.forge(view, rows)).unwrap();
    data.chunks_exact(dimension.max(1)).map(<[T]>::to_vec).collect()
}

/// The same against the mean.
pub(super) fn run<T: Scalar>(
    attack: &mut dyn Attack<T>,
    honest: &[Vec<T>],
    own: &[Vec<T>],
    round: u64,
) -> Vec<Vec<T>> {
    run_against("mean", attack, honest, own, round)
}

/// The first round of a fresh attack.
pub(super) fn forge(expression: &str, honest: &[Vec<f64>], own: &[Vec<f64>]) -> Vec<Vec<f64>> {
    forge_against("mean", expression, honest, own)
}

/// The first round of a fresh attack against this defence.
pub(super) fn forge_against(
    defense: &str,
    expression: &str,
    honest: &[Vec<f64>],
    own: &[Vec<f64>],
) -> Vec<Vec<f64>> {
    run_against(defense, &mut *build(expression).unwrap(), honest, own, 1)
}
