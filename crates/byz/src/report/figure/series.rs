//! A curve: mean and deviation over seeds, thinned to what a figure can show.
//!
//! Thinning replaces each window of neighbouring points by one. On a linear axis it has the mean of the window; on a
//! logarithmic one the mean of the logarithms, and a deviation in the window's mean ratio to it: what the eye would
//! average. The first and the last point stay as they are, so that the end of a curve is the number of the table.

use crate::report::{Deviation, mean};
use std::collections::BTreeMap;

/// One point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    pub(super) x: f64,
    pub(super) mean: f64,
    pub(super) std: f64,
}

/// How a curve is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Style {
    /// A line in its band.
    #[default]
    Band,
    /// A line through points with error bars.
    Marks,
    /// Points alone.
    Dots,
}

/// One curve of a panel.
#[derive(Clone, Debug)]
pub(super) struct Series {
    pub(super) label: String,
    /// Its place in the palette and in the legend.
    pub(super) index: usize,
    pub(super) style: Style,
    pub(super) points: Vec<Sample>,
}

/// Mean and deviation at every round that any seed has.
pub(super) fn over_seeds(curves: &[Vec<(u64, f64)>]) -> Vec<Sample> {
    let mut rounds: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for &(round, value) in curves.iter().flatten().filter(|(_, value)| value.is_finite()) {
        rounds.entry(round).or_default().push(value);
    }
    let sample = |(round, values): (u64, Vec<f64>)| {
        mean(&values, Deviation::Population).map(|(mean, std)| Sample { x: round as f64, mean, std })
    };
    rounds.into_iter().filter_map(sample).collect()
}

/// At most `most` points.
pub(super) fn thin(points: &[Sample], most: usize, log: bool) -> Vec<Sample> {
    let [first, inner @ .., last] = points else { return points.to_vec() };
    if points.len() <= most {
        return points.to_vec();
    }
    let window = inner.len().div_ceil(most.saturating_sub(2).max(1));
    let mut thinned = vec![*first];
    thinned.extend(inner.chunks(window).map(|window| middle(window, log)));
    thinned.push(*last);
    thinned
}

fn middle(window: &[Sample], log: bool) -> Sample {
    let average = |of: &dyn Fn(&Sample) -> f64| window.iter().map(of).sum::<f64>() / window.len() as f64;
    let x = average(&|sample| sample.x).round();
    if log && window.iter().all(|sample| sample.mean > 0.0) {
        let mean = average(&|sample| sample.mean.ln()).exp();
        return Sample { x, mean, std: mean * average(&|sample| sample.std / sample.mean) };
    }
    Sample { x, mean: average(&|sample| sample.mean), std: average(&|sample| sample.std) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_averaged_where_they_have_a_value() {
        let curves = [vec![(1, 2.0), (2, 5.0)], vec![(1, 4.0), (2, f64::NAN)]];
        let points = over_seeds(&curves);
        assert_eq!(points[0], Sample { x: 1.0, mean: 3.0, std: 1.0 });
        assert_eq!(points[1], Sample { x: 2.0, mean: 5.0, std: 0.0 });
    }

    #[test]
    fn thinning_keeps_the_ends_and_averages_as_the_eye_does() {
        let points: Vec<Sample> =
            (0..1000).map(|k| Sample { x: k as f64, mean: 10f64.powi(-(k % 3)), std: 0.0 }).collect();
        let thinned = thin(&points, 100, true);
        assert!(thinned.len() <= 100, "{}", thinned.len());
        assert_eq!((thinned[0], thinned[thinned.len() - 1]), (points[0], points[999]));
        let window = thin(&points[..5], 3, true)[1];
        assert!((window.mean - 0.1).abs() < 1e-12, "{window:?}");
        assert!((thin(&points[..5], 3, false)[1].mean - 0.37).abs() < 1e-12);
        assert_eq!(thin(&points[..3], 3, true), points[..3]);
    }
}
