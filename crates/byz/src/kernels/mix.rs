//! Many weighted combinations of rows at once: out = M · (X − reference), block by block.
//!
//! Mixing feeds coordinate-wise rules. It runs in the message's own type on differences from a central row, so
//! rounding is relative to the spread of the rows and not to a common offset. An overflow shows as a value that
//! is not finite; the caller redoes that block in f64.

use super::{Kernels, Lanes, Scalar, Scratch, dispatch};

dispatch! {
    /// Writes row − reference for every row of a block, zero-padded; without a reference the rows themselves.
    subtract => subtract_lanes(rows: &[&[T]], reference: Option<&[T]>, out: &mut Scratch<T>)
}

#[inline(always)]
fn subtract_lanes<L: Lanes>(
    rows: &[&[L::Scalar]],
    reference: Option<&[L::Scalar]>,
    out: &mut Scratch<L::Scalar>,
) {
    let Some(reference) = reference else {
        for (i, row) in rows.iter().enumerate() {
            let to = out.row_mut(i);
            to[..row.len()].copy_from_slice(row);
            to[row.len()..].fill(L::Scalar::default());
        }
        return;
    };
    for (i, row) in rows.iter().enumerate() {
        let to = out.row_mut(i);
        let width = row.len();
        assert!(reference.len() == width && to.len() >= width);
        let mut column = 0;
        while column + L::WIDTH <= width {
            // SAFETY: column + WIDTH ≤ width ≤ len of all three slices.
            unsafe {
                let from = row.as_ptr().add(column);
                // The same row's part of the next block.
                L::prefetch(from.wrapping_add(width));
                L::load(from).sub(L::load(reference.as_ptr().add(column))).store(to.as_mut_ptr().add(column));
            }
            column += L::WIDTH;
        }
        for k in column..width {
            to[k] = L::Scalar::from_f64(row[k].to_f64() - reference[k].to_f64());
        }
        to[width..].fill(L::Scalar::default());
    }
}

dispatch! {
    /// out[i] = Σⱼ matrix[i · columns + j] · rows[j] over `width` numbers, rounded up to whole vectors.
    mix => mix_lanes(matrix: &[T], rows: &Scratch<T>, count: usize, width: usize, out: &mut Scratch<T>)
}

#[inline(always)]
fn mix_lanes<L: Lanes>(
    matrix: &[L::Scalar],
    rows: &Scratch<L::Scalar>,
    count: usize,
    width: usize,
    out: &mut Scratch<L::Scalar>,
) {
    assert!(rows.stride() == out.stride() && width <= rows.stride());
    let mixed = matrix.len() / count.max(1);
    let mut i = 0;
    while i + 4 <= mixed {
        band::<L, 4>(matrix, rows, count, i, width, out);
        i += 4;
    }
    while i < mixed {
        band::<L, 1>(matrix, rows, count, i, width, out);
        i += 1;
    }
}

/// Rows i to i + A of the product, two vectors of columns at a time: 2·A accumulators stay in registers.
#[inline(always)]
fn band<L: Lanes, const A: usize>(
    matrix: &[L::Scalar],
    rows: &Scratch<L::Scalar>,
    count: usize,
    i: usize,
    width: usize,
    out: &mut Scratch<L::Scalar>,
) {
    let stride = rows.stride();
    let from = rows.as_slice();
    let to = out.as_mut_slice();
    assert!(from.len() >= count * stride && to.len() >= (i + A) * stride && matrix.len() >= (i + A) * count);
    let (from, to) = (from.as_ptr(), to.as_mut_ptr());
    // Strides are pairs of cache lines, so two vectors always fit.
    for column in (0..width).step_by(2 * L::WIDTH) {
        let mut sums = [[L::splat(L::Scalar::default()); 2]; A];
        for j in 0..count {
            // SAFETY: column + 2 · WIDTH ≤ stride, and `from` holds `count` rows.
            let x: [L; 2] =
                std::array::from_fn(|k| unsafe { L::load(from.add(j * stride + column + k * L::WIDTH)) });
            for a in 0..A {
                // SAFETY: `matrix` holds i + A rows of `count`.
                let weight = L::splat(unsafe { *matrix.get_unchecked((i + a) * count + j) });
                for k in 0..2 {
                    sums[a][k] = x[k].mul_add(weight, sums[a][k]);
                }
            }
        }
        for a in 0..A {
            for k in 0..2 {
                // SAFETY: column + 2 · WIDTH ≤ stride, and `to` holds i + A rows.
                unsafe { sums[a][k].store(to.add((i + a) * stride + column + k * L::WIDTH)) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn agrees_with_the_plain_product() {
        for kernels in Kernels::available() {
            for (mixed, count, width) in [(1, 1, 1), (4, 3, 9), (7, 20, 40), (20, 20, 64)] {
                let mut stream = Stream::new(1, "test", mixed, width as u64);
                let mixed = mixed as usize;
                let data: Vec<Vec<f32>> =
                    (0..count).map(|_| (0..width).map(|_| stream.uniform() as f32).collect()).collect();
                let matrix: Vec<f32> = (0..mixed * count).map(|_| stream.uniform() as f32).collect();
                let slices: Vec<&[f32]> = data.iter().map(Vec::as_slice).collect();
                let (mut rows, mut out) = (Scratch::new(count, width), Scratch::new(mixed, width));
                subtract(kernels, &slices, Some(slices[0]), &mut rows);
                mix(kernels, &matrix, &rows, count, width, &mut out);
                for i in 0..mixed {
                    for k in 0..width {
                        let exact: f32 =
                            (0..count).map(|j| matrix[i * count + j] * (data[j][k] - data[0][k])).sum();
                        assert!((out.row(i)[k] - exact).abs() < 1e-4);
                    }
                }
            }
        }
    }
}
