//! The slow and exact second looks: points are combined in f64 before they are measured.

use super::{Points, pairs};
use crate::{
    geometry::Source,
    kernels::{Scalar, combine::add as add_to},
    matrix::{Matrix, dot},
};
use std::sync::atomic::Ordering;

impl<T: Scalar> Points<'_, T> {
    /// Runs `add` over every block of the combined points, in f64, and adds up what it makes.
    fn over_combinations(
        &self,
        combinations: &Matrix,
        add: impl Fn(&[f64], usize, &mut [f64]) + Sync,
    ) -> Matrix {
        let (mixed, points) = (combinations.rows(), self.count());
        self.extra_passes.fetch_add(1, Ordering::Relaxed);
        const WIDTH: usize = 64;
        let workspace = || (vec![T::default(); WIDTH], vec![0.0; points * WIDTH], vec![0.0; mixed * WIDTH]);
        let partial = self.engine.chunks(
            self.rows.dimension,
            mixed * mixed,
            workspace,
            |chunk, (buffer, wide, combined)| {
                let mut sums = vec![0.0; mixed * mixed];
                for start in chunk.clone().step_by(WIDTH) {
                    let columns = start..chunk.end.min(start + WIDTH);
                    let width = columns.len();
                    for i in 0..points {
                        T::widen(self.columns(i, columns.clone(), buffer), &mut wide[i * WIDTH..][..width]);
                    }
                    combined.fill(0.0);
                    for (m, out) in combined.chunks_exact_mut(WIDTH).enumerate() {
                        // Liars of 1e22 and −1e22 in one bucket leave the rest as it is.
                        let mut sums = [(0.0, 0.0); WIDTH];
                        for (i, &weight) in combinations.row(m).iter().enumerate().filter(|(_, w)| **w != 0.0)
                        {
                            let values = wide[i * WIDTH..][..width].iter();
                            sums.iter_mut().zip(values).for_each(|(sum, value)| add_to(sum, weight * value));
                        }
                        out.iter_mut().zip(sums).take(width).for_each(|(out, (sum, lost))| *out = sum + lost);
                    }
                    add(combined, WIDTH, &mut sums);
                }
                self.rows.release(chunk);
                sums
            },
        );
        symmetric(mixed, add_up(mixed, partial))
    }
}

impl<T: Scalar> Source for Points<'_, T> {
    fn distances(&self, combinations: &Matrix) -> Matrix {
        let count = combinations.rows();
        self.over_combinations(combinations, |rows, width, sums| {
            for (i, j) in pairs(count) {
                let (a, b) = (&rows[i * width..][..width], &rows[j * width..][..width]);
                sums[i * count + j] += a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
            }
        })
    }

    fn inner_products(&self, combinations: &Matrix) -> Matrix {
        let count = combinations.rows();
        self.over_combinations(combinations, |rows, width, sums| {
            for i in 0..count {
                for j in i..count {
                    sums[i * count + j] += dot(&rows[i * width..][..width], &rows[j * width..][..width]);
                }
            }
        })
    }

    fn distances_on(&self, coordinates: &[usize]) -> Matrix {
        let (count, values) = (self.count(), self.gather(coordinates));
        let mut squared = vec![0.0; count * count];
        for (i, j) in pairs(count) {
            let (a, b) = (values.row(i).iter(), values.row(j));
            squared[i * count + j] = a.zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
        }
        symmetric(count, squared)
    }

    fn dimension(&self) -> usize {
        self.rows.dimension
    }

    fn resolution(&self) -> f64 {
        T::RESOLUTION
    }

    fn planning_error(&self) -> f64 {
        T::PLANNING_ERROR
    }
}

/// Adds partial results in chunk order.
fn add_up(size: usize, partial: Vec<Vec<f64>>) -> Vec<f64> {
    let mut partial = partial.into_iter();
    let mut total = partial.next().unwrap_or_else(|| vec![0.0; size * size]);
    for part in partial {
        total.iter_mut().zip(part).for_each(|(total, part)| *total += part);
    }
    total
}

/// Copies the upper triangle to the lower one.
fn symmetric(size: usize, mut data: Vec<f64>) -> Matrix {
    for (i, j) in pairs(size) {
        data[j * size + i] = data[i * size + j];
    }
    Matrix::from_data(size, size, data)
}
