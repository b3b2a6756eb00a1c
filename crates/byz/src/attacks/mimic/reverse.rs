//! Honest for some rounds, then against the mean:
//!
//!   y = own message while k ≤ warmup, then −factor · mean(honest)
//!
//! The released code of Byz-NSGDM reverses from the 50th round on in its language model: warmup = 49.

use crate::{
    attacks::{Attack, View, statistics},
    error::Result,
    kernels::Scalar,
    rows_mut::RowsMut,
};

pub(super) struct Reverse {
    warmup: u64,
    factor: f64,
    mean: Vec<f64>,
}

impl Reverse {
    pub(super) fn new(warmup: u64, factor: f64) -> Reverse {
        Reverse { warmup, factor, mean: Vec::new() }
    }
}

impl<T: Scalar> Attack<T> for Reverse {
    fn forge(&mut self, view: &View<'_, T>, out: RowsMut<'_, T>) -> Result<()> {
        if view.round <= self.warmup || view.is_idle(&out) {
            return Ok(());
        }
        statistics::mean(view, &mut self.mean);
        statistics::send_multiple(-self.factor, &self.mean, out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::attacks::testing::{build, run};

    #[test]
    fn is_honest_for_fifty_rounds() {
        let mut attack = build::<f64>("mimic(variant=reverse)").unwrap();
        let (honest, own) = ([vec![1.0], vec![2.0]], [vec![9.0]]);
        assert_eq!(run(&mut *attack, &honest, &own, 50), [[9.0]]);
        assert_eq!(run(&mut *attack, &honest, &own, 51), [[-3.0]]);
    }
}
