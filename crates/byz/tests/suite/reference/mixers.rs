//! Pre-aggregators on materialised rows; each gives the margin of its choices.

use super::{Rows, number, vectors};
use byz::{Stream, expression::Call};
use vectors::{ascending, gap, mean_of, norm, squared_distances};

pub(crate) fn mix(call: &Call, rows: &Rows, f: usize) -> (Rows, f64) {
    match call.name.as_str() {
        "nnm" | "nearest_neighbor_mixing" => nearest_neighbor_mixing(rows, f),
        "bucketing" => {
            let (size, seed) = (number(call, "size", 2.0) as usize, number(call, "seed", 0.0) as u64);
            let order = match size {
                1 => (0..rows.len()).collect(),
                _ => Stream::new(seed, "bucketing", 0, 0).permutation(rows.len()),
            };
            (bucket_means(rows, &order, size), f64::INFINITY)
        }
        "clipping" => (clipped(rows, number(call, "radius", 2.0)), f64::INFINITY),
        "arc" | "adaptive_clipping" => (adaptively_clipped(rows, f), f64::INFINITY),
        other => panic!("no reference for {other}"),
    }
}

/// Row i becomes the mean of the n − f rows nearest to it, itself included, ties to the lowest index.
pub(crate) fn nearest_neighbor_mixing(rows: &Rows, f: usize) -> (Rows, f64) {
    let keep = rows.len() - f;
    let squared = squared_distances(rows);
    let margin = squared.iter().map(|row| gap(rows, row, keep)).fold(f64::INFINITY, f64::min);
    let one = |row: &Vec<f64>| {
        let mut nearest = ascending(row)[..keep].to_vec();
        // Rows with the same neighbours shall agree to the bit.
        nearest.sort_unstable();
        mean_of(rows, &nearest)
    };
    (squared.iter().map(one).collect(), margin)
}

/// Consecutive buckets of an order; the last may be shorter.
pub(crate) fn bucket_means(rows: &Rows, order: &[usize], size: usize) -> Rows {
    order.chunks(size).map(|bucket| mean_of(rows, bucket)).collect()
}

/// x · min(1, radius/‖x‖).
pub(crate) fn clipped(rows: &Rows, radius: f64) -> Rows {
    let one = |row: &Vec<f64>| {
        let length = norm(row);
        let factor = if length > radius { radius / length } else { 1.0 };
        row.iter().map(|x| factor * x).collect()
    };
    rows.iter().map(one).collect()
}

/// The k = ⌊2(f/n)(n−f)⌋ longest are clipped to the longest of the rest.
pub(crate) fn adaptively_clipped(rows: &Rows, f: usize) -> Rows {
    let n = rows.len();
    let mut norms: Vec<f64> = rows.iter().map(|row| norm(row)).collect();
    norms.sort_by(|a, b| b.total_cmp(a));
    clipped(rows, norms[2 * f * (n - f) / n])
}
