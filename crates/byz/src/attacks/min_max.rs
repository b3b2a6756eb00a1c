//! Min-Max: as far from the mean as possible without being farther from anyone than two honest workers are from
//! each other.
//!
//!   y = mean(honest) − γp, the largest γ with maxᵢ ‖y − xᵢ‖ ≤ maxᵢⱼ ‖xᵢ − xⱼ‖
//!
//! In closed form, with a, b and p of unit length as in `perturbation`: γ = minᵢ (−bᵢ + √(bᵢ² + Δ² − aᵢ)), Δ the
//! largest distance. Cost: one O(n²d) pass for Δ, O(nd) for the rest. `perturbation` = std by default.
//! Reference: Shejwalkar, Houmansadr: "Manipulating the Byzantine: optimizing model poisoning attacks and defenses
//! for federated learning", NDSS 2021.

use super::{
    Attack, View,
    perturbation::{Offset, PERTURBATION, Perturbation},
    statistics,
};
use crate::{
    engine::Engine,
    error::Result,
    kernels::Scalar,
    measure::{Points, pairs},
    messages::{Row, Rows},
    registry::{Entry, Properties},
    rows_mut::RowsMut,
};

struct MinMax(Perturbation);

pub(super) const fn entry<T: Scalar>() -> Entry<dyn Attack<T>> {
    Entry {
        name: "min_max",
        aliases: &[],
        summary: "as far from the mean as keeps every distance below the largest honest one",
        parameters: &[PERTURBATION],
        requirement: "acts on messages",
        reference: "Shejwalkar, Houmansadr, Manipulating the Byzantine, NDSS 2021",
        properties: Properties::NONE,
        build: |arguments| Ok(Box::new(MinMax(Perturbation::new(arguments)))),
    }
}

impl<T: Scalar> Attack<T> for MinMax {
    fn forge(&mut self, view: &View<'_, T>, out: RowsMut<'_, T>) -> Result<()> {
        if view.is_idle(&out) {
            return Ok(());
        }
        // Among honest workers that have diverged there is nothing to hide.
        let Some(squared) = squared_diameter(view) else { return Ok(()) };
        self.0.measure(view);
        let reach = |offset: &Offset| {
            let room = (squared - offset.squared).max(0.0);
            -offset.along + (offset.along * offset.along + room).sqrt()
        };
        self.0.send(self.0.offsets.iter().map(reach).fold(f64::INFINITY, f64::min), out);
        Ok(())
    }
}

/// maxᵢⱼ ‖xᵢ − xⱼ‖², or none if some value is not finite.
fn squared_diameter<T: Scalar>(view: &View<'_, T>) -> Option<f64> {
    let dimension = view.honest[0].len();
    // Below that, setting up the pass costs more than the pass.
    if dimension <= 32 {
        let squared = |(i, j): (usize, usize)| {
            statistics::sum(view.honest[i], [view.honest[j]], |x, [y]| (x - y) * (x - y))
        };
        return Some(pairs(view.honest.len()).map(squared).fold(0.0, f64::max));
    }
    let rows = Rows { rows: view.honest.iter().map(|row| Row::Slice(row)).collect(), dimension };
    let engine = Engine { progress: None, ..view.engine };
    let squared = Points::new(&rows, Vec::new(), engine).squared_distances()?;
    Some(squared.as_slice().iter().copied().fold(0.0, f64::max))
}

#[cfg(test)]
mod tests {
    use crate::attacks::testing::forge;

    #[test]
    fn touches_the_largest_honest_distance_and_not_more() {
        // Equal deviations along both axes; (−1, 1) and (1, −1) are √8 apart, and (1, 1) decides.
        let honest = [vec![-1.0, 1.0], vec![1.0, -1.0], vec![1.0, 1.0], vec![-1.0, -1.0]];
        let sent = forge("min_max", &honest, &[vec![0.0, 0.0]]);
        assert!((sent[0][0] + 1.0).abs() < 1e-14 && (sent[0][1] + 1.0).abs() < 1e-14, "{sent:?}");
    }

    #[test]
    fn every_distance_keeps_the_bound_and_one_reaches_it() {
        let honest: Vec<Vec<f64>> =
            (0..7).map(|i| (0..5).map(|k| ((3 * i + 5 * k * k) % 11) as f64 * 0.7).collect()).collect();
        let distance =
            |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        let largest = |from: &[f64]| honest.iter().map(|row| distance(from, row)).fold(0.0, f64::max);
        let diameter = honest.iter().map(|row| largest(row)).fold(0.0, f64::max);
        for perturbation in ["std", "unit", "sign"] {
            let sent = forge(&format!("min_max(perturbation={perturbation})"), &honest, &[vec![0.0; 5]]);
            assert!((largest(&sent[0]) / diameter - 1.0).abs() < 1e-12, "{perturbation}");
        }
    }
}
