//! Zero: a worker that contributes nothing.
//!
//!   y = 0
//!
//! It slows training without looking like an outlier. The released code of Byz-NSGDM on the quartic does this where
//! its text says Mimic.
//! Reference: folklore.

use super::{Attack, View};
use crate::{
    error::Result,
    kernels::Scalar,
    registry::{Entry, Properties},
    rows_mut::RowsMut,
};

struct Zero;

pub(super) const fn entry<T: Scalar>() -> Entry<dyn Attack<T>> {
    Entry {
        name: "zero",
        aliases: &[],
        summary: "the zero vector",
        parameters: &[],
        requirement: "acts on messages",
        reference: "folklore",
        properties: Properties::NONE,
        build: |_| Ok(Box::new(Zero)),
    }
}

impl<T: Scalar> Attack<T> for Zero {
    fn forge(&mut self, _: &View<'_, T>, mut out: RowsMut<'_, T>) -> Result<()> {
        out.iter_mut().for_each(|row| row.fill(T::default()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::attacks::testing::forge;

    #[test]
    fn sends_nothing_but_zeros() {
        assert_eq!(forge("zero", &[vec![1.0, 2.0]], &[vec![3.0, 4.0]]), [[0.0, 0.0]]);
    }
}
