//! Rules that look at the leading direction: smea, caf, divide and conquer.

use super::{Answer, Rows, distance::subsets, eigen::eigenpairs, number, vectors};
use byz::{Stream, expression::Call};
use vectors::{ascending, dot, gap, mean_of, minus, norm, weighted_mean};

/// Largest eigenvalue of Σ wᵢ yᵢyᵢᵀ, its direction, and the relative gap to the second, for centred rows y.
fn leading(centred: &Rows, weights: &[f64]) -> (f64, Vec<f64>, f64) {
    let scaled: Rows =
        centred.iter().zip(weights).map(|(row, w)| row.iter().map(|x| x * w.sqrt()).collect()).collect();
    let gram: Rows = scaled.iter().map(|a| scaled.iter().map(|b| dot(a, b)).collect()).collect();
    let pairs = eigenpairs(gram);
    let mut direction = vec![0.0; centred[0].len()];
    for (row, u) in scaled.iter().zip(&pairs[0].1) {
        direction.iter_mut().zip(row).for_each(|(v, x)| *v += u * x);
    }
    let length = norm(&direction);
    direction.iter_mut().for_each(|v| *v /= length.max(f64::MIN_POSITIVE));
    let second = pairs.get(1).map_or(0.0, |pair| pair.0.max(0.0));
    (pairs[0].0.max(0.0), direction, 1.0 - second / pairs[0].0.max(f64::MIN_POSITIVE))
}

fn centred(rows: &Rows, mean: &[f64]) -> Rows {
    rows.iter().map(|row| minus(row, mean)).collect()
}

/// Full enumeration; the first subset in lexicographic order among those within 1e-10 of the least eigenvalue.
pub(crate) fn smea(rows: &Rows, f: usize) -> Answer {
    let size = rows.len() - f;
    let mut values: Vec<(f64, Vec<usize>)> = Vec::new();
    subsets(rows.len(), size, |subset| {
        let members: Rows = subset.iter().map(|&i| rows[i].clone()).collect();
        let members = centred(&members, &mean_of(rows, subset));
        values.push((leading(&members, &vec![1.0 / size as f64; size]).0, subset.to_vec()));
    });
    let least = values.iter().map(|(value, _)| *value).fold(f64::INFINITY, f64::min);
    let best = values.iter().position(|(value, _)| *value <= least * (1.0 + 1e-10)).expect("a subset");
    let others = values.iter().filter(|(value, _)| *value > least * (1.0 + 1e-10));
    let margin = others.fold(f64::INFINITY, |gap, (value, _)| gap.min(1.0 - least / value));
    Answer::mean_of(rows, values.swap_remove(best).1, margin)
}

/// The filter as written: weights shrink along the leading direction until n − 2f are left.
pub(crate) fn caf(rows: &Rows, f: usize) -> Answer {
    let n = rows.len();
    let mut c = vec![1.0; n];
    let mut means: Vec<(f64, Vec<f64>)> = Vec::new();
    let mut margin = f64::INFINITY;
    loop {
        let total: f64 = c.iter().sum();
        margin = margin.min((total - (n - 2 * f) as f64).abs().max(f64::from(means.is_empty())));
        if total <= (n - 2 * f) as f64 && !means.is_empty() {
            break;
        }
        let mean = weighted_mean(rows, &c);
        let away = centred(rows, &mean);
        let share: Vec<f64> = c.iter().map(|c| c / total).collect();
        let (value, direction, apart) = leading(&away, &share);
        means.push((value, mean));
        let scores: Vec<f64> = away.iter().map(|row| dot(row, &direction).powi(2)).collect();
        let alive = scores.iter().zip(&c).filter(|(_, c)| **c > 0.0);
        let largest = alive.fold(0.0, |largest, (score, _)| f64::max(largest, *score));
        if f == 0 || largest == 0.0 {
            break;
        }
        // Directions turn by rounding over the gap, so this one must be wide.
        margin = margin.min(1e-2 * apart);
        c.iter_mut().zip(&scores).for_each(|(c, score)| *c *= (1.0 - score / largest).max(0.0));
    }
    let values: Vec<f64> = means.iter().map(|(value, _)| *value).collect();
    let order = ascending(&values);
    if let [first, second, ..] = order[..] {
        margin = margin.min(1.0 - values[first] / values[second]);
    }
    Answer { vector: means.swap_remove(order[0]).1, selected: None, margin }
}

/// Keeps what never sticks out along the leading direction of the drawn coordinates.
pub(crate) fn divide_and_conquer(call: &Call, rows: &Rows, f: usize) -> Answer {
    let (n, d) = (rows.len(), rows[0].len());
    let count = number(call, "coordinates", 10_000.0) as usize;
    let dropped = (number(call, "factor", 1.0) * f as f64).floor() as usize;
    let mut selected: Vec<usize> = (0..n).collect();
    let mut margin = f64::INFINITY;
    for iteration in 0..number(call, "iterations", 1.0) as u64 {
        let seed = number(call, "seed", 0.0) as u64;
        let drawn = Stream::new(seed, "divide_and_conquer", iteration, 0).sample(d, count);
        let seen: Rows = rows.iter().map(|row| drawn.iter().map(|&k| row[k]).collect()).collect();
        let everyone: Vec<usize> = (0..n).collect();
        let away = centred(&seen, &mean_of(&seen, &everyone));
        let (_, direction, apart) = leading(&away, &vec![1.0 / n as f64; n]);
        let scores: Vec<f64> = away.iter().map(|row| dot(row, &direction).powi(2)).collect();
        margin = margin.min(1e-2 * apart).min(1e-1 * gap(rows, &scores, n - dropped));
        let kept = ascending(&scores)[..n - dropped].to_vec();
        selected.retain(|row| kept.contains(row));
    }
    Answer::mean_of(rows, selected, margin)
}
