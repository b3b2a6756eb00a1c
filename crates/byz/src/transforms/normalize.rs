//! Unit length: u ← u / ‖u‖, over the whole vector. The server's step of Byz-NSGDM.
//!
//! The length is taken in f64, whatever the size of the entries. An update of length up to `cut` (0) becomes zero, so zero
//! stays zero; the released code of the quartic cuts at 1e-10. An update that is not finite stays as it is, for the trainer
//! to see.
//! Reference: Byz-NSGDM, Algorithm 1, line 6; Cutkosky, Mehta: "Momentum improves normalized SGD", ICML 2020.

use super::{Step, Table, Transform, length::Length};
use crate::{
    kernels::Scalar,
    registry::{Entry, Kind, Parameter, Properties},
};

struct Normalize {
    cut: f64,
}

impl<T: Scalar> Table<T> {
    pub(super) const NORMALIZE: Entry<dyn Transform<T>> = Entry {
        name: "normalize",
        aliases: &[],
        summary: "the update divided by its Euclidean length; zero stays zero",
        parameters: &[Parameter {
            name: "cut",
            default: "0",
            summary: "updates of up to this length become zero",
            kind: Kind::NonNegative,
        }],
        requirement: "",
        reference: "Cutkosky, Mehta, Momentum improves normalized SGD, ICML 2020",
        properties: Properties::NONE,
        build: |arguments| Ok(Box::new(Normalize { cut: arguments.number("cut").unwrap_or(0.0) })),
    };
}

impl<T: Scalar> Transform<T> for Normalize {
    fn apply(&mut self, update: &mut [T], _: &Step<'_, T>) {
        let length = Length::of(update);
        if !length.is_finite() {
            return;
        }
        match length.value() <= self.cut {
            true => update.fill(T::default()),
            false => length.rescale(update, 1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::run;

    #[test]
    fn three_four_five_at_any_scale() {
        for scale in [1.0, 1e-30, 1e37] {
            assert_eq!(run::<f32>("normalize", &[&[3.0 * scale, 0.0, -4.0 * scale]]), [0.6, 0.0, -0.8]);
        }
        // 3·5e-324 and 4·5e-324.
        let tiny = run::<f64>("normalize", &[&[1.5e-323, -2e-323]]);
        assert!((tiny[0] - 0.6).abs() < 1e-15 && (tiny[1] + 0.8).abs() < 1e-15);
        assert_eq!(run::<f64>("normalize", &[&[f64::MAX; 4]]), [0.5; 4]);
    }

    #[test]
    fn short_updates_are_cut_and_zero_stays_zero() {
        assert_eq!(run::<f64>("normalize", &[&[0.0, 0.0]]), [0.0, 0.0]);
        assert_eq!(run::<f64>("normalize(cut=5)", &[&[3.0, 4.0]]), [0.0, 0.0]);
        assert_eq!(run::<f32>("normalize(cut=4.9)", &[&[3.0, 4.0]]), [0.6, 0.8]);
    }
}
