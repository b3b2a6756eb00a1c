//! The fixed horizon of the convergence theorem: with K rounds in all, in every round
//!
//!   γ = γ₀ / (K+1)^{(2p−1)/(3p−2)},   η = 1 / (K+1)^{p/(3p−2)}.
//!
//! p = 2, the default, is noise of finite variance: γ = γ₀/(K+1)^¾ and η = (K+1)^−½, the theorem's. 1 < p < 2 is
//! heavy-tailed noise of which only the p-th moment is finite. η goes to momentum that has no rate of its own.
//! Reference: Byz-NSGDM, Theorem 1; for p < 2 Liu, Zhou: "Nonconvex stochastic optimization under heavy-tailed noises:
//! optimal convergence without gradient clipping", ICLR 2025.

use super::{Pace, Schedule, warmup};
use crate::{
    error::Result,
    registry::{Arguments, Entry, Kind, Parameter, Properties},
};

/// The powers of the horizon for noise with p-th moments.
#[derive(Clone, Copy)]
pub(super) struct Theory {
    moment: f64,
}

pub(super) const MOMENT: Parameter = Parameter {
    name: "moment",
    default: "2",
    summary: "moment p of the noise that is finite, 1 < p <= 2",
    kind: Kind::Positive,
};

pub(super) const ENTRY: Entry<dyn Schedule> = Entry {
    name: "theory",
    aliases: &[],
    summary: "the theorem's constant rate and momentum for a known number of rounds",
    parameters: &[MOMENT, warmup::PARAMETER],
    requirement: "",
    reference: "Byz-NSGDM, Theorem 1",
    properties: Properties::NONE,
    build: |arguments| Ok(warmup::ramp(arguments, Theory::new(arguments)?)),
};

impl Theory {
    pub(super) fn new(arguments: &Arguments) -> Result<Theory> {
        let moment = arguments.number("moment").unwrap_or(2.0);
        match moment > 1.0 && moment <= 2.0 {
            true => Ok(Theory { moment }),
            false => Err(arguments.reject("moment", "a number above 1, up to 2")),
        }
    }

    /// Rate and momentum for a run, or a stage of one, of `horizon` rounds.
    pub(super) fn of_horizon(&self, base: f64, horizon: f64) -> Pace {
        let (p, n) = (self.moment, horizon + 1.0);
        let rate = base * n.powf(-(2.0 * p - 1.0) / (3.0 * p - 2.0));
        Pace { rate, momentum: Some(n.powf(-p / (3.0 * p - 2.0))), restart: false }
    }
}

impl Schedule for Theory {
    fn pace(&self, base: f64, _: u64, rounds: u64) -> Pace {
        self.of_horizon(base, rounds as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_theorem_at_sixteen() {
        let pace = Theory { moment: 2.0 }.pace(1.0, 3, 15);
        assert!((pace.rate - 0.125).abs() < 1e-15 && (pace.momentum.unwrap() - 0.25).abs() < 1e-15);
    }

    #[test]
    fn heavier_tails_have_larger_powers() {
        // p = 3/2: 2p − 1 = 2 and 3p − 2 = 5/2, so the powers are 4/5 and 3/5.
        let pace = Theory { moment: 1.5 }.pace(2.0, 1, 31);
        assert!((pace.rate - 2.0 / 16.0).abs() < 1e-15 && (pace.momentum.unwrap() - 0.125).abs() < 1e-15);
    }
}
