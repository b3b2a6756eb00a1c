//! What the rules mean, one column at a time and slowly: for shares, for ties, and for tests.

use super::CoordinateRule;

/// The weight of each row in one column: what the rule means, slowly. Weights add up to one.
pub(crate) fn weights(rule: CoordinateRule, values: &[f64]) -> Vec<f64> {
    let m = values.len();
    let mut order: Vec<usize> = (0..m).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let (low, high) = (order[(m - 1) / 2], order[m / 2]);
    let mut weights = vec![0.0; m];
    match rule {
        CoordinateRule::Median => {
            weights[low] += 0.5;
            weights[high] += 0.5;
        }
        CoordinateRule::TrimmedMean { trim } => {
            for &row in &order[trim..m - trim] {
                weights[row] = 1.0 / (m - 2 * trim) as f64;
            }
        }
        CoordinateRule::MeanAroundMedian { keep } => {
            // Twice the distance to the median, without rounding the median: ties must stay ties.
            let twice = |row: usize| ((values[row] - values[low]) + (values[row] - values[high])).abs();
            order.sort_by(|&a, &b| twice(a).total_cmp(&twice(b)).then(a.cmp(&b)));
            for &row in &order[..keep] {
                weights[row] = 1.0 / keep as f64;
            }
        }
        CoordinateRule::SignMajority => {
            let sign = |value: f64| i32::from(value > 0.0) - i32::from(value < 0.0);
            let majority = values.iter().map(|&value| sign(value)).sum::<i32>().signum();
            let agree: Vec<usize> = (0..m).filter(|&row| sign(values[row]) == majority).collect();
            for &row in &agree {
                weights[row] = 1.0 / agree.len() as f64;
            }
        }
    }
    weights
}

/// One column by the plain rule.
pub(crate) fn plain(rule: CoordinateRule, values: &[f64]) -> f64 {
    if rule == CoordinateRule::SignMajority {
        let balance: i32 = values.iter().map(|&v| i32::from(v > 0.0) - i32::from(v < 0.0)).sum();
        return f64::from(balance.signum());
    }
    let weights = weights(rule, values);
    let base = (0..values.len()).find(|&row| weights[row] > 0.0).map_or(0.0, |row| values[row]);
    base + weights.iter().zip(values).map(|(w, v)| w * (v - base)).sum::<f64>()
}
