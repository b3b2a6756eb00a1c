//! The result in a few lines.

use super::{Arguments, Computed, explain};
use crate::text::{clean, wrap};
use byz::{Scalar, Verdict, files::Inputs};

/// Values of the aggregate shown.
const SHOWN: usize = 6;
/// Verdicts listed that are not `used`.
const LISTED: usize = 10;

pub(super) fn summary<T: Scalar>(arguments: &Arguments, inputs: &Inputs, computed: &Computed<T>) -> String {
    let whole = &computed.whole;
    let count = |name: &str| whole.verdicts.iter().filter(|verdict| verdict.name() == name).count();
    let workers = whole.verdicts.len();
    let (used, invalid, missing) = (count("used"), count("invalid"), count("missing"));
    let values: Vec<String> = whole.vector.iter().take(SHOWN).map(|value| format!("{value:?}")).collect();
    let more = if whole.vector.len() > SHOWN { ", …" } else { "" };
    let line = |label: &str, text: String| wrap(&format!("{label:<11}"), 11, &text);
    let mut text = line("rule", clean(&arguments.rule));
    text += &line("messages", format!("{workers}: {used} used, {invalid} invalid, {missing} missing"));
    text += &line("tolerance", format!("{}, of which {} remain", arguments.tolerance, whole.tolerance));
    text += &line("dimension", format!("{}, {}", whole.vector.len(), T::NAME));
    text += &line("norm", format!("{:.6e}", norm(&whole.vector)));
    text += &line("aggregate", format!("{}{more}", values.join(", ")));
    let bad = whole.verdicts.iter().enumerate().filter(|(_, verdict)| **verdict != Verdict::Used);
    for (worker, verdict) in bad.take(LISTED) {
        let why = explain::reason(inputs, verdict).map_or(String::new(), |why| format!(": {why}"));
        let file = explain::label(&inputs.workers()[worker]);
        text += &line(verdict.name(), format!("worker {worker} ({file}){}", clean(&why)));
    }
    if invalid + missing > LISTED {
        text += &line("", format!("and {} more; see --explain", invalid + missing - LISTED));
    }
    text
}

/// A sentence about every worker whose message was not used; of many, the first.
pub(super) fn unused(inputs: &Inputs, verdicts: &[Verdict]) -> Vec<String> {
    let bad = || verdicts.iter().enumerate().filter(|(_, verdict)| **verdict != Verdict::Used);
    let sentence = |(worker, verdict): (usize, &Verdict)| {
        let why = explain::reason(inputs, verdict).map_or(String::new(), |why| format!(": {why}"));
        format!("worker {worker} ({}) is {}{why}", explain::label(&inputs.workers()[worker]), verdict.name())
    };
    let mut sentences: Vec<String> = bad().take(LISTED).map(sentence).collect();
    let more = bad().count().saturating_sub(LISTED);
    if more > 0 {
        sentences.push(format!("and {more} more; see --explain"));
    }
    sentences
}

/// Euclidean norm, added up in f64 in one order.
pub(super) fn norm<T: Scalar>(vector: &[T]) -> f64 {
    vector.iter().map(|value| value.to_f64() * value.to_f64()).sum::<f64>().sqrt()
}
