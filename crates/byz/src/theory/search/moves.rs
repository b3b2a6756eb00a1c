//! How a search goes on.

use super::{Counts, distance};
use crate::random::Stream;

/// One move: a coordinate, a row, a copy, a stretch, or all Byzantine rows at once.
pub(super) fn change(rows: &mut [Vec<f64>], counts: &Counts, stream: &mut Stream) {
    let (n, d, honest) = (rows.len(), counts.dimension, rows.len() - counts.tolerance);
    let pick = |stream: &mut Stream, bound: usize| stream.below(bound as u64) as usize;
    let (i, j) = (pick(stream, n), pick(stream, n));
    let typical =
        distance(&rows[i], &rows[j]).max(1e-3 * rows[i].iter().fold(1e-9, |a: f64, b| a.max(b.abs())));
    let step = typical * 10f64.powf(3.0 * stream.uniform() - 2.5);
    match stream.below(6) {
        0 => {
            let k = pick(stream, d);
            rows[i][k] += step * stream.normal();
        }
        1 => rows[i].iter_mut().for_each(|value| *value += step * stream.normal()),
        2 => rows[i] = rows[j].clone(),
        3 => {
            let stretch = [0.0, 0.5, 0.9, 1.1, 2.0, 10.0][pick(stream, 6)];
            let to = rows[j].clone();
            rows[i].iter_mut().zip(to).for_each(|(value, to)| *value = to + stretch * (*value - to));
        }
        4 if honest < n => {
            let row = rows[i].clone();
            rows[honest..].fill(row);
        }
        _ => {
            let move_by: Vec<f64> = (0..d).map(|_| step * stream.normal()).collect();
            for row in &mut rows[honest..] {
                row.iter_mut().zip(&move_by).for_each(|(value, by)| *value += by);
            }
        }
    }
}
