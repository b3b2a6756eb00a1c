//! A second look at distances that rounding cannot tell apart.
//!
//! Which messages are nearest to one is decided by comparing its distances. In f32 those of a row that lies far out differ by less than
//! they are rounded by, and so do those that are equal, as among messages of signs: there the lowest index is to win, not the
//! kernel's way of adding up.

use super::{Points, pairs};
use crate::{kernels::Scalar, matrix::Matrix};
use std::sync::atomic::Ordering;

/// Equal distances come out so many times the resolution apart; a wider net would catch what is no tie and cost time.
const DOUBT: f64 = 2.0;

impl<T: Scalar> Points<'_, T> {
    /// Measures in f64 what differs from another distance of the same message by no more than rounding.
    pub(super) fn sharpen(&self, squared: &mut Matrix, width: usize) {
        // Differences of f64 are as good as they get.
        if T::SQUARES_MAY_OVERFLOW {
            return;
        }
        let doubtful = doubtful(squared, self.rows.count(), DOUBT * T::RESOLUTION);
        if doubtful.is_empty() {
            return;
        }
        self.extra_passes.fetch_add(1, Ordering::Relaxed);
        // Liars who send one vector are common: it is measured once.
        let originals: Vec<(usize, usize)> = doubtful.iter().map(|&pair| originals(squared, pair)).collect();
        let mut distinct = originals.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let workspace = || (vec![T::default(); width], vec![T::default(); width]);
        let partial =
            self.engine.chunks(self.rows.dimension, distinct.len(), workspace, |chunk, (left, right)| {
                let exact =
                    |&(i, j): &(usize, usize)| self.exact_pair(i, j, chunk.clone(), width, left, right);
                let sums: Vec<f64> = distinct.iter().map(exact).collect();
                self.rows.release(chunk);
                sums
            });
        for (&(i, j), original) in doubtful.iter().zip(&originals) {
            let k = distinct.binary_search(original).expect("every pair has its original");
            squared[(i, j)] = partial.iter().map(|sums| sums[k]).sum();
            squared[(j, i)] = squared[(i, j)];
        }
    }
}

/// The first messages at the two places, in order.
fn originals(squared: &Matrix, (i, j): (usize, usize)) -> (usize, usize) {
    let first = |of: usize| (0..of).find(|&other| squared[(other, of)] == 0.0).unwrap_or(of);
    let (i, j) = (first(i), first(j));
    (i.min(j), i.max(j))
}

/// The pairs i < j of which i or j has another message as far away, within `doubt`. Copies of one message are, whoever measures, and to a
/// row that lies far out all are.
fn doubtful(squared: &Matrix, messages: usize, doubt: f64) -> Vec<(usize, usize)> {
    let mut distances = Vec::with_capacity(messages);
    let mut reach = |i: usize| {
        distances.clear();
        distances.extend_from_slice(&squared.row(i)[..messages]);
        *distances.select_nth_unstable_by(messages / 2, f64::total_cmp).1
    };
    let reaches: Vec<f64> = (0..messages).map(&mut reach).collect();
    let typical = reaches.iter().copied().fold(f64::INFINITY, f64::min);
    // Beyond, f64 would not tell either, and nothing is gained.
    let beyond = 1e26 * typical;
    let mut marked = vec![false; messages * messages];
    let mut order = Vec::with_capacity(messages);
    for i in (0..messages).filter(|&i| reaches[i] < beyond) {
        let (row, doubt) = (squared.row(i), if reaches[i] < 1e8 * typical { doubt } else { 1.0 });
        order.clear();
        order.extend((0..messages).filter(|&j| j != i && row[j] < beyond));
        order.sort_unstable_by(|&a, &b| row[a].total_cmp(&row[b]).then(a.cmp(&b)));
        let alike = |&near: &usize, &far: &usize| row[far] - row[near] <= doubt * row[far];
        // One copy is as far away as the other: all of a group are measured again, or none.
        for group in order.chunk_by(alike).filter(|group| !are_copies(squared, group)) {
            group.iter().for_each(|&j| marked[i.min(j) * messages + i.max(j)] = true);
        }
    }
    pairs(messages).filter(|&(i, j)| marked[i * messages + j]).collect()
}

fn are_copies(squared: &Matrix, group: &[usize]) -> bool {
    group.windows(2).all(|two| squared[(two[0], two[1])] == 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points on a line at 0, 1, 2, 2, and far away.
    #[test]
    fn distances_are_doubtful_where_another_is_as_long() {
        let places = [0.0, 1.0, 2.0, 2.0, 1e9f64];
        let squared = places.iter().flat_map(|a| places.iter().map(move |b| (a - b) * (a - b)));
        let squared = Matrix::from_data(5, 5, squared.collect());
        // 1 is as far from 0 as from the two at 2; from far away all look alike.
        assert_eq!(doubtful(&squared, 5, 1e-7), [(0, 1), (0, 4), (1, 2), (1, 3), (1, 4), (2, 4), (3, 4)]);
        assert!(doubtful(&Matrix::zeros(5, 5), 5, 1e-7).is_empty());
    }

    #[test]
    fn copies_are_measured_once() {
        let places = [0.0, 1.0, 2.0, 2.0, 0.0f64];
        let squared = places.iter().flat_map(|a| places.iter().map(move |b| (a - b) * (a - b)));
        let squared = Matrix::from_data(5, 5, squared.collect());
        assert_eq!(originals(&squared, (3, 4)), (0, 2));
        assert_eq!(originals(&squared, (1, 3)), (1, 2));
    }
}
