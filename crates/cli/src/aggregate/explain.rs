//! The table of who was trusted, by how much.

use super::{Arguments, Computed};
use crate::text::{clean, shorten, wrap};
use byz::{
    Aggregate, Reason, Scalar, Verdict,
    files::{Inputs, Layout, Worker},
    plan::Note,
};

/// Columns for the names of files: what 80 leave beside the numbers.
const NAME: usize = 29;

pub(super) fn table<T: Scalar>(arguments: &Arguments, inputs: &Inputs, computed: &Computed<T>) -> String {
    let whole = &computed.whole;
    let mut text = rows(inputs, &whole.verdicts, whole.weights.as_deref(), whole.distances.as_deref());
    text.push('\n');
    text += &line("rule", &clean(&arguments.rule));
    let (n, f) = (whole.messages, whole.tolerance);
    text += &line("counts", &format!("{n} messages used, tolerance {f} of {} left", arguments.tolerance));
    text += &notes(whole);
    for (tensor, part) in &computed.tensors {
        text.push('\n');
        text += &line("tensor", &format!("{} {:?}", clean(&tensor.name), tensor.shape));
        text += &notes(part);
    }
    text
}

/// The verdicts of a round that has no aggregate.
pub(super) fn verdicts(inputs: &Inputs, verdicts: &[Verdict]) -> String {
    rows(inputs, verdicts, None, None)
}

fn rows(
    inputs: &Inputs,
    verdicts: &[Verdict],
    weights: Option<&[f64]>,
    distances: Option<&[Option<f64>]>,
) -> String {
    let ranks = ranks(distances.unwrap_or(&[]));
    let names: Vec<String> = inputs.workers().iter().map(|worker| shorten(&label(worker), NAME)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(4);
    let head = ["worker", "file", "verdict", "weight", "distance", "rank"];
    let mut text = row(width, head.map(String::from));
    for (worker, verdict) in verdicts.iter().enumerate() {
        let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".into());
        let distance = distances.and_then(|distances| distances[worker]);
        text += &row(
            width,
            [
                worker.to_string(),
                names[worker].clone(),
                verdict.name().into(),
                or_dash(weights.map(|weights| format!("{:.6}", weights[worker]))),
                or_dash(distance.map(|distance| format!("{distance:.4e}"))),
                or_dash(ranks.get(worker).copied().flatten().map(|rank| rank.to_string())),
            ],
        );
        if let Some(why) = reason(inputs, verdict) {
            text += &wrap(&" ".repeat(8), 8, &clean(&why));
        }
    }
    text
}

fn row(width: usize, [worker, file, verdict, weight, distance, rank]: [String; 6]) -> String {
    format!("{worker:>6}  {file:<width$}  {verdict:<7}  {weight:>10}  {distance:>10}  {rank:>5}\n")
}

/// 1 for the nearest; the lower index first where distances are equal.
fn ranks(distances: &[Option<f64>]) -> Vec<Option<usize>> {
    let mut order: Vec<usize> = (0..distances.len()).filter(|&worker| distances[worker].is_some()).collect();
    order.sort_by(|&a, &b| distances[a].partial_cmp(&distances[b]).unwrap_or(std::cmp::Ordering::Equal));
    let mut ranks = vec![None; distances.len()];
    order.iter().enumerate().for_each(|(rank, &worker)| ranks[worker] = Some(rank + 1));
    ranks
}

fn notes<T>(result: &Aggregate<T>) -> String {
    let join = |numbers: Vec<String>| numbers.join(", ");
    let mut text = String::new();
    for (name, note) in &result.notes {
        let told = match note {
            Note::Count(count) => count.to_string(),
            Note::Number(number) => format!("{number:.4e}"),
            Note::Rows(rows) => join(rows.iter().map(usize::to_string).collect()),
            Note::Numbers(numbers) => join(numbers.iter().map(score).collect()),
            Note::Text(word) => clean(word),
        };
        text += &line(name, &told);
    }
    if result.extra_passes > 0 {
        let passes = result.extra_passes;
        text += &line("passes", &format!("{passes} more than planned, where distances would have cancelled"));
    }
    text
}

fn line(label: &str, text: &str) -> String {
    wrap(&format!("{label:<12}"), 12, text)
}

/// A worker's file, and its row in a matrix.
pub(super) fn label(worker: &Worker) -> String {
    let name = worker.path.file_name().unwrap_or(worker.path.as_os_str()).to_string_lossy();
    match worker.row {
        Some(row) => format!("{}[{row}]", clean(&name)),
        None => clean(&name),
    }
}

/// Why a message is invalid; in a checkpoint, also where.
pub(super) fn reason(inputs: &Inputs, verdict: &Verdict) -> Option<String> {
    let Verdict::Invalid(reason) = verdict else { return None };
    let place = match reason {
        Reason::NonFinite { coordinate, .. } | Reason::OutOfRange { coordinate, .. } => {
            inputs.layout().and_then(|layout: &Layout| layout.locate(*coordinate))
        }
        _ => None,
    };
    Some(match place {
        Some((tensor, element)) => format!("{reason} (tensor '{}', element {element})", tensor.name),
        None => reason.to_string(),
    })
}

/// A number of a worker; one that sent nothing valid has none.
fn score(number: &f64) -> String {
    if number.is_nan() { "–".into() } else { format!("{number:.4e}") }
}
