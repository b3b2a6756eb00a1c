//! A second look at rows that lie far out.

use super::{Points, pairs};
use crate::{kernels::Scalar, matrix::Matrix};
use std::sync::atomic::Ordering;

impl<T: Scalar> Points<'_, T> {
    /// Measures again, in f64, how far each row that lies far out is from the others: rounded differences do not tell it which
    /// of them are nearest. Where f64 would not either, nothing is gained.
    pub(super) fn sharpen(&self, squared: &mut Matrix, width: usize) {
        let messages = self.rows.count();
        let positive = pairs(messages).map(|(i, j)| squared[(i, j)]).filter(|&value| value > 0.0);
        let (least, most) =
            positive.fold((f64::INFINITY, 0.0f64), |(a, b), value| (a.min(value), b.max(value)));
        // Differences of f64 are as good as they get.
        if T::SQUARES_MAY_OVERFLOW || most < 1e8 * least {
            return;
        }
        let reach = |i: usize| {
            let mut row: Vec<f64> = squared.row(i)[..messages].to_vec();
            *row.select_nth_unstable_by(messages / 2, f64::total_cmp).1
        };
        let reaches: Vec<f64> = (0..messages).map(reach).collect();
        let typical = reaches.iter().copied().fold(f64::INFINITY, f64::min);
        let far: Vec<bool> =
            reaches.iter().map(|reach| (1e8 * typical..1e26 * typical).contains(reach)).collect();
        let doubtful: Vec<(usize, usize)> = pairs(messages).filter(|&(i, j)| far[i] || far[j]).collect();
        if doubtful.is_empty() || typical == 0.0 {
            return;
        }
        self.extra_passes.fetch_add(1, Ordering::Relaxed);
        let workspace = || (vec![T::default(); width], vec![T::default(); width]);
        let partial =
            self.engine.chunks(self.rows.dimension, doubtful.len(), workspace, |chunk, (left, right)| {
                let exact =
                    |&(i, j): &(usize, usize)| self.exact_pair(i, j, chunk.clone(), width, left, right);
                let sums: Vec<f64> = doubtful.iter().map(exact).collect();
                self.rows.release(chunk);
                sums
            });
        for (k, &(i, j)) in doubtful.iter().enumerate() {
            squared[(i, j)] = partial.iter().map(|sums| sums[k]).sum();
            squared[(j, i)] = squared[(i, j)];
        }
    }
}
