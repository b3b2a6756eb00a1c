//! A geometry of materialised rows, for looking at mixing matrices without the library's passes.

use super::{Rows, vectors};
use byz::{Geometry, Matrix, geometry::Source};
use vectors::{dot, minus};

/// Rows as the data behind a geometry.
pub(crate) struct Materialised(pub(crate) Rows);

impl Materialised {
    pub(crate) fn geometry(&self) -> Geometry<'_> {
        let identity = Matrix::identity(self.0.len());
        Geometry::new(self.distances(&identity), self.0.len(), Vec::new(), self)
    }

    fn combined(&self, combinations: &Matrix) -> Rows {
        let one = |i: usize| {
            let mut out = vec![0.0; self.0[0].len()];
            for (row, &weight) in self.0.iter().zip(combinations.row(i)).filter(|(_, w)| **w != 0.0) {
                out.iter_mut().zip(row).for_each(|(out, x)| *out += weight * x);
            }
            out
        };
        (0..combinations.rows()).map(one).collect()
    }
}

fn all_pairs(rows: &Rows, value: impl Fn(&[f64], &[f64]) -> f64) -> Matrix {
    let data = rows.iter().flat_map(|a| rows.iter().map(|b| value(a, b)).collect::<Vec<_>>()).collect();
    Matrix::from_data(rows.len(), rows.len(), data)
}

fn squared(a: &[f64], b: &[f64]) -> f64 {
    let difference = minus(a, b);
    dot(&difference, &difference)
}

impl Source for Materialised {
    fn distances(&self, combinations: &Matrix) -> Matrix {
        all_pairs(&self.combined(combinations), squared)
    }
    fn inner_products(&self, combinations: &Matrix) -> Matrix {
        all_pairs(&self.combined(combinations), dot)
    }
    fn distances_on(&self, coordinates: &[usize]) -> Matrix {
        let seen = self.0.iter().map(|row| coordinates.iter().map(|&k| row[k]).collect()).collect();
        all_pairs(&seen, squared)
    }
    fn dimension(&self) -> usize {
        self.0[0].len()
    }
    fn resolution(&self) -> f64 {
        4e-16
    }
    fn planning_error(&self) -> f64 {
        1e-9
    }
}
