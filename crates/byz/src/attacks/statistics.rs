//! What colluders compute of the honest rows: mean and standard deviation per coordinate, sums over coordinates.
//!
//! All in f64.

use super::View;
use crate::{
    engine::Engine,
    kernels::{Scalar, moments::moments},
    rows_mut::RowsMut,
};

/// Columns that one thread takes at a time.
const PART: usize = 1 << 14;

/// The mean of the honest rows.
pub(super) fn mean<T: Scalar>(view: &View<'_, T>, mean: &mut Vec<f64>) {
    measure(view, 0, mean, &mut []);
}

/// The mean of the honest rows and their standard deviation with n − ddof in the denominator; one row alone deviates
/// by zero.
pub(super) fn mean_and_deviation<T: Scalar>(
    view: &View<'_, T>,
    ddof: usize,
    mean: &mut Vec<f64>,
    deviation: &mut Vec<f64>,
) {
    deviation.resize(dimension(view), 0.0);
    measure(view, ddof, mean, deviation);
}

fn dimension<T>(view: &View<'_, T>) -> usize {
    view.honest.first().map_or(0, |row| row.len())
}

fn measure<T: Scalar>(view: &View<'_, T>, ddof: usize, mean: &mut Vec<f64>, deviation: &mut [f64]) {
    let (rows, dimension) = (view.honest, dimension(view));
    mean.resize(dimension, 0.0);
    let freedom = rows.len().saturating_sub(ddof).max(1) as f64;
    if dimension <= PART || view.engine.threads <= 1 {
        return moments(view.engine.kernels, rows, 0, freedom, mean, deviation);
    }
    let mut deviations = deviation.chunks_mut(PART);
    let jobs = mean
        .chunks_mut(PART)
        .enumerate()
        .map(|(k, mean)| (k * PART..k * PART + mean.len(), (mean, deviations.next().unwrap_or_default())));
    // Columns do not mix, so no bit depends on the parts.
    let engine = Engine { progress: None, ..view.engine };
    engine.run(
        jobs.collect(),
        || (),
        |columns, (mean, deviation), ()| {
            moments(engine.kernels, rows, columns.start, freedom, mean, deviation)
        },
    );
}

/// Σ term(x, others) over the coordinates, in eight partial sums that become vector registers; always the same shape.
pub(super) fn sum<T: Scalar, U: Scalar, const K: usize>(
    x: &[T],
    others: [&[U]; K],
    term: impl Fn(f64, [f64; K]) -> f64,
) -> f64 {
    let mut sums = [0.0; 8];
    let (blocks, rest) = x.as_chunks::<8>();
    let others = others.map(|other| other[..x.len()].as_chunks::<8>());
    for (k, block) in blocks.iter().enumerate() {
        let others = others.map(|(blocks, _)| blocks[k]);
        for lane in 0..8 {
            sums[lane] += term(block[lane].to_f64(), others.map(|other| other[lane].to_f64()));
        }
    }
    for (lane, x) in rest.iter().enumerate() {
        sums[lane] += term(x.to_f64(), others.map(|(_, rest)| rest[lane].to_f64()));
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + e) + (b + f)) + ((c + g) + (d + h))
}

/// ‖x‖.
pub(super) fn norm(x: &[f64]) -> f64 {
    sum::<f64, f64, 0>(x, [], |x, []| x * x).sqrt()
}

/// Φ⁻¹: the number that a normal variable stays below with this probability, strictly between 0 and 1.
pub(super) fn normal_quantile(probability: f64) -> f64 {
    if probability < 0.5 {
        return -normal_quantile(1.0 - probability);
    }
    // Φ is concave above zero, so Newton's steps from zero never overshoot; rounding ends them.
    let mut x = 0.0;
    loop {
        let (density, below) = normal(x);
        let next = x + (probability - below) / density;
        if next <= x + 1e-15 * x {
            return x;
        }
        x = next;
    }
}

/// φ(x) and Φ(x) = ½ + φ(x) (x + x³/3 + x⁵/15 + …) for x ≥ 0.
fn normal(x: f64) -> (f64, f64) {
    let density = (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
    let (mut term, mut sum, mut odd) = (x, 0.0, 1.0);
    while term > 1e-17 * sum {
        sum += term;
        odd += 2.0;
        term *= x * x / odd;
    }
    (density, 0.5 + density * sum)
}

/// Every Byzantine worker sends `factor` times the mean.
pub(super) fn send_multiple<T: Scalar>(factor: f64, mean: &[f64], mut out: RowsMut<'_, T>) {
    for (to, mean) in out.row_mut(0).iter_mut().zip(mean) {
        *to = T::from_f64(factor * mean);
    }
    out.repeat_first();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attacks::testing::with_view;

    #[test]
    fn mean_and_deviation_of_three_rows() {
        let rows = [vec![1.0, -2.0], vec![2.0, -2.0], vec![6.0, -2.0]];
        let (mut mean_of, mut deviation) = (Vec::new(), Vec::new());
        with_view(&rows, |view| mean_and_deviation(view, 1, &mut mean_of, &mut deviation));
        assert_eq!(
            (mean_of.as_slice(), deviation.as_slice()),
            ([3.0, -2.0].as_slice(), [7f64.sqrt(), 0.0].as_slice())
        );
        with_view(&rows, |view| mean_and_deviation(view, 0, &mut mean_of, &mut deviation));
        assert_eq!(deviation, [(14f64 / 3.0).sqrt(), 0.0]);
    }

    #[test]
    fn a_large_offset_costs_no_digits() {
        let rows = [vec![1e9 + 1.0], vec![1e9 + 2.0], vec![1e9 + 3.0]];
        let (mut mean_of, mut deviation) = (Vec::new(), Vec::new());
        with_view(&rows, |view| mean_and_deviation(view, 1, &mut mean_of, &mut deviation));
        assert_eq!((mean_of[0], deviation[0]), (1e9 + 2.0, 1.0));
    }

    #[test]
    fn threads_change_no_bit() {
        let row = |i: usize| (0..3 * PART + 7).map(|k| ((i + 3) * (k % 101)) as f32 / 7.0).collect();
        let rows: Vec<Vec<f32>> = (0..5).map(row).collect();
        let [mut one, mut two] = [(Vec::new(), Vec::new()), (Vec::new(), Vec::new())];
        with_view(&rows, |view| mean_and_deviation(view, 1, &mut one.0, &mut one.1));
        with_view(&rows, |view| {
            let engine = Engine { threads: 2, ..view.engine };
            mean_and_deviation(&View { engine, ..*view }, 1, &mut two.0, &mut two.1);
        });
        assert_eq!(one, two);
    }

    #[test]
    fn sums_whole_blocks_and_the_rest() {
        let x: Vec<f32> = (0..19).map(|k| k as f32).collect();
        assert_eq!(sum(&x, [&[2.0f64; 19]], |x, [two]| two * x), 342.0);
    }

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (probability, quantile) in
            [(0.5, 0.0), (0.975, 1.959963984540054), (0.1, -1.2815515655446004), (0.999, 3.090232306167813)]
        {
            assert!((normal_quantile(probability) - quantile).abs() < 1e-12, "{probability}");
        }
        assert!(normal_quantile(1.0 - 1e-12) > 7.0);
    }
}
