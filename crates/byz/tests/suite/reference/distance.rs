//! Rules that choose by distances, and centred clipping.

use super::{Answer, Rows, argument, coordinate, number, vectors};
use byz::expression::Call;
use vectors::{ascending, distance, gap, squared_distances};

/// Krum scores of `members` among themselves.
fn scores(squared: &[Vec<f64>], members: &[usize], neighbors: usize, power: i32) -> Vec<f64> {
    let score = |&i: &usize| {
        let others = members.iter().filter(|&&j| j != i);
        let mut costs: Vec<f64> = others.map(|&j| squared[i][j].sqrt()).collect();
        costs.sort_by(f64::total_cmp);
        // Squares of square roots would spoil exact ties.
        let mut exact: Vec<f64> = members.iter().filter(|&&j| j != i).map(|&j| squared[i][j]).collect();
        exact.sort_by(f64::total_cmp);
        match power {
            1 => costs[..neighbors].iter().sum::<f64>(),
            2 => exact[..neighbors].iter().sum(),
            _ => exact[..neighbors].iter().map(|cost| cost * cost).sum(),
        }
    };
    members.iter().map(score).collect()
}

/// Krum is Multi-Krum with one row.
pub(crate) fn multi_krum(call: &Call, rows: &Rows, f: usize, select: Option<usize>) -> Answer {
    let n = rows.len();
    let neighbors = match argument(call, "neighbors") {
        None | Some("n-f-2") => n - f - 2,
        Some("n-f-1") => n - f - 1,
        Some(count) => count.parse().expect("a count"),
    };
    let select = select.unwrap_or_else(|| number(call, "select", n as f64 - f as f64 - 2.0) as usize);
    let power = number(call, "power", 2.0) as i32;
    let everyone: Vec<usize> = (0..n).collect();
    let scores = scores(&squared_distances(rows), &everyone, neighbors, power);
    Answer::mean_of(rows, ascending(&scores)[..select].to_vec(), gap(rows, &scores, select))
}

/// θ = n − 2f picks by Krum, each scored anew, then the mean of the θ − 2f values nearest the median.
pub(crate) fn bulyan(rows: &Rows, f: usize) -> Answer {
    let squared = squared_distances(rows);
    let mut left: Vec<usize> = (0..rows.len()).collect();
    let theta = rows.len() - 2 * f;
    let (mut picked, mut margin) = (Vec::new(), f64::INFINITY);
    while picked.len() < theta {
        let neighbors = left.len().saturating_sub(f + 2).max(1).min(left.len() - 1);
        let scores = scores(&squared, &left, neighbors, 2);
        let members: Rows = left.iter().map(|&i| rows[i].clone()).collect();
        margin = f64::min(margin, gap(&members, &scores, 1));
        picked.push(left.remove(ascending(&scores)[0]));
    }
    // The order of the picks does not matter to the second stage, but ties there go to the lowest worker.
    let mut chosen = picked.clone();
    chosen.sort_unstable();
    let chosen: Rows = chosen.iter().map(|&i| rows[i].clone()).collect();
    let rule = |column: &[f64]| coordinate::mean_around_median(column, theta - 2 * f);
    let second = coordinate::each(&chosen, rule);
    Answer { vector: second.vector, selected: Some(picked), margin: margin.min(second.margin) }
}

/// Every subset of `size` of 0..n, in lexicographic order.
pub(crate) fn subsets(n: usize, size: usize, mut visit: impl FnMut(&[usize])) {
    let mut subset: Vec<usize> = (0..size).collect();
    loop {
        visit(&subset);
        let Some(place) = (0..size).rev().find(|&place| subset[place] < n - size + place) else { return };
        subset[place] += 1;
        for later in place + 1..size {
            subset[later] = subset[later - 1] + 1;
        }
    }
}

/// Full enumeration; the first subset of least diameter in lexicographic order.
pub(crate) fn minimum_diameter_averaging(rows: &Rows, f: usize) -> Answer {
    let squared = squared_distances(rows);
    let mut best = (f64::INFINITY, Vec::new());
    subsets(rows.len(), rows.len() - f, |subset| {
        let pairs = subset.iter().flat_map(|&i| subset.iter().map(move |&j| (i, j)));
        let diameter = pairs.map(|(i, j)| squared[i][j]).fold(0.0, f64::max);
        if diameter < best.0 {
            best = (diameter, subset.to_vec());
        }
    });
    let others = squared.iter().flatten().filter(|value| **value != best.0);
    let margin = others.fold(f64::INFINITY, |margin, value| margin.min((value / best.0 - 1.0).abs()));
    Answer::mean_of(rows, best.1, if best.0 == 0.0 { f64::INFINITY } else { margin })
}

/// The n − f rows nearest to the trusted one.
pub(crate) fn monna(rows: &Rows, f: usize, trusted: usize) -> Answer {
    let squared = squared_distances(rows).swap_remove(trusted);
    let keep = rows.len() - f;
    Answer::mean_of(rows, ascending(&squared)[..keep].to_vec(), gap(rows, &squared, keep))
}

pub(crate) fn centered_clipping(rows: &Rows, start: &[f64], radius: f64, times: usize) -> Vec<f64> {
    let mut center = start.to_vec();
    for _ in 0..times {
        let mut step = vec![0.0; center.len()];
        for row in rows {
            let away = distance(row, &center);
            let factor = if away > radius { radius / away } else { 1.0 };
            for (step, (x, c)) in step.iter_mut().zip(row.iter().zip(&center)) {
                *step += factor * (x - c) / rows.len() as f64;
            }
        }
        center.iter_mut().zip(step).for_each(|(center, step)| *center += step);
    }
    center
}
