//! The transpose of a matrix, written out: what `product` needs of a factor whose rows do not lie in one piece.

use super::{Kernels, Lanes, Scalar, dispatch, product::lies_inside};

dispatch! {
    narrow
    /// Writes the columns of `rows` rows, `stride` apart, one after another as rows of `out`.
    transpose => transpose_lanes(from: &[T], rows: usize, stride: usize, out: &mut [T])
}

#[inline(always)]
fn transpose_lanes<L: Lanes>(from: &[L::Scalar], rows: usize, stride: usize, out: &mut [L::Scalar]) {
    if rows == 0 || out.is_empty() {
        return;
    }
    let columns = out.len() / rows;
    assert!(lies_inside(from.len(), (rows, stride), (columns, 1)), "the matrix is longer than its data");
    let whole = |count: usize| count - count % L::WIDTH;
    for column in (0..whole(columns)).step_by(L::WIDTH) {
        for row in (0..whole(rows)).step_by(L::WIDTH) {
            let (from, to) = (&from[row * stride + column..], &mut out[column * rows + row..]);
            // SAFETY: WIDTH more rows and columns are there, in both.
            unsafe { L::transpose(from.as_ptr(), stride, to.as_mut_ptr(), rows) };
        }
    }
    for column in 0..columns {
        let first = if column < whole(columns) { whole(rows) } else { 0 };
        for row in first..rows {
            out[column * rows + row] = from[row * stride + column];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agrees_with_the_definition<T: Scalar + PartialEq>() {
        for kernels in Kernels::available() {
            for (rows, columns, stride) in
                [(0, 3, 3), (1, 1, 4), (1, 20, 3), (8, 8, 8), (7, 9, 11), (16, 40, 40), (65, 50, 53)]
            {
                let from: Vec<T> =
                    (0..rows * stride + columns).map(|value| T::from_f64(value as f64)).collect();
                let mut out = vec![T::default(); rows * columns];
                transpose(kernels, &from, rows, stride, &mut out);
                for (place, found) in out.into_iter().enumerate() {
                    assert!(
                        found == from[place % rows * stride + place / rows],
                        "{rows}×{columns} at {place}"
                    );
                }
            }
        }
    }

    #[test]
    fn agrees_with_the_definition_in_both_types() {
        agrees_with_the_definition::<f32>();
        agrees_with_the_definition::<f64>();
    }
}
