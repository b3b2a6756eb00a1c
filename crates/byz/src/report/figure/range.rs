//! One range for all panels of a figure, so that they can be compared.

use super::{
    axis::Axis,
    panel::Panel,
    series::{Sample, Series},
};

/// Gives all panels the same axes: rounds along, the named measure upwards. What is to be said of the range comes back.
pub(super) fn share_axes(panels: &mut [Panel], name: &str, log: bool) -> &'static str {
    let series = || panels.iter().flat_map(|panel| &panel.series);
    let points = || series().flat_map(|series| &series.points);
    let start = points().map(|point| point.x).fold(0.0, f64::min);
    let x = Axis::over("round", false, points().map(|point| point.x).chain([start]));
    let most = most(series(), log);
    let y = Axis::over(name, log, points().flat_map(|p| ends(p, log)).map(|value| value.min(most))).padded();
    let beyond = points().any(|point| point.mean > y.high);
    for panel in panels {
        (panel.x, panel.y) = (x.clone(), y.clone());
    }
    if beyond { "; what is far above the others lies on the upper edge" } else { "" }
}

/// The band about a point. Its lower edge may be far below, or below zero, which a logarithmic axis should not try to show.
pub(super) fn ends(point: &Sample, log: bool) -> [f64; 2] {
    let low = point.mean - point.std;
    [if log { low.max(point.mean / 3.0) } else { low }, point.mean + point.std]
}

/// What is far above where half of the curves end is not worth squeezing the others for: it runs along the upper edge.
fn most<'a>(series: impl Iterator<Item = &'a Series>, log: bool) -> f64 {
    let points: Vec<&'a [Sample]> =
        series.map(|series| &series.points[..]).filter(|p| !p.is_empty()).collect();
    let largest = |curve: &[Sample]| curve.iter().map(|point| point.mean).fold(f64::NEG_INFINITY, f64::max);
    let mut heights: Vec<f64> = points.iter().map(|curve| largest(curve)).collect();
    heights.sort_by(f64::total_cmp);
    let middle = heights.get(heights.len() / 2).copied().unwrap_or(f64::INFINITY);
    if middle > 0.0 { middle * if log { 1e3 } else { 10.0 } } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(values: &[f64]) -> Panel {
        let axis = || Axis::over("", false, std::iter::empty());
        let series = values.iter().map(|&mean| Series {
            label: String::new(),
            index: 0,
            style: Default::default(),
            points: vec![Sample { x: 1.0, mean, std: 0.0 }, Sample { x: 9.0, mean: 1.0, std: 2.0 }],
        });
        let (x, y, series) = (axis(), axis(), series.collect());
        Panel { title: String::new(), notes: Default::default(), x, y, series }
    }

    #[test]
    fn a_curve_that_explodes_does_not_flatten_the_others() {
        let mut panels = [panel(&[2.0, 3.0, 1e20])];
        assert!(share_axes(&mut panels, "loss", true).contains("upper edge"));
        assert!(panels[0].y.high < 1e4 && panels[0].y.low > 0.2, "{:?}", panels[0].y);
        assert_eq!((panels[0].x.low, panels[0].x.high), (0.0, 9.0));
        assert!(share_axes(&mut panels, "loss", false).contains("upper edge"));
        assert!(panels[0].y.high < 100.0 && panels[0].y.low < -1.0, "{:?}", panels[0].y);
    }

    #[test]
    fn curves_of_one_size_are_all_within_the_range() {
        let mut panels = [panel(&[2.0, 3.0]), panel(&[9.0])];
        assert_eq!(share_axes(&mut panels, "loss", true), "");
        assert!(panels[0].y.high > 9.0 && panels[0].y.high == panels[1].y.high);
    }
}
