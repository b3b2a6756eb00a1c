//! Squared distances between rows of a few numbers, where preparing the tiles of `distances` takes longer than the arithmetic.
//!
//! The rows stand side by side, column after column, so that neighbouring sums are neighbouring pairs and none is ever
//! added up across lanes. Differences and squares are f64 from the start: nothing overflows, vanishes or is looked at again.
//! Plain loops that compilers vectorise; no products are fused, so every form gives the same bits.

use super::{Kernels, Lanes, Scalar, dispatch};

/// Numbers of a row at most.
pub(crate) const LONGEST: usize = 32;

dispatch! {
    /// Writes all squared distances, row after row, of `points` points given column after column.
    squared_distances => squared_distances_lanes(columns: &[T], points: usize, squared: &mut [f64])
}

#[inline(always)]
fn squared_distances_lanes<L: Lanes>(columns: &[L::Scalar], points: usize, squared: &mut [f64]) {
    for (i, out) in squared.chunks_exact_mut(points.max(1)).enumerate() {
        let mut start = 0;
        while start < points {
            let out = &mut out[start..];
            start += match out.len() {
                16.. => from_one::<L::Scalar, 16>(columns, points, i, start, out),
                4.. => from_one::<L::Scalar, 4>(columns, points, i, start, out),
                _ => from_one::<L::Scalar, 1>(columns, points, i, start, out),
            };
        }
    }
}

/// From point `i` to so few others, from `start` on, that their sums stay in registers; returns how many.
#[inline(always)]
fn from_one<T: Scalar, const COUNT: usize>(
    columns: &[T],
    points: usize,
    i: usize,
    start: usize,
    out: &mut [f64],
) -> usize {
    let mut sums = [0.0; COUNT];
    for column in columns.chunks_exact(points) {
        let (own, others) = (column[i].to_f64(), &column[start..][..COUNT]);
        for k in 0..COUNT {
            let difference = own - others[k].to_f64();
            sums[k] += difference * difference;
        }
    }
    out[..COUNT].copy_from_slice(&sums);
    COUNT
}

#[cfg(test)]
mod tests {
    use super::{super::distances::plain, *};
    use crate::random::Stream;

    fn check<T: Scalar>() {
        for kernels in Kernels::available() {
            for (points, width) in [(0, 3), (1, 5), (2, 0), (3, 8), (5, 33), (20, 10), (23, 64)] {
                let mut stream = Stream::new(7, "test", points as u64, width as u64);
                let mut draw = || T::from_f64((stream.uniform() - 0.5) * 1e30);
                let rows: Vec<Vec<T>> = (0..points).map(|_| (0..width).map(|_| draw()).collect()).collect();
                let columns: Vec<T> = (0..width).flat_map(|k| rows.iter().map(move |row| row[k])).collect();
                let mut squared = vec![f64::NAN; points * points];
                squared_distances(kernels, &columns, points, &mut squared);
                for (at, &ours) in squared.iter().enumerate() {
                    assert_eq!(ours, plain(&rows, at / points, at % points));
                }
            }
        }
    }

    #[test]
    fn agrees_with_the_plain_sum_to_the_bit() {
        check::<f32>();
        check::<f64>();
    }
}
