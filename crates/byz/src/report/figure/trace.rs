//! What a figure needs of a cell's records: each seed's curve of one measure, and the first run's weights.

use crate::{
    error::Result,
    report::{Measure, Point, Run, Study, StudyCell},
};

/// A cell's curves.
#[derive(Debug, Default)]
pub(super) struct Trace {
    /// One per run: rounds and values.
    pub(super) curves: Vec<Vec<(u64, f64)>>,
    /// Rounds of the first run that tell every worker's weight.
    pub(super) weights: Vec<(u64, Vec<f64>)>,
}

impl Trace {
    pub(super) fn read(cell: &StudyCell, measure: Measure) -> Result<Trace> {
        let mut trace = Trace::default();
        for (index, run) in cell.runs.iter().enumerate() {
            let points = run.points()?;
            trace.curves.push(curve(run, &points, measure));
            if index == 0 {
                let weights = |point: Point| Some((point.round, point.training?.weights?));
                trace.weights = points.into_iter().filter_map(weights).collect();
            }
        }
        Ok(trace)
    }
}

fn curve(run: &Run, points: &[Point], measure: Measure) -> Vec<(u64, f64)> {
    let value = |point: &Point| {
        let (training, evaluation) = (point.training.as_ref(), point.evaluation.as_ref());
        match measure.name {
            "aggregate_norm" => training.map(|training| training.aggregate_norm),
            "training_loss" => training.map(|training| training.loss),
            "loss" => evaluation?.loss,
            "gradient_norm" => evaluation?.gradient_norm,
            _ => evaluation?.metric,
        }
    };
    let values = points.iter().filter_map(|point| value(point).map(|value| (point.round, value)));
    if measure.name != "best_metric" {
        return values.collect();
    }
    let higher = run.summary.higher_is_better;
    let better = |best: f64, value: f64| if higher { best.max(value) } else { best.min(value) };
    let mut best = f64::NAN;
    values
        .map(|(round, value)| {
            (round, {
                best = better(best, value);
                best
            })
        })
        .collect()
}

/// Whether more of a measure is better.
pub(super) fn higher_is_better(study: &Study, measure: Measure) -> bool {
    let summary = study.cells.iter().find_map(|cell| cell.runs.first()).map(|run| &run.summary);
    measure.name.ends_with("metric") && summary.is_some_and(|summary| summary.higher_is_better)
}

/// What a measure is called on an axis in these units.
pub(super) fn axis_name(study: &Study, measure: Measure, unit: f64) -> String {
    let name = study.measure_name(measure);
    match name.as_str() {
        "accuracy" => "accuracy (%)".into(),
        _ if unit == 1.0 => name.replace('_', " "),
        _ => format!("{} ({unit:e})", name.replace('_', " ")),
    }
}

/// A label as it can stand alone: a number needs to say of what.
pub(super) fn named(axis: &str, label: &str) -> String {
    if label.parse::<f64>().is_ok() { format!("{axis} {label}") } else { label.to_string() }
}

/// All labels of a cell.
pub(super) fn name(study: &Study, labels: &[String]) -> String {
    let names: Vec<String> = study.axes.iter().zip(labels).map(|(axis, label)| named(axis, label)).collect();
    names.join(" · ")
}
