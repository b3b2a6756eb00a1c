//! What estimates are made of: mean products over the honest workers, and how far their messages lie apart.

use crate::kernels::Scalar;

/// Mean products over the honest workers.
#[derive(Default)]
pub(super) struct Moments {
    pub(super) zeta: f64,
    pub(super) sigma: f64,
    pub(super) tracking: f64,
    /// (1/G) Σ ⟨gᵢ, hᵢ⟩.
    pub(super) gradient: f64,
    /// ‖A − m‖².
    pub(super) error: f64,
    pub(super) message_mean: Vec<f64>,
    pub(super) g_mean: Vec<f64>,
}

/// Of messages v, gradients g and h on two batches, and the aggregate.
pub(super) fn moments<T: Scalar>(v: &[&[T]], g: &[Vec<T>], h: &[Vec<T>], aggregate: &[T]) -> Moments {
    let count = v.len() as f64;
    let mut total = Moments::default();
    for k in 0..aggregate.len() {
        // About the first row, so that a common part costs no digits.
        let mean =
            |of: &dyn Fn(usize) -> f64| of(0) + (0..v.len()).map(|i| of(i) - of(0)).sum::<f64>() / count;
        let (v, g, h) =
            (|i: usize| v[i][k].to_f64(), |i: usize| g[i][k].to_f64(), |i: usize| h[i][k].to_f64());
        let (v_mean, g_mean, h_mean) = (mean(&v), mean(&g), mean(&h));
        for i in 0..count as usize {
            total.zeta += (g(i) - g_mean) * (h(i) - h_mean) / count;
            total.sigma += 0.5 * (g(i) - h(i)).powi(2) / count;
            total.tracking += (v(i) - g(i)) * (v(i) - h(i)) / count;
            total.gradient += g(i) * h(i) / count;
        }
        total.error += (aggregate[k].to_f64() - v_mean).powi(2);
        total.message_mean.push(v_mean);
        total.g_mean.push(g_mean);
    }
    total
}

/// How far the honest messages lie from their mean.
pub(super) struct Spread {
    pub(super) mean: f64,
    pub(super) mean_square: f64,
    pub(super) largest: f64,
}

impl Spread {
    pub(super) fn of<T: Scalar>(messages: &[&[T]], mean: &[f64]) -> Spread {
        let squared = |row: &&[T]| row.iter().zip(mean).map(|(x, m)| (x.to_f64() - m).powi(2)).sum::<f64>();
        let squares: Vec<f64> = messages.iter().map(squared).collect();
        let count = squares.len() as f64;
        Spread {
            mean: squares.iter().map(|x| x.sqrt()).sum::<f64>() / count,
            mean_square: squares.iter().sum::<f64>() / count,
            largest: squares.iter().fold(0.0f64, |largest, &x| largest.max(x)).sqrt(),
        }
    }
}
