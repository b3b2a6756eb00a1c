//! Where a search begins.

use super::{Counts, Instance};
use crate::random::Stream;

/// Zeros and ones on one coordinate: every number of honest ones, all Byzantine rows at either.
pub(super) fn two_valued(counts: &Counts) -> impl Iterator<Item = Vec<Vec<f64>>> {
    let (n, d, honest) = (counts.messages, counts.dimension, counts.messages - counts.tolerance);
    let row = move |value: f64| (0..d).map(|k| if k == 0 { value } else { 0.0 }).collect::<Vec<f64>>();
    (0..=honest).flat_map(move |ones| {
        [0.0, 1.0].map(|byzantine| {
            let value = |i: usize| if i < honest { f64::from(i < ones) } else { byzantine };
            (0..n).map(|i| row(value(i))).collect()
        })
    })
}

/// Where a climb begins: agreement, clusters, heavy tails and normal rows in turn.
pub(super) fn start(counts: &Counts, number: u64, stream: &mut Stream) -> Instance {
    let (n, d, honest) = (counts.messages, counts.dimension, counts.messages - counts.tolerance);
    let mut rows: Vec<Vec<f64>> = match number % 4 {
        0 => vec![vec![1.0; d]; n],
        1 => clusters(n, d, stream),
        2 => (0..n).map(|_| (0..d).map(|_| stream.student_t(1.5)).collect()).collect(),
        _ => (0..n).map(|_| (0..d).map(|_| stream.normal()).collect()).collect(),
    };
    // Every other time the Byzantine rows are copies of one another, a little apart from the honest.
    if number % 8 < 4 {
        let apart = 10f64.powf(-3.0 * stream.uniform());
        let colluding: Vec<f64> = rows[0].iter().map(|value| value + apart * stream.normal()).collect();
        rows[honest..].fill(colluding);
    }
    // Not all rules are the same at every scale.
    let scale = 10f64.powf(6.0 * stream.uniform() - 3.0);
    rows.iter_mut().flatten().for_each(|value| *value *= scale);
    Instance { rows, ratio: f64::NEG_INFINITY }
}

/// Rows at two or three places.
fn clusters(n: usize, d: usize, stream: &mut Stream) -> Vec<Vec<f64>> {
    let places: Vec<Vec<f64>> =
        (0..2 + stream.below(2)).map(|_| (0..d).map(|_| stream.normal()).collect()).collect();
    (0..n).map(|_| places[stream.below(places.len() as u64) as usize].clone()).collect()
}
