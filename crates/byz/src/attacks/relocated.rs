//! Relocated orthogonal perturbation (ROP): from a place that history makes trustworthy, a step sideways.
//!
//!   y = πm + (1−π)·mean(honest) + z·(cos θ · r̂ + sin θ · p̂),   r = λm + (1−λ)·mean(honest)
//!
//! m is the honest mean of the last round (in the first, of this one); p̂ is the part of the all-ones vector
//! orthogonal to r, of unit length (of alternating signs where r is constant). z is a length: choose it near the
//! radius of the clipping it is made against. Defaults: π = `place` = 1, θ = `angle` = 270°, λ = `history` = 0.9, z
//! = 1. Deviation: the authors' m is the server's last aggregate, zero at first; colluders here use what they know
//! of the honest workers.
//! Reference: Özfatura, Özfatura, Küpçü, Gündüz: "Byzantines can also learn from history: fall of centered clipping
//! in federated learning", IEEE TIFS 2024.

use super::{Attack, View, statistics};
use crate::{
    error::{Error, Result},
    kernels::Scalar,
    registry::{Entry, Kind, Parameter, Properties},
    rows_mut::RowsMut,
};

struct Relocated<T> {
    place: f64,
    sine: f64,
    cosine: f64,
    history: f64,
    z: f64,
    /// m; empty before the first round.
    last: Vec<T>,
    mean: Vec<f64>,
    reference: Vec<f64>,
}

pub(super) const fn entry<T: Scalar>() -> Entry<dyn Attack<T>> {
    Entry {
        name: "relocated",
        aliases: &["rop", "relocated_orthogonal_perturbation"],
        summary: "the last honest mean plus a step of length z at an angle to it",
        parameters: &[
            Parameter {
                name: "place",
                default: "1",
                summary: "π: share of the last honest mean in where it starts",
                kind: Kind::Number,
            },
            Parameter {
                name: "angle",
                default: "270",
                summary: "θ: degrees between the step and the reference",
                kind: Kind::Number,
            },
            Parameter {
                name: "history",
                default: "0.9",
                summary: "λ: share of the last honest mean in the reference",
                kind: Kind::Number,
            },
            Parameter { name: "z", default: "1", summary: "length of the step", kind: Kind::Number },
        ],
        requirement: "acts on messages",
        reference: "Özfatura et al., Byzantines can also learn from history, IEEE TIFS 2024",
        properties: Properties::NONE,
        build: |arguments| {
            let (sine, cosine) = sine_and_cosine(arguments.number("angle").unwrap_or(270.0));
            Ok(Box::new(Relocated {
                place: arguments.number("place").unwrap_or(1.0),
                sine,
                cosine,
                history: arguments.number("history").unwrap_or(0.9),
                z: arguments.number("z").unwrap_or(1.0),
                last: Vec::new(),
                mean: Vec::new(),
                reference: Vec::new(),
            }))
        },
    }
}

/// Of an angle in degrees; exact at right angles, where the default lies.
fn sine_and_cosine(degrees: f64) -> (f64, f64) {
    match degrees.rem_euclid(360.0) {
        0.0 => (0.0, 1.0),
        90.0 => (1.0, 0.0),
        180.0 => (0.0, -1.0),
        270.0 => (-1.0, 0.0),
        degrees => degrees.to_radians().sin_cos(),
    }
}

impl<T: Scalar> Attack<T> for Relocated<T> {
    fn forge(&mut self, view: &View<'_, T>, mut out: RowsMut<'_, T>) -> Result<()> {
        if view.is_idle(&out) {
            return Ok(());
        }
        let &mut Relocated { place, sine, cosine, history, z, ref mut last, ref mut mean, ref mut reference } =
            self;
        statistics::mean(view, mean);
        if last.is_empty() {
            last.extend(mean.iter().map(|&mean| T::from_f64(mean)));
        }
        if last.len() != mean.len() {
            return Err(Error::Usage("relocated remembers messages of another dimension".into()));
        }
        reference.clear();
        reference
            .extend(last.iter().zip(&*mean).map(|(m, mean)| history * m.to_f64() + (1.0 - history) * mean));
        let norm = statistics::norm(reference);
        if norm > 0.0 {
            reference.iter_mut().for_each(|value| *value /= norm);
        }
        let sideways = Sideways::new(reference);
        for (k, to) in out.row_mut(0).iter_mut().enumerate() {
            let step = cosine * reference[k] + sine * sideways.at(k, reference[k]);
            *to = T::from_f64(place * last[k].to_f64() + (1.0 - place) * mean[k] + z * step);
        }
        out.repeat_first();
        last.iter_mut().zip(&*mean).for_each(|(last, &mean)| *last = T::from_f64(mean));
        Ok(())
    }

