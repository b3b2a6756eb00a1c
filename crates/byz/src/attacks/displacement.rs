//! How much a forgery achieves, as the defence itself answers: ‖A(honest, forged) − mean(honest)‖, or the loss after the next
//! step.

use super::{View, statistics};
use crate::kernels::Scalar;

impl<T: Scalar> View<'_, T> {
    /// How far these rows take the aggregate from the honest mean. What the defence refuses, or what is not finite,
    /// achieves nothing.
    pub(super) fn displacement(&self, forged: &[&[T]], mean: &[f64]) -> f64 {
        let Ok(aggregate) = (self.probe)(forged) else { return 0.0 };
        if aggregate.len() != mean.len() {
            return 0.0;
        }
        let squared = statistics::sum(&aggregate, [mean], |value, [mean]| (value - mean) * (value - mean));
        if squared.is_finite() { squared.sqrt() } else { 0.0 }
    }

    /// The loss after the step that these rows lead to. What the defence refuses achieves nothing; a loss that is no longer a
    /// number is the most there is.
    pub(super) fn loss_after(&self, forged: &[&[T]]) -> f64 {
        let Ok(aggregate) = (self.probe)(forged) else { return f64::NEG_INFINITY };
        match (self.next_loss)(&aggregate) {
            Ok(loss) if loss.is_nan() => f64::INFINITY,
            Ok(loss) => loss,
            Err(_) => f64::NEG_INFINITY,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        attacks::{View, testing::with_view},
        error::Error,
    };

    #[test]
    fn a_refusal_achieves_nothing() {
        with_view(&[vec![0.0, 0.0]], |view| {
            assert_eq!(view.displacement(&[&[6.0, 8.0]], &[0.0, 0.0]), 5.0);
            let probe: super::super::Probe<'_, f64> = &|_| Err(Error::Usage("no".into()));
            let refused = View { probe, ..*view };
            assert_eq!(refused.displacement(&[&[6.0, 8.0]], &[0.0, 0.0]), 0.0);
            assert_eq!(refused.loss_after(&[&[6.0, 8.0]]), f64::NEG_INFINITY);
        });
    }
}
