//! Min-Sum: as far from the mean as the sum of squared distances to the honest workers allows.
//!
//!   y = mean(honest) − γp, the largest γ with Σᵢ ‖y − xᵢ‖² ≤ bound over i of Σⱼ ‖xᵢ − xⱼ‖²
//!
//! Both sums are n times a squared distance to the mean plus the same constant, so γ (p of unit length, see
//! `perturbation`) is simply the distance from the mean to the farthest honest row (`bound` = max, the paper's text
//! and the default) or to the nearest one (min, its released notebooks). Cost: O(nd), no pairwise distances.
//! `perturbation` = std by default.
//! Reference: Shejwalkar, Houmansadr: "Manipulating the Byzantine: optimizing model poisoning attacks and defenses
//! for federated learning", NDSS 2021.

use super::{
    Attack, View,
    perturbation::{PERTURBATION, Perturbation},
};
use crate::{
    error::Result,
    kernels::Scalar,
    registry::{Entry, Kind, Parameter, Properties},
    rows_mut::RowsMut,
};

struct MinSum {
    perturbation: Perturbation,
    nearest: bool,
}

pub(super) const fn entry<T: Scalar>() -> Entry<dyn Attack<T>> {
    Entry {
        name: "min_sum",
        aliases: &[],
        summary: "as far from the mean as keeps the sum of squared distances within an honest one",
        parameters: &[
            PERTURBATION,
            Parameter {
                name: "bound",
                default: "max",
                summary: "whose sum is the bound: the largest honest one, or the smallest",
                kind: Kind::Choice(&["max", "min"]),
            },
        ],
        requirement: "acts on messages",
        reference: "Shejwalkar, Houmansadr, Manipulating the Byzantine, NDSS 2021",
        properties: Properties::NONE,
        build: |arguments| {
            let nearest = arguments.choice("bound") == Some("min");
            Ok(Box::new(MinSum { perturbation: Perturbation::new(arguments), nearest }))
        },
    }
}

impl<T: Scalar> Attack<T> for MinSum {
    fn forge(&mut self, view: &View<'_, T>, out: RowsMut<'_, T>) -> Result<()> {
        if view.is_idle(&out) {
            return Ok(());
        }
        self.perturbation.measure(view);
        let squared = self.perturbation.offsets.iter().map(|offset| offset.squared);
        let bound =
            if self.nearest { squared.fold(f64::INFINITY, f64::min) } else { squared.fold(0.0, f64::max) };
        self.perturbation.send(bound.sqrt(), out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::attacks::testing::forge;

    #[test]
    fn the_sum_of_squared_distances_is_that_of_an_honest_row() {
        let honest: Vec<Vec<f64>> =
            (0..6).map(|i| (0..4).map(|k| ((5 * i + 3 * k * k) % 13) as f64 * 0.3).collect()).collect();
        let sum = |from: &[f64]| -> f64 {
            honest.iter().flat_map(|row| row.iter().zip(from).map(|(a, b)| (a - b) * (a - b))).sum()
        };
        let sums = || honest.iter().map(|row| sum(row));
        for (bound, expected) in
            [("max", sums().fold(0.0, f64::max)), ("min", sums().fold(f64::INFINITY, f64::min))]
        {
            let sent = forge(&format!("min_sum(bound={bound},perturbation=unit)"), &honest, &[vec![0.0; 4]]);
            assert!((sum(&sent[0]) / expected - 1.0).abs() < 1e-12, "{bound}");
        }
    }
}
