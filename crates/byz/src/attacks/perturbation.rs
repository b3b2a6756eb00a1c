//! What min_max and min_sum share: y = mean(honest) − γ·p, as far along p as a bound on distances allows.
//!
//! p has length one and points along the standard deviations (ddof 1), the mean, or the signs of the mean; the
//! length that the paper's p has besides only changes the unit of γ.
//!
//!   ‖y − xᵢ‖² = aᵢ + 2γbᵢ + γ²   with aᵢ = ‖xᵢ − mean‖², bᵢ = ⟨p, xᵢ − mean⟩
//!
//! So the largest γ has a closed form. Deviation: the paper halves steps from γ = 10 to a tolerance of 1e-5, which
//! finds the same number less accurately, and none beyond 20.

use super::{View, statistics};
use crate::{
    kernels::{
        Scalar,
        moments::{self, BLOCK},
    },
    registry::{Arguments, Kind, Parameter},
    rows_mut::RowsMut,
};

pub(super) const PERTURBATION: Parameter = Parameter {
    name: "perturbation",
    default: "std",
    summary: "direction away from the mean: the standard deviations, the mean, or its signs",
    kind: Kind::Choice(&["std", "unit", "sign"]),
};

/// A direction away from the mean, and where the honest rows lie along it.
pub(super) struct Perturbation {
    along: Along,
    mean: Vec<f64>,
    direction: Vec<f64>,
    /// One per honest row.
    pub(super) offsets: Vec<Offset>,
}

enum Along {
    Deviation,
    Mean,
    Signs,
}

/// Where an honest row lies, seen from the mean.
#[derive(Default)]
pub(super) struct Offset {
    /// aᵢ.
    pub(super) squared: f64,
    /// bᵢ.
    pub(super) along: f64,
}

impl Perturbation {
    pub(super) fn new(arguments: &Arguments) -> Perturbation {
        let along = match arguments.choice("perturbation") {
            Some("unit") => Along::Mean,
            Some("sign") => Along::Signs,
            _ => Along::Deviation,
        };
        Perturbation { along, mean: Vec::new(), direction: Vec::new(), offsets: Vec::new() }
    }

    /// Looks at the honest rows of this round.
    pub(super) fn measure<T: Scalar>(&mut self, view: &View<'_, T>) {
        let Perturbation { along, mean, direction, offsets } = self;
        statistics::mean_and_deviation(view, 1, mean, direction);
        match along {
            Along::Deviation => {}
            Along::Mean => direction.copy_from_slice(mean),
            Along::Signs => direction.iter_mut().zip(&*mean).for_each(|(to, mean)| *to = sign(*mean)),
        }
        let norm = statistics::norm(direction);
        // Without a direction (one row, a mean of zero) everyone sends the mean.
        let scale = if norm > 0.0 && norm.is_finite() { 1.0 / norm } else { 0.0 };
        direction.iter_mut().for_each(|value| *value *= scale);
        offsets.clear();
        offsets.resize_with(view.honest.len(), Offset::default);
        // Block by block, so that mean and direction are read from memory once.
        for start in (0..mean.len()).step_by(BLOCK) {
            let columns = start..mean.len().min(start + BLOCK);
            for (row, offset) in view.honest.iter().zip(&mut *offsets) {
                let row = &row[columns.clone()];
                let [squared, along] = moments::offset(
                    view.engine.kernels,
                    row,
                    &mean[columns.clone()],
                    &direction[columns.clone()],
                );
                offset.squared += squared;
                offset.along += along;
            }
        }
    }

    /// Everyone sends mean − γ·p.
    pub(super) fn send<T: Scalar>(&self, gamma: f64, mut out: RowsMut<'_, T>) {
        for ((to, mean), p) in out.row_mut(0).iter_mut().zip(&self.mean).zip(&self.direction) {
            *to = T::from_f64(mean - gamma * p);
        }
        out.repeat_first();
    }
}

fn sign(value: f64) -> f64 {
    if value == 0.0 { 0.0 } else { value.signum() }
}

#[cfg(test)]
mod tests {
    use crate::attacks::testing::forge;

    #[test]
    fn directions_are_the_deviations_the_mean_or_its_signs() {
        // Mean (3, 4), deviations (1, 1)·√2: the farthest honest row is √2 from the mean.
        let honest = [vec![2.0, 5.0], vec![4.0, 3.0]];
        let own = [vec![0.0, 0.0]];
        let root = 2f64.sqrt();
        for (perturbation, expected) in
            [("std", [2.0, 3.0]), ("unit", [3.0 - 0.6 * root, 4.0 - 0.8 * root]), ("sign", [2.0, 3.0])]
        {
            let sent = forge(&format!("min_sum(perturbation={perturbation})"), &honest, &own);
            let error = (sent[0][0] - expected[0]).abs() + (sent[0][1] - expected[1]).abs();
            assert!(error < 1e-14, "{perturbation}: {sent:?}");
        }
    }
}
