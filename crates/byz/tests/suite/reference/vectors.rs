//! Vectors, one loop each.

use super::Rows;

pub(crate) fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The length, safe from overflow.
pub(crate) fn norm(a: &[f64]) -> f64 {
    let largest = a.iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    largest * a.iter().map(|x| (x / largest) * (x / largest)).sum::<f64>().sqrt()
}

pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    norm(&minus(a, b))
}

/// Squared distances of all pairs.
pub(crate) fn squared_distances(rows: &Rows) -> Vec<Vec<f64>> {
    let squared = |a: &Vec<f64>, b: &Vec<f64>| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
    rows.iter().map(|a| rows.iter().map(|b| squared(a, b)).collect()).collect()
}

/// Σ wᵢxᵢ / Σ wᵢ, taken about the row of largest weight so that a common offset costs no digits.
pub(crate) fn weighted_mean(rows: &Rows, weights: &[f64]) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    let heaviest = (0..rows.len()).fold(0, |best, i| if weights[i] > weights[best] { i } else { best });
    let mut mean = rows[heaviest].clone();
    for (k, mean) in mean.iter_mut().enumerate() {
        let base = rows[heaviest][k];
        let pull: f64 = rows.iter().zip(weights).map(|(row, w)| w * (row[k] - base)).sum();
        *mean += pull / total;
    }
    mean
}

/// The mean of some rows.
pub(crate) fn mean_of(rows: &Rows, selected: &[usize]) -> Vec<f64> {
    let some: Rows = selected.iter().map(|&i| rows[i].clone()).collect();
    weighted_mean(&some, &vec![1.0; some.len()])
}

/// Indices by (score, index).
pub(crate) fn ascending(scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[a].partial_cmp(&scores[b]).expect("scores are numbers").then(a.cmp(&b)));
    order
}

/// The smallest relative gap between one of the `count` lowest scores and one of the others; equal rows do not count.
pub(crate) fn gap(rows: &Rows, scores: &[f64], count: usize) -> f64 {
    let order = ascending(scores);
    let (kept, dropped) = order.split_at(count);
    let pairs = kept.iter().flat_map(|&i| dropped.iter().map(move |&j| (i, j)));
    let apart = |(i, j): (usize, usize)| {
        let gap = (scores[j] - scores[i]) / scores[j].abs().max(f64::MIN_POSITIVE);
        if gap < 1e-3 && rows[i] == rows[j] { f64::INFINITY } else { gap }
    };
    pairs.map(apart).fold(f64::INFINITY, f64::min)
}

/// The largest distance between two of the rows.
pub(crate) fn spread(rows: &Rows) -> f64 {
    rows.iter().flat_map(|a| rows.iter().map(move |b| distance(a, b))).fold(0.0, f64::max)
}
