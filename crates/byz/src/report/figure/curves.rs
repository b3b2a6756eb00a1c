//! Every cell's curve: the last axis is the curves of a panel, the one before the columns, the others the rows.

use super::{
    Drawing, Key, Medium,
    axis::Axis,
    grid::Grid,
    number::short,
    panel::Panel,
    range::share_axes,
    series::{Series, Style, over_seeds, thin},
    trace::{Trace, axis_name, name, named},
};
use crate::report::{Measure, Study};

/// No panel shows more points of a curve than this.
const MOST_POINTS: usize = 130;
/// Rates of more curves than this have no room under a panel's title.
const MOST_NOTES: usize = 4;

pub(super) fn draw(study: &Study, traces: &[Trace], measure: Measure, medium: Medium) -> Vec<Drawing> {
    let log = study.report.log;
    // Powers of ten say their unit themselves.
    let unit = if log { 1.0 } else { study.report.unit };
    let (mut panels, legend) = panels(study, traces, unit);
    let name = axis_name(study, measure, unit);
    let beyond = share_axes(&mut panels, &name, log);
    let noted = legend.len() <= MOST_NOTES;
    panels.iter_mut().filter(|_| !noted).for_each(|panel| panel.notes.1.clear());
    let title = if study.report.title.is_empty() { name.clone() } else { study.report.title.clone() };
    let rates = if noted { "; γ₀ is the learning rate" } else { "" };
    let note = format!("mean over seeds, band ± 1 standard deviation{rates}{beyond}");
    let grid = Grid { title, note: note.clone(), columns: columns(study, panels.len()), panels, legend };
    let (svg, title) = (grid.draw(medium), format!("{name} by round"));
    vec![Drawing { name: "curves".into(), title, note, svg, legend: grid.legend, cell: None }]
}

/// A panel for all cells that differ only in their last label.
fn panels(study: &Study, traces: &[Trace], unit: f64) -> (Vec<Panel>, Vec<Key>) {
    let mut panels: Vec<(&[String], Panel)> = Vec::new();
    let mut legend: Vec<Key> = Vec::new();
    for (cell, trace) in study.cells.iter().zip(traces) {
        let (shared, label) = match cell.labels.split_last() {
            Some((last, shared)) => (shared, named(&study.axes[shared.len()], last)),
            None => (&[][..], "all runs".into()),
        };
        let index = legend.iter().position(|key| key.label == label).unwrap_or_else(|| {
            legend.push(Key { label: label.clone(), index: legend.len(), style: Style::Band });
            legend.len() - 1
        });
        let panel = panels.iter().position(|(labels, _)| *labels == shared).unwrap_or_else(|| {
            panels.push((shared, empty(name(study, shared))));
            panels.len() - 1
        });
        let panel = &mut panels[panel].1;
        let mut points = thin(&over_seeds(&trace.curves), MOST_POINTS, study.report.log);
        points.iter_mut().for_each(|point| (point.mean, point.std) = (point.mean / unit, point.std / unit));
        panel.notes.1.extend(cell.rate.filter(|_| !points.is_empty()).map(|rate| (index, short(rate))));
        panel.series.push(Series { label, index, style: Style::Band, points });
    }
    (panels.into_iter().map(|(_, panel)| panel).collect(), legend)
}

fn empty(title: String) -> Panel {
    let axis = || Axis::over("", false, std::iter::empty());
    let notes = ("γ₀".to_string(), Vec::new());
    Panel { title, notes, x: axis(), y: axis(), series: Vec::new() }
}

/// As many columns as the last axis but one has labels; a few side by side where there is no such axis or too many.
fn columns(study: &Study, panels: usize) -> usize {
    let mut labels: Vec<&String> = match study.axes.len() {
        0 | 1 => return 1,
        axes => study.cells.iter().filter_map(|cell| cell.labels.get(axes - 2)).collect(),
    };
    labels.sort();
    labels.dedup();
    match labels.len() {
        few @ 1..=5 => few,
        _ => panels.min(4),
    }
}
