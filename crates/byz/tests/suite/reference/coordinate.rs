//! Rules that look at one coordinate at a time.

use super::{Answer, Rows};

/// Applies a rule to every column; it gives a value and the margin of its choice.
pub(crate) fn each(rows: &Rows, rule: impl Fn(&[f64]) -> (f64, f64)) -> Answer {
    let mut margin = f64::INFINITY;
    let mut one = |k: usize| {
        let column: Vec<f64> = rows.iter().map(|row| row[k]).collect();
        let (value, gap) = rule(&column);
        margin = margin.min(gap);
        value
    };
    let vector = (0..rows[0].len()).map(&mut one).collect();
    Answer { vector, selected: None, margin }
}

fn sorted(column: &[f64]) -> Vec<f64> {
    let mut sorted = column.to_vec();
    sorted.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
    sorted
}

fn mean(values: &[f64]) -> f64 {
    let base = values[values.len() / 2];
    base + values.iter().map(|value| value - base).sum::<f64>() / values.len() as f64
}

pub(crate) fn median(column: &[f64]) -> f64 {
    let sorted = sorted(column);
    let (low, high) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
    0.5 * low + 0.5 * high
}

pub(crate) fn trimmed_mean(column: &[f64], trim: usize) -> f64 {
    mean(&sorted(column)[trim..column.len() - trim])
}

/// The values by (distance to the median, row); the margin is relative to the spread of the kept ones.
pub(crate) fn mean_around_median(column: &[f64], keep: usize) -> (f64, f64) {
    let middle = median(column);
    let away = |row: usize| (column[row] - middle).abs();
    let mut order: Vec<usize> = (0..column.len()).collect();
    order.sort_by(|&a, &b| away(a).partial_cmp(&away(b)).expect("numbers").then(a.cmp(&b)));
    let kept: Vec<f64> = order[..keep].iter().map(|&row| column[row]).collect();
    let pairs = order[..keep].iter().flat_map(|&i| order[keep..].iter().map(move |&j| (i, j)));
    let different = pairs.filter(|&(i, j)| column[i] != column[j]);
    let margin = different
        .map(|(i, j)| (away(j) - away(i)) / away(j).max(f64::MIN_POSITIVE))
        .fold(f64::INFINITY, f64::min);
    (mean(&sorted(&kept)), margin)
}

/// The margin is how near to zero some value comes, relative to the largest.
pub(crate) fn sign_majority(column: &[f64]) -> (f64, f64) {
    let sign = |x: f64| if x > 0.0 { 1 } else { -i32::from(x < 0.0) };
    let votes: i32 = column.iter().map(|&x| sign(x)).sum();
    let largest = column.iter().fold(f64::MIN_POSITIVE, |largest, x| largest.max(x.abs()));
    let margin =
        column.iter().filter(|x| **x != 0.0).fold(f64::INFINITY, |gap, x| gap.min(x.abs() / largest));
    (f64::from(votes.signum()), margin)
}
