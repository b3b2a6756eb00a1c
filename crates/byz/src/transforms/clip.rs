//! Bounded length: u ← min(1, r/‖u‖) · u, over the whole vector. Default r = 1.
//!
//! An update within the radius keeps its bits; one that is not finite stays as it is, for the trainer to see.
//! Reference: Zhang, He, Sra, Jadbabaie: "Why gradient clipping accelerates training", ICLR 2020.

use super::{Step, Table, Transform, length::Length};
use crate::{
    kernels::Scalar,
    registry::{Entry, Kind, Parameter, Properties},
};

struct Clip {
    radius: f64,
}

impl<T: Scalar> Table<T> {
    pub(super) const CLIP: Entry<dyn Transform<T>> = Entry {
        name: "clip",
        aliases: &[],
        summary: "the update scaled down to a radius if it is longer",
        parameters: &[Parameter {
            name: "radius",
            default: "1",
            summary: "the largest length",
            kind: Kind::Positive,
        }],
        requirement: "",
        reference: "Zhang et al., Why gradient clipping accelerates training, ICLR 2020",
        properties: Properties::NONE,
        build: |arguments| Ok(Box::new(Clip { radius: arguments.number("radius").unwrap_or(1.0) })),
    };
}

impl<T: Scalar> Transform<T> for Clip {
    fn apply(&mut self, update: &mut [T], _: &Step<'_, T>) {
        let length = Length::of(update);
        if length.is_finite() && length.value() > self.radius {
            length.rescale(update, self.radius);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::run;

    #[test]
    fn only_long_updates_shrink() {
        assert_eq!(run::<f64>("clip(radius=10)", &[&[6.0, 8.0]]), [6.0, 8.0]);
        assert_eq!(run::<f64>("clip(radius=5)", &[&[6.0, 8.0]]), [3.0, 4.0]);
        assert_eq!(run::<f32>("clip", &[&[0.0, 0.0]]), [0.0, 0.0]);
        assert_eq!(run::<f64>("clip", &[&[f64::MAX; 4]]), [0.5; 4]);
    }
}
