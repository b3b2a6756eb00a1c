//! The geometric median: Weiszfeld's iteration run until it stands still, and the variants of the literature.

use super::{Answer, Rows, argument, coordinate, eigen::eigenpairs, number, vectors};
use byz::expression::Call;
use vectors::{ascending, distance, dot, gap, minus, norm, weighted_mean};

pub(crate) fn evaluate(call: &Call, rows: &Rows) -> Answer {
    let sums: Vec<f64> = rows.iter().map(|a| rows.iter().map(|b| distance(a, b)).sum()).collect();
    let start = match argument(call, "start") {
        Some("zero") => vec![0.0; rows[0].len()],
        Some("mean") => weighted_mean(rows, &vec![1.0; rows.len()]),
        _ => rows[ascending(&sums)[0]].clone(),
    };
    let limit = argument(call, "iterations").map(|_| number(call, "iterations", 0.0) as usize);
    let from_medoid = !matches!(argument(call, "start"), Some("zero" | "mean"));
    let margin = if from_medoid { gap(rows, &sums, 1) } else { f64::INFINITY };
    let vector = match (argument(call, "smoothing"), limit) {
        (Some(_), limit) => smoothed(rows, start, number(call, "smoothing", 0.0), limit.unwrap_or(1000)),
        (None, Some(limit)) => (0..limit).fold(start, |place, _| step(rows, &place)),
        (None, None) => return Answer::smooth(exact(rows)),
    };
    Answer { vector, selected: None, margin }
}

/// Whether all rows lie on a line, where the minimiser need not be unique.
pub(crate) fn collinear(rows: &Rows) -> bool {
    let mean = weighted_mean(rows, &vec![1.0; rows.len()]);
    let centred: Rows = rows.iter().map(|row| minus(row, &mean)).collect();
    let gram: Rows = centred.iter().map(|a| centred.iter().map(|b| dot(a, b)).collect()).collect();
    eigenpairs(gram).get(1).is_none_or(|second| second.0 <= 1e-12 * squared_size(&centred))
}

fn squared_size(rows: &Rows) -> f64 {
    rows.iter().map(|row| dot(row, row)).sum()
}

/// wᵢ = 1/max(ν, ‖z − xᵢ‖), `limit` times.
pub(crate) fn smoothed(rows: &Rows, start: Vec<f64>, smoothing: f64, limit: usize) -> Vec<f64> {
    (0..limit).fold(start, |z, _| {
        let weights: Vec<f64> = rows.iter().map(|row| 1.0 / distance(row, &z).max(smoothing)).collect();
        weighted_mean(rows, &weights)
    })
}

/// Unit vectors from z to the rows elsewhere, added up; and how many rows lie at z.
pub(crate) fn pull(rows: &Rows, z: &[f64]) -> (Vec<f64>, usize) {
    let mut pull = vec![0.0; z.len()];
    for (row, away) in rows.iter().map(|row| (row, distance(row, z))).filter(|(_, away)| *away > 0.0) {
        pull.iter_mut().zip(minus(row, z)).for_each(|(pull, x)| *pull += x / away);
    }
    (pull, rows.iter().filter(|row| row.as_slice() == z).count())
}

/// One step of Weiszfeld, or of Vardi and Zhang from a row.
pub(crate) fn step(rows: &Rows, z: &[f64]) -> Vec<f64> {
    let away: Vec<f64> = rows.iter().map(|row| distance(row, z)).collect();
    if away.iter().all(|away| *away == 0.0) {
        return z.to_vec();
    }
    let weights: Vec<f64> = away.iter().map(|&away| if away > 0.0 { 1.0 / away } else { 0.0 }).collect();
    let target = weighted_mean(rows, &weights);
    let (pull, copies) = pull(rows, z);
    let stay = if copies == 0 { 0.0 } else { (copies as f64 / norm(&pull)).min(1.0) };
    z.iter().zip(target).map(|(z, target)| stay * z + (1.0 - stay) * target).collect()
}

/// A row that is optimal, or the place where the iteration stands still.
pub(crate) fn exact(rows: &Rows) -> Vec<f64> {
    for row in rows {
        let (pull, copies) = pull(rows, row);
        if norm(&pull) <= copies as f64 * (1.0 + 1e-12) {
            return row.clone();
        }
    }
    // The coordinate-wise median is a start that no outlier moves.
    let mut z = coordinate::each(rows, |column| (coordinate::median(column), f64::INFINITY)).vector;
    for _ in 0..200_000 {
        let next = step(rows, &z);
        let moved = distance(&next, &z);
        z = next;
        let nearest = rows.iter().map(|row| distance(row, &z)).fold(f64::INFINITY, f64::min);
        if moved <= 1e-15 * nearest.max(norm(&z)) {
            break;
        }
    }
    z
}

/// Σ ‖z − xᵢ‖.
pub(crate) fn objective(rows: &Rows, z: &[f64]) -> f64 {
    rows.iter().map(|row| distance(row, z)).sum()
}

/// A bound on (objective(z) − least)/objective(z) that needs no solver: convexity and the subgradient at z.
pub(crate) fn certificate(rows: &Rows, z: &[f64]) -> f64 {
    let (pull, copies) = pull(rows, z);
    2.0 * (norm(&pull) - copies as f64).max(0.0) / rows.len() as f64
}