    fn state(&self) -> Vec<Vec<T>> {
        if self.last.is_empty() { Vec::new() } else { vec![self.last.clone()] }
    }

    fn restore(&mut self, mut state: Vec<Vec<T>>) -> Result<()> {
        if state.len() > 1 {
            return Err(Error::Usage("the checkpoint holds more state than relocated has".into()));
        }
        self.last = state.pop().unwrap_or_default();
        Ok(())
    }
}

/// A unit vector orthogonal to a reference of length one (or zero).
struct Sideways {
    /// Of the odd coordinates: 1 or −1.
    odd: f64,
    along: f64,
    scale: f64,
}

impl Sideways {
    fn new(reference: &[f64]) -> Sideways {
        let ones = Sideways::from_signs(reference, 1.0);
        // A constant reference leaves nothing of the ones but rounding.
        if ones.scale > 0.0 { ones } else { Sideways::from_signs(reference, -1.0) }
    }

    fn from_signs(reference: &[f64], odd: f64) -> Sideways {
        let (even_sum, odd_sum) = reference.chunks(2).fold((0.0, 0.0), |(even, other), pair| {
            (even + pair[0], other + pair.get(1).copied().unwrap_or(0.0))
        });
        let along = even_sum + odd * odd_sum;
        let dimension = reference.len() as f64;
        let squared = dimension - along * along;
        let has_direction = squared > 1e-12 * dimension;
        Sideways { odd, along, scale: if has_direction { 1.0 / squared.sqrt() } else { 0.0 } }
    }

    fn at(&self, k: usize, reference: f64) -> f64 {
        let start = if k.is_multiple_of(2) { 1.0 } else { self.odd };
        self.scale * (start - self.along * reference)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attacks::testing::{build, forge, run};

    #[test]
    fn steps_sideways_from_the_mean_in_the_first_round() {
        // The reference is (1, 0), the ones leave (0, 1), and 270° turns it around.
        let sent = forge("rop(z=2)", &[vec![2.0, 0.0], vec![4.0, 0.0]], &[vec![0.0, 0.0]]);
        assert_eq!(sent, [[3.0, -2.0]]);
        let back = forge("rop(z=2,angle=180)", &[vec![2.0, 0.0], vec![4.0, 0.0]], &[vec![0.0, 0.0]]);
        assert_eq!(back, [[1.0, 0.0]]);
    }

    #[test]
    fn remembers_the_last_honest_mean() {
        let mut attack = build::<f64>("relocated(angle=0,history=1)").unwrap();
        run(&mut *attack, &[vec![0.0, 3.0]], &[vec![0.0; 2]], 1);
        // m = (0, 3); the step goes along it.
        assert_eq!(run(&mut *attack, &[vec![5.0, 5.0]], &[vec![0.0; 2]], 2), [[0.0, 4.0]]);
        assert_eq!(attack.state(), [[5.0, 5.0]]);
    }

    #[test]
    fn a_constant_reference_still_has_a_sideways() {
        for dimension in [2, 3, 10] {
            let reference = vec![1.0 / (dimension as f64).sqrt(); dimension];
            let sideways = Sideways::new(&reference);
            let step: Vec<f64> = reference.iter().enumerate().map(|(k, &r)| sideways.at(k, r)).collect();
            let inner: f64 = step.iter().zip(&reference).map(|(a, b)| a * b).sum();
            assert!((statistics::norm(&step) - 1.0).abs() < 1e-12 && inner.abs() < 1e-12, "{step:?}");
        }
    }
}
