//! Nobody lies: Byzantine workers send what honest ones would.

use super::{Attack, View};
use crate::{
    error::Result,
    kernels::Scalar,
    registry::{Entry, Properties},
    rows_mut::RowsMut,
};

struct None;

pub(super) const fn entry<T: Scalar>() -> Entry<dyn Attack<T>> {
    Entry {
        name: "none",
        aliases: &["honest"],
        summary: "nobody lies",
        parameters: &[],
        requirement: "acts on messages",
        reference: "folklore",
        properties: Properties::NONE,
        build: |_| Ok(Box::new(None)),
    }
}

impl<T: Scalar> Attack<T> for None {
    fn forge(&mut self, _: &View<'_, T>, _: RowsMut<'_, T>) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::attacks::testing::forge;

    #[test]
    fn leaves_the_rows_alone() {
        assert_eq!(forge("none", &[vec![1.0]], &[vec![2.0], vec![3.0]]), [[2.0], [3.0]]);
    }
}
