//! Matrix products on slices: by a kernel of our own where the processor has wide vectors, else, and for the columns that do not fill one,
//! by the `gemm` crate (docs/decisions/0012).

use super::meter;
use crate::kernels::{Kernels, Scalar, product, transpose};
use std::{any::Any, cell::RefCell};

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
            product::lies_inside(data.len(), (rows, stride), (columns, 1)),
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

    /// All columns but the first few.
    fn without_columns(self, first: usize) -> View<'a, T> {
        View {
            data: &self.data[(first * self.column_stride).min(self.data.len())..],
            columns: self.columns - first,
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
    let room = m <= 1 || n == 0 || stride >= n;
    assert!(room && product::lies_inside(out.len(), (m, stride), (n, 1)), "no room for the result");
    meter::product(m, n, k, || {
        let small = m >= FEWEST_ROWS && m * k <= MOST_NUMBERS && k * n <= MOST_NUMBERS;
        let done = if small { quickly(factor, a, b, out, stride, into) } else { 0 };
        if done < n {
            by_library(factor, a, b.without_columns(done), &mut out[done..], stride, into);
        }
    });
}

/// A product of fewer rows has too little to keep in registers.
const FEWEST_ROWS: usize = 4;
/// Larger factors do not stay in the second-level cache unless they are repacked.
const MOST_NUMBERS: usize = 1 << 17;

/// The product by the kernel of our own, where it is faster; gives how many columns are done.
fn quickly<T: Scalar>(
    factor: T,
    a: View<'_, T>,
    b: View<'_, T>,
    out: &mut [T],
    stride: usize,
    into: Into,
) -> usize {
    let kernels = Kernels::detect();
    if kernels == Kernels::Scalar || a.columns == 0 || b.columns < kernels.width::<T>() {
        return 0;
    }
    let times = |right: (&[T], usize), out: &mut [T]| {
        let left = (a.data, a.row_stride, a.column_stride);
        let factors = product::Factors { left, right, sizes: [a.rows, b.columns, a.columns], factor };
        product::multiply(kernels, factors, out, stride, into == Into::Add)
    };
    if b.column_stride == 1 {
        return times((b.data, b.row_stride), out);
    }
    debug_assert_eq!(b.row_stride, 1, "a view lies by rows or by columns");
    with_scratch(b.rows * b.columns, |packed| {
        transpose::transpose(kernels, b.data, b.columns, b.column_stride, packed);
        times((packed, b.columns), out)
    })
}

/// Works with a buffer of this thread.
fn with_scratch<T: Scalar, R>(length: usize, work: impl FnOnce(&mut [T]) -> R) -> R {
    thread_local! { static SCRATCH: RefCell<Box<dyn Any>> = RefCell::new(Box::new(())); }
    SCRATCH.with_borrow_mut(|scratch| {
        if !scratch.is::<Vec<T>>() {
            *scratch = Box::new(Vec::<T>::new());
        }
        let Some(buffer) = scratch.downcast_mut::<Vec<T>>() else { unreachable!("it was just made one") };
        if buffer.len() < length {
            buffer.resize(length, T::default());
        }
        work(&mut buffer[..length])
    })
}

/// The product by the `gemm` crate.
fn by_library<T: Scalar>(
    factor: T,
    a: View<'_, T>,
    b: View<'_, T>,
    out: &mut [T],
    stride: usize,
    into: Into,
) {
    let (m, n, k) = (a.rows, b.columns, a.columns);
    // SAFETY: the three matrices lie inside their slices, as checked by `multiply` and `View::with_stride`, and `out` is
    // borrowed alone.
    unsafe {
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
    }
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
    /// Whole numbers, which no order of summation rounds.
    #[test]
    fn gives_what_the_library_gives_for_every_orientation() {
        let numbers =
            |count: usize, by: usize| -> Vec<f32> { (0..count).map(|i| (i * by % 7) as f32 - 3.0).collect() };
        for (m, n, k) in [
            (64, 128, 784),
            (128, 64, 784),
            (10, 64, 64),
            (64, 10, 64),
            (5, 33, 9),
            (3, 40, 4),
            (400, 400, 8),
            (20, 40, 1),
        ] {
            let (left, right) = (numbers(m * k, 3), numbers(k * n, 5));
            for a in [View::new(&left, m, k), View::new(&left, k, m).t()] {
                for b in [View::new(&right, k, n), View::new(&right, n, k).t()] {
                    for into in [Into::Replace, Into::Add] {
                        let (mut ours, mut theirs) = (numbers(m * (n + 1), 2), numbers(m * (n + 1), 2));
                        multiply(2.0, a, b, &mut ours, n + 1, into);
                        by_library(2.0, a, b, &mut theirs, n + 1, into);
                        assert!(ours == theirs, "{m}×{n}×{k} {into:?}");
                    }
                }
            }
        }
    }
}
