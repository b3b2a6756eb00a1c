//! A little is enough: hide within the honest spread, where everyone's supporters are.
//!
//!   y = mean(honest) ± z · std(honest), per coordinate
//!
//! `z` is a number (1, as in the Byz-NSGDM paper, is the default), `quantile` or `optimal`.
//! - quantile: z = Φ⁻¹((n − f − s)/(n − f)) with s = ⌊n/2⌋ + 1 − f supporters needed, n and f the true counts:
//!   0.074 for n = 20, f = 3. Where that would be infinite (2f > n, or n ≤ 2), the probability is kept half a
//!   worker away from 0 and 1. It may be negative when f is small: not even the mean has enough supporters.
//! - optimal: searched through the defence, both signs (see `line_search`).
//!
//! `sign` = plus is the text of the Byz-NSGDM paper and the default, minus its released code; `ddof` = 1 is the
//! default, 0 what that code has on the quartic.
//! Reference: Baruch, Baruch, Goldberg: "A little is enough: circumventing defenses for distributed learning",
//! NeurIPS 2019.

use super::{Attack, View, line_search::send_strongest, statistics};
use crate::{
    error::Result,
    kernels::Scalar,
    registry::{Arguments, Entry, Kind, Parameter, Properties},
    rows_mut::RowsMut,
};

struct LittleIsEnough {
    size: Size,
    sign: f64,
    ddof: usize,
    mean: Vec<f64>,
    deviation: Vec<f64>,
}

enum Size {
    Fixed(f64),
    Quantile,
    Optimal,
}

pub(super) const fn entry<T: Scalar>() -> Entry<dyn Attack<T>> {
    Entry {
        name: "little_is_enough",
        aliases: &["alie"],
        summary: "the honest mean plus or minus z standard deviations",
        parameters: &[
            Parameter {
                name: "z",
                default: "1",
                summary: "standard deviations: a number, quantile (from n and f), or optimal: what moves the \
                          aggregate most",
                kind: Kind::NumberOr(&["quantile", "optimal"]),
            },
            Parameter {
                name: "sign",
                default: "plus",
                summary: "side of the mean; optimal tries both",
                kind: Kind::Choice(&["plus", "minus"]),
            },
            Parameter {
                name: "ddof",
                default: "1",
                summary: "the variance divides by the honest count less this",
                kind: Kind::Choice(&["0", "1"]),
            },
        ],
        requirement: "acts on messages",
        reference: "Baruch et al., A little is enough, NeurIPS 2019",
        properties: Properties::NONE,
        build: |arguments| Ok(Box::new(LittleIsEnough::new(arguments)?)),
    }
}

impl LittleIsEnough {
    fn new(arguments: &Arguments) -> Result<LittleIsEnough> {
        let size = match arguments.choice("z") {
            Some("quantile") => Size::Quantile,
            Some("optimal") if arguments.choice("sign").is_some() => {
                return Err(arguments.reject("sign", "no sign, because z=optimal tries both"));
            }
            Some("optimal") => Size::Optimal,
            _ => Size::Fixed(arguments.number("z").unwrap_or(1.0)),
        };
        let sign = if arguments.choice("sign") == Some("minus") { -1.0 } else { 1.0 };
        let ddof = arguments.count("ddof").unwrap_or(1);
        Ok(LittleIsEnough { size, sign, ddof, mean: Vec::new(), deviation: Vec::new() })
    }
}

/// The z at which s honest workers are still farther from the mean, for n = honest + byzantine.
fn quantile(honest: usize, byzantine: usize) -> f64 {
    let (n, half) = (honest + byzantine, 0.5 / honest as f64);
    // n − f − s = n − ⌊n/2⌋ − 1.
    let probability = (n - n / 2 - 1) as f64 / honest as f64;
    statistics::normal_quantile(probability.clamp(half, 1.0 - half))
}

impl<T: Scalar> Attack<T> for LittleIsEnough {
    fn forge(&mut self, view: &View<'_, T>, mut out: RowsMut<'_, T>) -> Result<()> {
        if view.is_idle(&out) {
            return Ok(());
        }
        statistics::mean_and_deviation(view, self.ddof, &mut self.mean, &mut self.deviation);
        let write = |z: f64, row: &mut [T]| {
            for ((to, mean), deviation) in row.iter_mut().zip(&self.mean).zip(&self.deviation) {
                *to = T::from_f64(mean + z * deviation);
            }
        };
        let z = match self.size {
            Size::Fixed(z) => z,
            Size::Quantile => quantile(view.honest.len(), out.count()),
            Size::Optimal => {
                send_strongest(view, &self.mean, out, write);
                return Ok(());
            }
        };
        write(self.sign * z, out.row_mut(0));
        out.repeat_first();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attacks::testing::{build, forge, forge_against};

    #[test]
    fn the_quantile_is_that_of_the_true_counts() {
        for (n, f, z) in [(20, 3, 0.074), (50, 10, 0.253), (10, 2, 0.0), (20, 9, 0.908)] {
            let found = quantile(n - f, f);
            assert!((found - z).abs() < 5e-4, "n={n} f={f}: {found}");
        }
        for (n, f) in [(2, 1), (1, 0), (20, 11), (20, 19)] {
            assert!(quantile(n - f, f).is_finite());
        }
    }

    #[test]
    fn lies_deviations_away_from_the_mean() {
        let honest = [vec![1.0, 5.0], vec![3.0, 5.0], vec![5.0, 5.0]];
        let own = [vec![0.0, 0.0], vec![0.0, 0.0]];
        assert_eq!(forge("alie", &honest, &own), [[5.0, 5.0], [5.0, 5.0]]);
        assert_eq!(forge("alie(z=1.5,sign=minus)", &honest, &own)[0], [0.0, 5.0]);
        assert_eq!(forge("alie(ddof=0)", &honest, &own)[0], [3.0 + (8f64 / 3.0).sqrt(), 5.0]);
        assert!(build::<f64>("alie(z=optimal,sign=plus)").is_err());
    }

    #[test]
    fn the_optimum_pushes_a_median_over_an_honest_value() {
        let honest = [vec![0.0], vec![1.0], vec![5.0], vec![6.0]];
        let sent = forge_against("median", "alie(z=optimal)", &honest, &[vec![0.0]]);
        // The mean is 3; the median of five is 1 or 5 at worst.
        assert!(sent[0][0] <= 1.0 || sent[0][0] >= 5.0, "{sent:?}");
    }
}
