//! The result as one JSON object. What is not a finite number is `null`.

use super::{Arguments, Computed, explain};
use byz::{
    Aggregate, Refusal, Scalar, Verdict,
    files::{Inputs, Layout},
    plan::Note,
};
use serde_json::{Map, Value, json};

pub(super) fn report<T: Scalar>(arguments: &Arguments, inputs: &Inputs, computed: &Computed<T>) -> Value {
    let whole = &computed.whole;
    let mut report = head(arguments, inputs, &whole.verdicts);
    report.insert("messages".into(), json!(whole.messages));
    report.insert("remaining_tolerance".into(), json!(whole.tolerance));
    report.insert("dtype".into(), json!(T::NAME));
    report.insert("norm".into(), json!(super::summary::norm(&whole.vector)));
    add_details(&mut report, whole);
    report.insert("warnings".into(), json!(whole.warnings));
    if arguments.per_tensor {
        let tensor = |(tensor, part): &(byz::files::Tensor, Aggregate<T>)| {
            let mut one = Map::new();
            one.insert("tensor".into(), json!(tensor.name));
            one.insert("shape".into(), json!(tensor.shape));
            one.insert("dtype".into(), json!(tensor.float.name()));
            add_details(&mut one, part);
            Value::Object(one)
        };
        report.insert("tensors".into(), computed.tensors.iter().map(tensor).collect());
    }
    Value::Object(report)
}

/// The same head, with the reason instead of a result.
pub(super) fn refusal(
    arguments: &Arguments,
    inputs: &Inputs,
    reason: &Refusal,
    verdicts: &[Verdict],
) -> Value {
    let mut report = head(arguments, inputs, verdicts);
    report.insert("refused".into(), json!(reason.to_string()));
    Value::Object(report)
}

fn head(arguments: &Arguments, inputs: &Inputs, verdicts: &[Verdict]) -> Map<String, Value> {
    let dimension = arguments.dimension.or_else(|| inputs.layout().map(Layout::length));
    let used = verdicts.iter().filter(|verdict| **verdict == Verdict::Used).count();
    let workers = inputs.workers().iter().zip(verdicts).enumerate();
    let verdicts = workers.map(|(index, (worker, verdict))| {
        let mut one = Map::new();
        one.insert("worker".into(), json!(index));
        one.insert("file".into(), json!(worker.path.to_string_lossy()));
        if let Some(row) = worker.row {
            one.insert("row".into(), json!(row));
        }
        one.insert("verdict".into(), json!(verdict.name()));
        one.insert("reason".into(), json!(explain::reason(inputs, verdict)));
        Value::Object(one)
    });
    let mut head = Map::new();
    head.insert("rule".into(), json!(arguments.rule));
    head.insert("tolerance".into(), json!(arguments.tolerance));
    head.insert("dimension".into(), json!(dimension));
    head.insert("workers".into(), json!(inputs.workers().len()));
    head.insert("messages".into(), json!(used));
    head.insert("round".into(), json!(arguments.round));
    head.insert("output".into(), json!(arguments.output.as_ref().map(|path| path.to_string_lossy())));
    head.insert("verdicts".into(), verdicts.collect());
    head
}

/// Weights, distances and what the rule tells, each under its own name.
fn add_details<T>(report: &mut Map<String, Value>, result: &Aggregate<T>) {
    report.insert("weights".into(), json!(result.weights));
    report.insert("distances".into(), json!(result.distances));
    report.insert("extra_passes".into(), json!(result.extra_passes));
    for (name, note) in &result.notes {
        report.entry(*name).or_insert_with(|| match note {
            Note::Count(count) => json!(count),
            Note::Number(number) => json!(number),
            Note::Rows(rows) => json!(rows),
            Note::Numbers(numbers) => json!(numbers),
            Note::Text(text) => json!(text),
        });
    }
}
