//! The measure against the number of rounds, both logarithmic, with fitted slopes beside the theory's −1/4.

use super::{
    Drawing, Key, Medium,
    axis::Axis,
    grid::Grid,
    panel::Panel,
    range::share_axes,
    series::{Sample, Series, Style},
    trace::{axis_name, named},
};
use crate::report::{Deviation, Measure, Study, mean};

const REFERENCE: f64 = -0.25;

pub(super) fn draw(study: &Study, measure: Measure, medium: Medium) -> Vec<Drawing> {
    // The axis that is the number of rounds; the labels of the others name the curves.
    let numeric = |axis: &usize| study.cells.iter().all(|cell| cell.labels[*axis].parse::<f64>().is_ok());
    let along = (0..study.axes.len()).find(numeric);
    let (mut series, mut expected): (Vec<Series>, Vec<Series>) = Default::default();
    for cell in &study.cells {
        let Some(run) = cell.runs.first() else { continue };
        let Some((mean, std)) = mean(&cell.values(measure), Deviation::Population) else { continue };
        let others = cell.labels.iter().enumerate().filter(|(axis, _)| Some(*axis) != along);
        let label =
            others.map(|(axis, label)| named(&study.axes[axis], label)).collect::<Vec<_>>().join(" · ");
        let x = run.config.rounds as f64;
        if let Some(number) = study.expected(cell) {
            let sample = Sample { x, mean: number.mean * study.report.unit, std: 0.0 };
            add(&mut expected, format!("{label} {}", study.report.expected_name).trim(), sample);
        }
        add(&mut series, &label, Sample { x, mean, std });
    }
    for added in &mut expected {
        added.index += series.len();
    }
    series.extend(expected);
    for series in &mut series {
        series.points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let fitted =
            fit(&series.points).map_or(String::new(), |slope| format!("slope {slope:.2}").replace('-', "−"));
        let parts = [series.label.clone(), fitted].into_iter().filter(|part| !part.is_empty());
        series.label = parts.collect::<Vec<_>>().join(": ");
    }
    series.extend(reference(&series));
    let legend = series.iter().map(Key::of).collect();
    let name = axis_name(study, measure, 1.0);
    let rounds =
        Axis::over("rounds", true, series.iter().flat_map(|s| &s.points).map(|point| point.x)).padded();
    let (x, y) = (rounds.clone(), rounds.clone());
    let mut panels = vec![Panel { title: String::new(), notes: Default::default(), x, y, series }];
    let beyond = share_axes(&mut panels, &name, true);
    panels[0].x = rounds;
    let title = format!("{name} against the number of rounds");
    let note =
        format!("mean over seeds, bars ± 1 standard deviation; slopes fitted to the logarithms{beyond}");
    let grid = Grid { title: title.clone(), note: note.clone(), columns: 1, panels, legend };
    let svg = grid.draw(medium);
    vec![Drawing { name: "slope".into(), title, note, svg, legend: grid.legend, cell: None }]
}

/// Adds a place to the curve of that name.
fn add(series: &mut Vec<Series>, label: &str, sample: Sample) {
    let index = series.iter().position(|known| known.label == label).unwrap_or_else(|| {
        series.push(Series {
            label: label.into(),
            index: series.len(),
            style: Style::Marks,
            points: Vec::new(),
        });
        series.len() - 1
    });
    series[index].points.push(sample);
}

/// Least squares through the logarithms; none with fewer than two places.
fn fit(points: &[Sample]) -> Option<f64> {
    let logs: Vec<(f64, f64)> =
        points.iter().filter(|p| p.x > 0.0 && p.mean > 0.0).map(|p| (p.x.ln(), p.mean.ln())).collect();
    let count = logs.len() as f64;
    let (x, y) =
        (logs.iter().map(|p| p.0).sum::<f64>() / count, logs.iter().map(|p| p.1).sum::<f64>() / count);
    let spread: f64 = logs.iter().map(|p| (p.0 - x).powi(2)).sum();
    let common: f64 = logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    (spread > 0.0).then(|| common / spread)
}

/// The theory's slope, from the first curve's first point.
fn reference(series: &[Series]) -> Option<Series> {
    let start = series.first()?.points.first()?;
    let end = series.iter().flat_map(|series| &series.points).map(|point| point.x).fold(start.x, f64::max);
    let mean = start.mean * (end / start.x).powf(REFERENCE);
    let points = vec![Sample { std: 0.0, ..*start }, Sample { x: end, mean, std: 0.0 }];
    (end > start.x).then(|| Series { label: "slope −1/4".into(), index: 6, style: Style::Marks, points })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_law_has_its_exponent_as_slope() {
        let points: Vec<Sample> =
            [1e2, 1e3, 1e5].map(|x: f64| Sample { x, mean: 7.0 * x.powf(-0.25), std: 0.0 }).to_vec();
        assert!((fit(&points).unwrap() + 0.25).abs() < 1e-12);
        assert_eq!(fit(&points[..1]), None);
    }
}
