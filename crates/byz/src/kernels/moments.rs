//! Mean and standard deviation per column, and where a row lies about the mean: what attacks look at.
//!
//! Plain loops that compilers vectorise; compiling them for AVX2 is worth a factor of two. No products are fused, so all
//! forms give the same bits.

use super::{Kernels, Lanes, Scalar, dispatch};

/// Columns whose sums stay in the first-level cache, and whose rows in the second; long enough runs of every row for the
/// processor to fetch ahead.
pub(crate) const BLOCK: usize = 2048;

dispatch! {
    /// Mean and standard deviation (√(Σ (x − mean)² / freedom)) of the columns from `start` on; `deviation` may be empty.
    /// Rows are summed as differences to the first one: equal rows give themselves, a common offset costs no digits.
    moments => moments_lanes(
        rows: &[&[T]], start: usize, freedom: f64, mean: &mut [f64], deviation: &mut [f64],
    )
}

#[inline(always)]
fn moments_lanes<L: Lanes>(
    rows: &[&[L::Scalar]],
    start: usize,
    freedom: f64,
    mean: &mut [f64],
    deviation: &mut [f64],
) {
    let mut deviations = deviation.chunks_mut(BLOCK);
    for (k, mean) in mean.chunks_mut(BLOCK).enumerate() {
        let columns = start + k * BLOCK..start + k * BLOCK + mean.len();
        let first = &rows[0][columns.clone()];
        mean.fill(0.0);
        for row in &rows[1..] {
            for ((sum, x), base) in mean.iter_mut().zip(&row[columns.clone()]).zip(first) {
                *sum += x.to_f64() - base.to_f64();
            }
        }
        for (mean, base) in mean.iter_mut().zip(first) {
            *mean = base.to_f64() + *mean / rows.len() as f64;
        }
        let Some(deviation) = deviations.next() else { continue };
        deviation.fill(0.0);
        for row in rows {
            for ((sum, x), mean) in deviation.iter_mut().zip(&row[columns.clone()]).zip(&*mean) {
                let difference = x.to_f64() - mean;
                *sum += difference * difference;
            }
        }
        for sum in deviation {
            *sum = (*sum / freedom).sqrt();
        }
    }
}

dispatch! {
    /// Σ (x − mean)² and Σ direction·(x − mean).
    offset => offset_lanes(row: &[T], mean: &[f64], direction: &[f64]) -> [f64; 2]
}

#[inline(always)]
fn offset_lanes<L: Lanes>(row: &[L::Scalar], mean: &[f64], direction: &[f64]) -> [f64; 2] {
    // Eight partial sums of each become vector registers; the shape is always the same.
    let (mut squares, mut products) = ([0.0; 8], [0.0; 8]);
    let (rows, rest) = row.as_chunks::<8>();
    let (means, mean_rest) = mean[..row.len()].as_chunks::<8>();
    let (directions, direction_rest) = direction[..row.len()].as_chunks::<8>();
    for ((row, mean), direction) in rows.iter().zip(means).zip(directions) {
        for lane in 0..8 {
            let difference = row[lane].to_f64() - mean[lane];
            squares[lane] += difference * difference;
            products[lane] += direction[lane] * difference;
        }
    }
    for lane in 0..rest.len() {
        let difference = rest[lane].to_f64() - mean_rest[lane];
        squares[lane] += difference * difference;
        products[lane] += direction_rest[lane] * difference;
    }
    [squares, products].map(|[a, b, c, d, e, f, g, h]| ((a + e) + (b + f)) + ((c + g) + (d + h)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    fn check<T: Scalar>() {
        for width in [1, 7, 64, BLOCK + 13] {
            let mut stream = Stream::new(5, "test", 0, width as u64);
            let mut row = || (0..width).map(|_| T::from_f64(1e3 + stream.normal())).collect();
            let data: Vec<Vec<T>> = (0..6).map(|_| row()).collect();
            let rows: Vec<&[T]> = data.iter().map(Vec::as_slice).collect();
            let results = Kernels::available().into_iter().map(|kernels| {
                let (mut mean, mut deviation) = (vec![0.0; width], vec![0.0; width]);
                moments(kernels, &rows, 0, 5.0, &mut mean, &mut deviation);
                let offset = offset(kernels, rows[3], &mean, &deviation);
                (mean, deviation, offset)
            });
            let results: Vec<_> = results.collect();
            assert!(results.iter().all(|result| *result == results[0]));
            let (mean, deviation, [squared, along]) = &results[0];
            let (mut squares, mut products) = (0.0, 0.0);
            for k in 0..width {
                let column = || data.iter().map(|row| row[k].to_f64());
                let plain = column().sum::<f64>() / 6.0;
                let variance = column().map(|x| (x - plain).powi(2)).sum::<f64>() / 5.0;
                assert!((mean[k] - plain).abs() < 1e-9 && (deviation[k] - variance.sqrt()).abs() < 1e-9);
                squares += (data[3][k].to_f64() - mean[k]).powi(2);
                products += deviation[k] * (data[3][k].to_f64() - mean[k]);
            }
            assert!((squares - squared).abs() < 1e-9 && (products - along).abs() < 1e-9);
        }
    }

    #[test]
    fn all_forms_agree_to_the_bit_and_with_the_definition() {
        check::<f32>();
        check::<f64>();
    }
}
