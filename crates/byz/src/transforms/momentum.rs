//! Momentum: a memory of past updates.
//!
//!   form = ema:          v ← (1−η)·v + η·g        form = heavy_ball:   v ← β·v + g,   β = 1 − η
//!
//! `rate` η (default 0.1) and `beta` β (0.9) are one knob; where neither is given, a schedule that has a momentum of its own
//! sets it. `start` is what v is before the first round: zero, or such that the first output is the first g (for
//! heavy_ball both are the same). A restart of the schedule begins anew. Computed in the number type of the task.
//! Reference: Polyak 1964; at the workers Karimireddy, He, Jaggi: "Learning from history", ICML 2021.

use super::{Step, Table, Transform};
use crate::{
    error::{Error, Result},
    kernels::Scalar,
    registry::{Arguments, Entry, Kind, Parameter, Properties},
};

struct Momentum<T> {
    /// The share of the past that is kept and that of the present, unless the schedule may choose.
    shares: Option<(f64, f64)>,
    heavy_ball: bool,
    start_at_gradient: bool,
    /// Empty before the first round.
    velocity: Vec<T>,
}

impl<T: Scalar> Table<T> {
    pub(super) const MOMENTUM: Entry<dyn Transform<T>> = Entry {
        name: "momentum",
        aliases: &[],
        summary: "a memory of past updates: moving average or heavy ball",
        parameters: &[
            Parameter {
                name: "form",
                default: "ema",
                summary: "(1-rate)v + rate g, or beta v + g",
                kind: Kind::Choice(&["ema", "heavy_ball"]),
            },
            Parameter {
                name: "rate",
                default: "the schedule's, else 0.1",
                summary: "share of the present, up to 1; 1 - beta",
                kind: Kind::Positive,
            },
            Parameter {
                name: "beta",
                default: "the schedule's, else 0.9",
                summary: "share of the past, below 1; 1 - rate",
                kind: Kind::NonNegative,
            },
            Parameter {
                name: "start",
                default: "zero",
                summary: "what it starts from",
                kind: Kind::Choice(&["zero", "gradient"]),
            },
        ],
        requirement: "",
        reference: "Karimireddy, He, Jaggi, Learning from history, ICML 2021",
        properties: Properties::NONE,
        build: |arguments| {
            Ok(Box::new(Momentum {
                shares: shares(arguments)?,
                heavy_ball: arguments.choice("form") == Some("heavy_ball"),
                start_at_gradient: arguments.choice("start") == Some("gradient"),
                velocity: Vec::new(),
            }))
        },
    };
}

fn shares(arguments: &Arguments) -> Result<Option<(f64, f64)>> {
    match (arguments.number("beta"), arguments.number("rate")) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err(arguments.reject("beta", "rate or beta, not both: beta is 1 - rate")),
        (Some(beta), None) if beta < 1.0 => Ok(Some((beta, 1.0 - beta))),
        (Some(_), None) => Err(arguments.reject("beta", "a number from 0, below 1")),
        (None, Some(rate)) if rate <= 1.0 => Ok(Some((1.0 - rate, rate))),
        (None, Some(_)) => Err(arguments.reject("rate", "a number above 0, up to 1")),
    }
}

impl<T: Scalar> Transform<T> for Momentum<T> {
    /// # Panics
    /// If the update does not have the length of the one before.
    fn apply(&mut self, update: &mut [T], step: &Step<'_, T>) {
        if self.velocity.is_empty() || step.pace.restart {
            self.velocity.clear();
            self.velocity.resize(update.len(), T::default());
            if self.start_at_gradient {
                return self.velocity.copy_from_slice(update);
            }
        }
        assert_eq!(self.velocity.len(), update.len(), "momentum belongs to an update of another length");
        let scheduled = step.pace.momentum.map(|rate| (1.0 - rate, rate));
        let (past, present) = self.shares.or(scheduled).unwrap_or((0.9, 0.1));
        let present = if self.heavy_ball { 1.0 } else { present };
        let (past, present) = (T::from_f64(past), T::from_f64(present));
        for (velocity, value) in self.velocity.iter_mut().zip(update) {
            *velocity = past * *velocity + present * *value;
            *value = *velocity;
        }
    }

    fn starts_from_zero(&self) -> bool {
        !self.start_at_gradient && !self.heavy_ball
    }

    fn state(&self) -> Vec<Vec<T>> {
        if self.velocity.is_empty() { Vec::new() } else { vec![self.velocity.clone()] }
    }

    fn restore(&mut self, mut state: Vec<Vec<T>>) -> Result<()> {
        let velocity = state.pop().unwrap_or_default();
        if !state.is_empty() {
            return Err(Error::Usage("the checkpoint holds more state than momentum has".into()));
        }
        self.velocity = velocity;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{at, read, run};
    use crate::schedules::Pace;

    #[test]
    fn both_forms_by_hand() {
        let after = |expression| run::<f64>(expression, &[&[1.0], &[3.0], &[-2.0]])[0];
        assert_eq!(after("momentum(rate=0.5)"), ((0.5 * 0.5) + 1.5) * 0.5 - 1.0);
        assert_eq!(after("momentum(beta=0.5,start=gradient)"), 2.0 * 0.5 - 1.0);
        assert_eq!(after("momentum(form=heavy_ball,beta=0.5)"), (0.5 + 3.0) * 0.5 - 2.0);
        assert_eq!(after("momentum(form=heavy_ball,beta=0.5,start=gradient)"), (0.5 + 3.0) * 0.5 - 2.0);
        assert_eq!(after("momentum"), run::<f64>("momentum(rate=0.1)", &[&[1.0], &[3.0], &[-2.0]])[0]);
    }

    #[test]
    fn the_schedule_sets_the_rate_only_where_none_is_given() {
        let scheduled = Pace { rate: 1.0, momentum: Some(0.25), restart: false };
        let first = |expression| {
            let mut update = [4.0];
            read::<f64>(expression).unwrap().apply(&mut update, &at(1, scheduled));
            update[0]
        };
        assert_eq!((first("momentum"), first("momentum(rate=0.5)")), (1.0, 2.0));
        assert_eq!((first("momentum(beta=0.5)"), first("momentum(form=heavy_ball)")), (2.0, 4.0));
    }

    #[test]
    fn rate_and_beta_are_one_knob() {
        for expression in ["momentum(rate=0.1,beta=0.9)", "momentum(beta=1)", "momentum(rate=1.5)"] {
            assert!(read::<f32>(expression).is_err(), "{expression}");
        }
    }
}
