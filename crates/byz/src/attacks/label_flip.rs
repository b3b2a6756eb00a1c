//! Label flip: honest arithmetic on wrong labels.
//!
//!   map = reverse:  y becomes C − 1 − y (9 − y on digits: the released code of Byz-NSGDM, and the default)
//!   map = shift:    y becomes (y + c) mod C, c = `shift` = 5 (its text)
//!
//! The worker's data are poisoned, so the forging itself has nothing left to do; in tasks without classes nothing
//! happens.
//! Reference: Tolpegin, Truex, Gursoy, Liu: "Data poisoning attacks against federated learning systems", ESORICS
//! 2020.

use super::{Attack, Stage, View};
use crate::{
    error::Result,
    kernels::Scalar,
    registry::{Entry, Kind, Parameter, Properties},
    rows_mut::RowsMut,
    tasks::LabelMap,
};

struct LabelFlip(LabelMap);

pub(super) const fn entry<T: Scalar>() -> Entry<dyn Attack<T>> {
    Entry {
        name: "label_flip",
        aliases: &["lf"],
        summary: "honest gradients of wrong labels: C−1−y, or (y+c) mod C",
        parameters: &[
            Parameter {
                name: "map",
                default: "reverse",
                summary: "what becomes of a label y of C classes: C−1−y, or (y+shift) mod C",
                kind: Kind::Choice(&["reverse", "shift"]),
            },
            Parameter {
                name: "shift",
                default: "5",
                summary: "c, for map=shift",
                kind: Kind::Count { least: 1 },
            },
        ],
        requirement: "acts on gradients",
        reference: "Tolpegin et al., Data poisoning attacks against federated learning, ESORICS 2020",
        properties: Properties::NONE,
        build: |arguments| match (arguments.choice("map"), arguments.count("shift")) {
            (Some("shift"), shift) => Ok(Box::new(LabelFlip(LabelMap::Shift(shift.unwrap_or(5))))),
            (_, None) => Ok(Box::new(LabelFlip(LabelMap::Reverse))),
            _ => Err(arguments.reject("shift", "map=shift beside it")),
        },
    }
}

impl<T: Scalar> Attack<T> for LabelFlip {
    fn acts_on(&self) -> Stage {
        Stage::Gradients
    }

    fn poisons_labels(&self) -> Option<LabelMap> {
        Some(self.0)
    }

    fn forge(&mut self, _: &View<'_, T>, _: RowsMut<'_, T>) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        attacks::testing::{build, forge},
        tasks::LabelMap,
    };

    #[test]
    fn poisons_labels_and_leaves_rows_alone() {
        for (expression, map, label) in [
            ("lf", LabelMap::Reverse, 6),
            ("label_flip(map=shift)", LabelMap::Shift(5), 8),
            ("label_flip(map=shift,shift=9)", LabelMap::Shift(9), 2),
        ] {
            assert_eq!(build::<f32>(expression).unwrap().poisons_labels(), Some(map));
            assert_eq!(map.apply(3, 10), label);
        }
        assert_eq!(forge("lf", &[vec![1.0]], &[vec![2.0]]), [[2.0]]);
        assert!(build::<f32>("label_flip(shift=3)").is_err());
    }
}
