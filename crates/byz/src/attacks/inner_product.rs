//! Inner product manipulation: a step against the mean, small enough to hide or large enough to win.
//!
//!   y = −ε · mean(honest)
//!
//! `scale` ε = 0.1 by default: inside the honest spread, for rules that trust what is near; 2 to 100 are for rules
//! that average. `optimal` searches ε of either sign through the defence (see `line_search`).
//! Reference: Xie, Koyejo, Gupta: "Fall of empires: breaking Byzantine-tolerant SGD by inner product manipulation",
//! UAI 2019.

use super::{Attack, View, line_search::send_strongest, statistics};
use crate::{
    error::Result,
    kernels::Scalar,
    registry::{Entry, Kind, Parameter, Properties},
    rows_mut::RowsMut,
};

struct InnerProduct {
    /// ε; none to search for it.
    scale: Option<f64>,
    mean: Vec<f64>,
}

pub(super) const fn entry<T: Scalar>() -> Entry<dyn Attack<T>> {
    Entry {
        name: "inner_product",
        aliases: &["ipm", "inner_product_manipulation"],
        summary: "−ε times the honest mean",
        parameters: &[Parameter {
            name: "scale",
            default: "0.1",
            summary: "ε, or optimal: what moves the aggregate most",
            kind: Kind::NumberOr(&["optimal"]),
        }],
        requirement: "acts on messages",
        reference: "Xie et al., Fall of empires, UAI 2019",
        properties: Properties::NONE,
        build: |arguments| {
            let optimal = arguments.choice("scale") == Some("optimal");
            let scale = (!optimal).then(|| arguments.number("scale").unwrap_or(0.1));
            Ok(Box::new(InnerProduct { scale, mean: Vec::new() }))
        },
    }
}

impl<T: Scalar> Attack<T> for InnerProduct {
    fn forge(&mut self, view: &View<'_, T>, mut out: RowsMut<'_, T>) -> Result<()> {
        if view.is_idle(&out) {
            return Ok(());
        }
        statistics::mean(view, &mut self.mean);
        let write = |scale: f64, row: &mut [T]| {
            for (to, mean) in row.iter_mut().zip(&self.mean) {
                *to = T::from_f64(-scale * mean);
            }
        };
        match self.scale {
            None => send_strongest(view, &self.mean, out, write),
            Some(scale) => {
                write(scale, out.row_mut(0));
                out.repeat_first();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::attacks::testing::{forge, forge_against};

    #[test]
    fn sends_a_multiple_of_the_mean() {
        let honest = [vec![1.0, 2.0], vec![3.0, 6.0]];
        let own = [vec![0.0, 0.0], vec![0.0, 0.0]];
        assert_eq!(forge("ipm(scale=2)", &honest, &own), [[-4.0, -8.0], [-4.0, -8.0]]);
        assert_eq!(forge("inner_product", &honest, &own)[0], [-0.2, -0.4]);
    }

    #[test]
    fn the_optimum_against_a_median_lies_outside_the_honest_values() {
        let honest = [vec![1.0], vec![2.0], vec![3.0], vec![4.0]];
        let sent = forge_against("median", "ipm(scale=optimal)", &honest, &[vec![0.0]]);
        // The mean is 2.5; the median of five is 2 or 3 at worst.
        assert!(sent[0][0] <= 2.0 || sent[0][0] >= 3.0, "{sent:?}");
    }
}
