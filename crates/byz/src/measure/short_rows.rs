//! The distances of rows so short that preparing a pass would take longer than the pass.

use super::Points;
use crate::{
    kernels::{Scalar, short, stream},
    matrix::Matrix,
};

impl<T: Scalar> Points<'_, T> {
    /// All squared distances of rows of up to [`short::LONGEST`] numbers, or none if some value is inadmissible.
    pub(super) fn short_squared_distances(&self) -> Option<Matrix> {
        let (points, dimension) = (self.count(), self.rows.dimension);
        let kernels = self.engine.kernels.for_width(dimension);
        let mut columns: Vec<T> = std::iter::repeat_n(T::default(), points * dimension).collect();
        let mut buffer = [T::default(); short::LONGEST];
        for i in 0..points {
            let row = self.columns(i, 0..dimension, &mut buffer);
            row.iter().enumerate().for_each(|(k, &value)| columns[k * points + i] = value);
        }
        self.rows.release(0..dimension);
        self.engine.progress.iter().for_each(|progress| progress(dimension));
        if !stream::is_clean(kernels, &columns) {
            return None;
        }
        let mut squared = Matrix::zeros(points, points);
        short::squared_distances(kernels, &columns, points, squared.as_mut_slice());
        Some(squared)
    }
}
