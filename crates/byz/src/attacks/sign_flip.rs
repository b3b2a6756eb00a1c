//! Sign flip: the opposite of the truth.
//!
//!   of = own:   yᵢ = −xᵢ, the worker's own honest message (the paper's Bit Flipping, and the default)
//!   of = mean:  y = −mean(honest), the same for all (ByzFL's)
//!
//! The two differ in strength: an own message carries its noise and its data, the mean does not. Whether the own
//! message has momentum is the run's choice, not the attack's.
//! Reference: Li, Xu, Chen, Giannakis, Ling: "RSA: Byzantine-robust stochastic aggregation methods", AAAI 2019.

use super::{Attack, View, statistics};
use crate::{
    error::Result,
    kernels::Scalar,
    registry::{Entry, Kind, Parameter, Properties},
    rows_mut::RowsMut,
};

struct SignFlip {
    of_mean: bool,
    mean: Vec<f64>,
}

pub(super) const fn entry<T: Scalar>() -> Entry<dyn Attack<T>> {
    Entry {
        name: "sign_flip",
        aliases: &["bf", "bit_flip", "sf"],
        summary: "minus its own message, or minus the honest mean",
        parameters: &[Parameter {
            name: "of",
            default: "own",
            summary: "what is flipped: its own message or the honest mean",
            kind: Kind::Choice(&["own", "mean"]),
        }],
        requirement: "acts on messages",
        reference: "Li et al., RSA, AAAI 2019",
        properties: Properties::NONE,
        build: |arguments| {
            Ok(Box::new(SignFlip { of_mean: arguments.choice("of") == Some("mean"), mean: Vec::new() }))
        },
    }
}

impl<T: Scalar> Attack<T> for SignFlip {
    fn forge(&mut self, view: &View<'_, T>, mut out: RowsMut<'_, T>) -> Result<()> {
        if !self.of_mean {
            out.iter_mut().flatten().for_each(|value| *value = T::from_f64(-value.to_f64()));
        } else if !view.is_idle(&out) {
            statistics::mean(view, &mut self.mean);
            statistics::send_multiple(-1.0, &self.mean, out);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::attacks::testing::forge;

    #[test]
    fn flips_its_own_message_or_the_mean() {
        let honest = [vec![1.0, 2.0], vec![3.0, 6.0]];
        let own = [vec![5.0, -1.0], vec![7.0, 0.5]];
        assert_eq!(forge("sign_flip", &honest, &own), [[-5.0, 1.0], [-7.0, -0.5]]);
        assert_eq!(forge("bf(of=mean)", &honest, &own), [[-2.0, -4.0], [-2.0, -4.0]]);
    }
}
