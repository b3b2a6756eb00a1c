//! Where a forgery may lie: unit directions away from the honest mean, and the spread that is the unit of length.

use super::super::{View, statistics};
use crate::{
    kernels::Scalar,
    matrix::{Matrix, dot},
    random::Stream,
    spectral::largest_eigenpair,
};

/// Principal components of the honest messages that are looked at.
const COMPONENTS: usize = 3;

pub(super) struct Directions {
    /// The honest mean.
    pub(super) mean: Vec<f64>,
    unit: Vec<Vec<f64>>,
    spread: f64,
    /// Whether the first direction is the mean's: a mean of zero has none.
    mean_leads: bool,
}

impl Directions {
    /// The mean, the deviations, the deviations with the signs of the mean and with signs drawn, the principal components,
    /// and what was best before.
    pub(super) fn of<T: Scalar>(view: &View<'_, T>, previous: &[T]) -> Directions {
        let (mut mean, mut deviation) = (Vec::new(), Vec::new());
        statistics::mean_and_deviation(view, 0, &mut mean, &mut deviation);
        let length = statistics::norm(&mean);
        let spread = [statistics::norm(&deviation), length, 1.0]
            .into_iter()
            .find(|&size| size > 0.0 && size.is_finite())
            .expect("one is such a size");
        let mut stream = Stream::new(view.seed, "worst_case signs", 0, view.round);
        let signed: Vec<f64> = deviation.iter().zip(&mean).map(|(d, m)| d * m.signum()).collect();
        let drawn: Vec<f64> = deviation.iter().map(|d| if stream.below(2) == 0 { *d } else { -*d }).collect();
        let before: Vec<f64> = previous.iter().map(|x| x.to_f64()).collect();
        let mut all = vec![mean.clone(), deviation, signed, drawn, before];
        all.extend(principal_components(view, &mean));
        let unit = all.into_iter().filter_map(|direction| normalized(direction, mean.len())).collect();
        Directions { mean, unit, spread, mean_leads: length > 0.0 && length.is_finite() }
    }

    pub(super) fn count(&self) -> usize {
        self.unit.len()
    }

    /// Adds the direction of one honest message, and gives that message's coefficients.
    pub(super) fn towards<T: Scalar>(&mut self, message: &[T]) -> Option<Vec<f64>> {
        let away: Vec<f64> = message.iter().zip(&self.mean).map(|(x, m)| x.to_f64() - m).collect();
        let length = statistics::norm(&away) / self.spread;
        self.unit.push(normalized(away, self.mean.len())?);
        Some((0..self.count()).map(|k| if k + 1 == self.count() { length } else { 0.0 }).collect())
    }

    /// Nothing, and the opposite of the mean: both may be many spreads away, and against a minority both win.
    pub(super) fn starts(&self) -> Vec<Vec<f64>> {
        if !self.mean_leads {
            return Vec::new();
        }
        let length = statistics::norm(&self.mean) / self.spread;
        let back =
            |times: f64| (0..self.count()).map(|k| if k == 0 { -times * length } else { 0.0 }).collect();
        vec![back(1.0), back(2.0)]
    }

    /// Σ cₖ·dₖ.
    pub(super) fn combine(&self, coefficients: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.mean.len()];
        for (direction, &c) in self.unit.iter().zip(coefficients).filter(|(_, c)| **c != 0.0) {
            sum.iter_mut().zip(direction).for_each(|(sum, d)| *sum += c * d);
        }
        sum
    }

    /// mean + spread · Σ cₖ·dₖ.
    pub(super) fn write<T: Scalar>(&self, coefficients: &[f64], to: &mut [T]) {
        let away = self.combine(coefficients);
        for ((to, mean), away) in to.iter_mut().zip(&self.mean).zip(away) {
            *to = T::from_f64(mean + self.spread * away);
        }
    }
}

/// The direction at length one, unless it has none.
fn normalized(mut direction: Vec<f64>, dimension: usize) -> Option<Vec<f64>> {
    let norm = statistics::norm(&direction);
    if direction.len() != dimension || norm == 0.0 || !norm.is_finite() {
        return None;
    }
    direction.iter_mut().for_each(|x| *x /= norm);
    Some(direction)
}

/// The directions in which the honest messages differ most, from their G×G products.
fn principal_components<T: Scalar>(view: &View<'_, T>, mean: &[f64]) -> Vec<Vec<f64>> {
    let count = view.honest.len();
    let centered: Vec<Vec<f64>> =
        (view.honest.iter()).map(|row| row.iter().zip(mean).map(|(x, m)| x.to_f64() - m).collect()).collect();
    let mut products = Matrix::zeros(count, count);
    for i in 0..count {
        for j in 0..=i {
            let product = dot(&centered[i], &centered[j]);
            (products[(i, j)], products[(j, i)]) = (product, product);
        }
    }
    if !products.as_slice().iter().all(|product| product.is_finite()) {
        return Vec::new();
    }
    let mut components = Vec::new();
    for _ in 0..COMPONENTS.min(count.saturating_sub(1)) {
        let (value, vector) = largest_eigenpair(&products);
        if value <= 0.0 {
            break;
        }
        let mut component = vec![0.0; mean.len()];
        for (row, weight) in centered.iter().zip(&vector) {
            component.iter_mut().zip(row).for_each(|(sum, x)| *sum += weight * x);
        }
        components.push(component);
        // What is left without this component.
        for i in 0..count {
            for j in 0..count {
                products[(i, j)] -= value * vector[i] * vector[j];
            }
        }
    }
    components
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attacks::testing::with_view;

    #[test]
    fn the_first_component_is_where_the_rows_differ_most() {
        let honest = [vec![1.0, 5.0, 3.0], vec![1.0, -5.0, 2.0], vec![1.0, 4.0, 3.0], vec![1.0, -4.0, 2.0]];
        with_view(&honest, |view| {
            let mut mean = Vec::new();
            statistics::mean(view, &mut mean);
            let first = normalized(principal_components(view, &mean).remove(0), 3).unwrap();
            assert!(first[1].abs() > 0.99 && first[0].abs() < 1e-12, "{first:?}");
        });
    }

    #[test]
    fn forgeries_are_measured_in_spreads() {
        // Mean (1, 0), spread 2.
        with_view(&[vec![1.0, 2.0], vec![1.0, -2.0]], |view| {
            let directions = Directions::of(view, &[]);
            let mut row = [0.0; 2];
            let mut coefficients = vec![0.0; directions.count()];
            coefficients[0] = -1.5;
            directions.write(&coefficients, &mut row);
            assert_eq!(row, [-2.0, 0.0]);
        });
    }
}
