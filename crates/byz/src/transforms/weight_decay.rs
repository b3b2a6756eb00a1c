//! Weight decay: u ← u + λ·x, x the parameters. Default λ = 1e-4.
//!
//! Where it stands in the chain decides what it is: first, it is a penalty λ‖x‖²/2 on the loss; last (after normalize or lmo), it
//! is decoupled and shrinks the parameters by γλ per round.
//! Reference: Loshchilov, Hutter: "Decoupled weight decay regularization", ICLR 2019.

use super::{Step, Table, Transform};
use crate::{
    kernels::Scalar,
    registry::{Entry, Kind, Parameter, Properties},
};

struct WeightDecay {
    rate: f64,
}

impl<T: Scalar> Table<T> {
    pub(super) const WEIGHT_DECAY: Entry<dyn Transform<T>> = Entry {
        name: "weight_decay",
        aliases: &[],
        summary: "adds a multiple of the parameters to the update",
        parameters: &[Parameter {
            name: "rate",
            default: "1e-4",
            summary: "the multiple",
            kind: Kind::NonNegative,
        }],
        requirement: "",
        reference: "Loshchilov, Hutter, Decoupled weight decay regularization, ICLR 2019",
        properties: Properties::NONE,
        build: |arguments| Ok(Box::new(WeightDecay { rate: arguments.number("rate").unwrap_or(1e-4) })),
    };
}

impl<T: Scalar> Transform<T> for WeightDecay {
    fn apply(&mut self, update: &mut [T], step: &Step<'_, T>) {
        let rate = T::from_f64(self.rate);
        for (value, parameter) in update.iter_mut().zip(step.parameters) {
            *value = *value + rate * *parameter;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{at, read, steady};

    #[test]
    fn adds_a_multiple_of_the_parameters() {
        let mut update = [1.0, 2.0];
        let step = super::Step { parameters: &[4.0, -8.0], ..at(1, steady()) };
        read::<f64>("weight_decay(rate=0.25)").unwrap().apply(&mut update, &step);
        assert_eq!(update, [2.0, 0.0]);
    }
}
