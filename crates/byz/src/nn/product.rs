//! Matrix products on slices, by the `gemm` crate: it picks AVX2 or AVX-512 at run time and was measured best on these shapes.

use super::meter;
use crate::kernels::Scalar;

/// A matrix that borrows its numbers, in any order.
#[derive(Clone, Copy, Debug)]
pub struct View<'a, T> {
    data: &'a [T],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a, T> View<'a, T> {
    /// `data` row after row.
    pub fn new(data: &'a [T], rows: usize, columns: usize) -> View<'a, T> {
        View::with_stride(data, rows, columns, columns)
    }

    /// Rows that start `stride` numbers apart.
    ///
    /// # Panics
    /// If `data` is too short.
    pub fn with_stride(data: &'a [T], rows: usize, columns: usize, stride: usize) -> View<'a, T> {
        assert!(
            rows == 0 || data.len() >= (rows - 1) * stride + columns,
            "the matrix is longer than its data"
        );
        View { data, rows, columns, row_stride: stride, column_stride: 1 }
    }

    /// The transpose.
    pub fn t(self) -> View<'a, T> {
        View {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }
}

/// What becomes of the numbers that were in the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Into {
    /// They are replaced.
    Replace,
    /// The product is added to them.
    Add,
}

/// out = factor · a · b, or out + factor · a · b; `out` is row after row with rows `stride` apart.
///
/// # Panics
/// If the sizes do not fit.
pub fn multiply<T: Scalar>(
    factor: T,
    a: View<'_, T>,
    b: View<'_, T>,
    out: &mut [T],
    stride: usize,
    into: Into,
) {
    let (m, n, k) = (a.rows, b.columns, a.columns);
    assert_eq!(a.columns, b.rows, "the inner sizes must agree");
    assert!(m == 0 || n == 0 || (stride >= n && out.len() >= (m - 1) * stride + n), "no room for the result");
    // SAFETY: the three matrices lie inside their slices, as checked above and by `View::with_stride`, and `out` is
    // borrowed alone.
    meter::product(m, n, k, || unsafe {
        gemm::gemm(
            m,
            n,
            k,
            out.as_mut_ptr(),
            1,
            stride as isize,
            into == Into::Add,
            a.data.as_ptr(),
            a.column_stride as isize,
            a.row_stride as isize,
            b.data.as_ptr(),
            b.column_stride as isize,
            b.row_stride as isize,
            T::from_f64(1.0),
            factor,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiplies_any_orientation_and_adds() {
        let (a, b) = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0, 0.0, 2.0, 1.0, 0.0, 3.0]);
        let mut out = [0.0; 6];
        multiply(1.0, View::new(&a, 2, 3), View::new(&b, 3, 2), &mut out, 3, Into::Replace);
        assert_eq!(out, [5.0, 11.0, 0.0, 14.0, 23.0, 0.0]);
        multiply(2.0, View::new(&a, 2, 3), View::new(&b, 2, 3).t(), &mut out, 3, Into::Add);
        assert_eq!(out, [5.0 + 14.0, 11.0 + 20.0, 0.0, 14.0 + 32.0, 23.0 + 44.0, 0.0]);
    }
}
