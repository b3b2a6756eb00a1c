//! The aggregation itself: of whole vectors, or tensor by tensor.

use super::{Arguments, Computed};
use byz::{
    Aggregate, Defense, Error, Options, Scalar, aggregators, expression,
    files::{Inputs, Tensor},
    registry,
};

pub(super) fn compute<T: Scalar>(
    arguments: &Arguments,
    defense: &Defense,
    inputs: &Inputs,
    options: &Options<'_, T>,
) -> Result<Computed<T>, Error> {
    if arguments.per_tensor {
        return per_tensor(defense, inputs, options);
    }
    Ok(Computed { whole: defense.aggregate(&inputs.messages(), options)?, tensors: Vec::new() })
}

/// Whether the rule looks at the centre.
pub(super) fn uses_center(rule: &str) -> Result<bool, Error> {
    let calls = expression::parse(rule)?;
    let Some(last) = calls.last() else { return Ok(false) };
    let entry = registry::find("aggregator", aggregators::TABLE, &last.name)?;
    Ok(registry::build(entry, last)?.requirements().center)
}

/// Who sent a bad number in any tensor is out of all of them, so every number is looked at first.
fn per_tensor<T: Scalar>(
    defense: &Defense,
    inputs: &Inputs,
    options: &Options<'_, T>,
) -> Result<Computed<T>, Error> {
    let verdicts = inputs.inspect::<T>(options.engine);
    let tensors = inputs.layout().map_or(&[][..], |layout| layout.tensors());
    let mut vector = Vec::new();
    let mut parts: Vec<(Tensor, Aggregate<T>)> = Vec::with_capacity(tensors.len());
    for (index, tensor) in tensors.iter().enumerate().filter(|(_, tensor)| !tensor.columns.is_empty()) {
        let Some(part) = inputs.tensor(index, &verdicts) else { continue };
        let center = options.center.map(|center| &center[tensor.columns.clone()]);
        let aggregate = defense.aggregate(&part.messages(), &Options { center, ..*options });
        let mut aggregate = aggregate.map_err(|error| match error {
            Error::Refused { reason, .. } => Error::Refused { reason, verdicts: verdicts.clone() },
            other => other,
        })?;
        vector.append(&mut aggregate.vector);
        aggregate.verdicts.clone_from(&verdicts);
        parts.push((tensor.clone(), aggregate));
    }
    if parts.is_empty() {
        // Nothing could be read, and that is the refusal of the whole.
        return Ok(Computed { whole: defense.aggregate(&inputs.messages(), options)?, tensors: parts });
    }
    Ok(Computed { whole: together(vector, &parts), tensors: parts })
}

/// The whole of tensors aggregated on their own: a worker's weight is its mean over all coordinates, its distance
/// that of its whole vector.
fn together<T: Scalar>(vector: Vec<T>, parts: &[(Tensor, Aggregate<T>)]) -> Aggregate<T> {
    let (_, first) = &parts[0];
    let dimension = vector.len() as f64;
    let workers = first.verdicts.len();
    let weight = |worker: usize| {
        let shares = parts.iter().map(|(tensor, part)| {
            part.weights.as_ref().map(|weights| weights[worker] * tensor.columns.len() as f64 / dimension)
        });
        shares.sum::<Option<f64>>()
    };
    let distance = |worker: usize| {
        let squares = parts.iter().map(|(_, part)| {
            part.distances
                .as_ref()
                .and_then(|distances| distances[worker])
                .map(|distance| distance * distance)
        });
        squares.sum::<Option<f64>>().map(f64::sqrt)
    };
    let mut warnings: Vec<String> = parts.iter().flat_map(|(_, part)| part.warnings.clone()).collect();
    warnings.sort();
    warnings.dedup();
    Aggregate {
        verdicts: first.verdicts.clone(),
        weights: (0..workers).map(weight).collect(),
        distances: first.distances.as_ref().map(|_| (0..workers).map(distance).collect()),
        notes: Vec::new(),
        warnings,
        messages: first.messages,
        tolerance: first.tolerance,
        extra_passes: parts.iter().map(|(_, part)| part.extra_passes).sum(),
        vector,
    }
}
