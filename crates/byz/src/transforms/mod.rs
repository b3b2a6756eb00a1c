//! What happens to an update on its way: an optimiser is a chain of these at the worker and one at the server. One transform per
//! file.

mod clip;
pub(crate) mod length;
mod lmo;
mod momentum;
mod normalize;
mod weight_decay;

use crate::{
    error::{Error, Result},
    kernels::Scalar,
    layout::Layout,
    registry::{self, Entry},
    schedules::Pace,
};

/// What a transform knows of the round.
pub struct Step<'a, T> {
    /// The round, from 1.
    pub round: u64,
    /// Rate, momentum and restarts, as the schedule has them for this round.
    pub pace: Pace,
    /// The parameters before the step.
    pub parameters: &'a [T],
    /// Their tensors.
    pub layout: &'a Layout,
}

/// One link of a chain; it may keep state from round to round.
pub trait Transform<T: Scalar>: Send {
    /// Changes the update in place.
    fn apply(&mut self, update: &mut [T], step: &Step<'_, T>);

    /// Whether it fits a model with these tensors; asked once, before the first round.
    fn check(&self, _layout: &Layout) -> Result<()> {
        Ok(())
    }

    /// Whether it remembers zeros before the first round, so that its first outputs fall short.
    fn starts_from_zero(&self) -> bool {
        false
    }

    /// What it carries from round to round, for checkpoints.
    fn state(&self) -> Vec<Vec<T>> {
        Vec::new()
    }

    /// Takes a saved state back.
    fn restore(&mut self, state: Vec<Vec<T>>) -> Result<()> {
        match state.is_empty() {
            true => Ok(()),
            false => Err(Error::Usage("the checkpoint holds state that this transform does not have".into())),
        }
    }
}

/// Transforms one after another.
pub struct Chain<T>(pub Vec<Box<dyn Transform<T>>>);

impl<T: Scalar> Chain<T> {
    /// Reads a chain as configurations write it.
    pub fn read<S: AsRef<str>>(links: &[S]) -> Result<Chain<T>> {
        let link = |link: &S| registry::read("transform", table::<T>(), link.as_ref());
        links.iter().map(link).collect::<Result<_>>().map(Chain)
    }

    /// A chain that changes nothing.
    pub fn empty() -> Chain<T> {
        Chain(Vec::new())
    }

    /// Changes the update in place.
    pub fn apply(&mut self, update: &mut [T], step: &Step<'_, T>) {
        self.0.iter_mut().for_each(|link| link.apply(update, step));
    }

    /// What `apply` would make of the update; the chain stays as it is.
    pub(crate) fn preview(&mut self, update: &mut [T], step: &Step<'_, T>) {
        let states: Vec<_> = self.0.iter().map(|link| link.state()).collect();
        self.apply(update, step);
        for (link, state) in self.0.iter_mut().zip(states) {
            link.restore(state).expect("a transform takes its own state back");
        }
    }
}

/// Every transform.
pub fn table<T: Scalar>() -> &'static [Entry<dyn Transform<T>>] {
    Table::<T>::ALL
}

struct Table<T>(std::marker::PhantomData<T>);

impl<T: Scalar> Table<T> {
    const ALL: &'static [Entry<dyn Transform<T>>] =
        &[Self::MOMENTUM, Self::NORMALIZE, Self::LMO, Self::CLIP, Self::WEIGHT_DECAY];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{layout::Role, random::Stream, registry};

    static NO_LAYOUT: std::sync::LazyLock<Layout> = std::sync::LazyLock::new(Layout::new);

    pub(super) fn steady() -> Pace {
        Pace { rate: 0.1, momentum: None, restart: false }
    }

    pub(super) fn at<T>(round: u64, pace: Pace) -> Step<'static, T> {
        Step { round, pace, parameters: &[], layout: &NO_LAYOUT }
    }

    pub(super) fn read<T: Scalar>(expression: &str) -> Result<Box<dyn Transform<T>>> {
        registry::read("transform", table::<T>(), expression)
    }

    /// The last of these updates, transformed.
    pub(super) fn run<T: Scalar>(expression: &str, updates: &[&[T]]) -> Vec<T> {
        let mut transform = read::<T>(expression).unwrap();
        let mut last = Vec::new();
        for (round, update) in (1..).zip(updates) {
            last = update.to_vec();
            transform.apply(&mut last, &at(round, steady()));
        }
        last
    }

    const EXPRESSIONS: &[&str] = &[
        "momentum",
        "momentum(start=gradient)",
        "momentum(form=heavy_ball)",
        "normalize",
        "normalize(cut=1e-10)",
        "clip",
        "weight_decay",
        "lmo",
        "lmo(norm=linf)",
        "lmo(norm=l1)",
        "lmo(norm=spectral)",
        "lmo(norm=spectral,method=newton_schulz,vectors=linf)",
        "lmo(norm=nuclear)",
    ];

    fn bits<T: Scalar>(values: &[T]) -> Vec<u64> {
        values.iter().map(|x| x.to_f64().to_bits()).collect()
    }

    fn conforms<T: Scalar>(expression: &str, scale: f64) {
        let layout = Layout::new().with("w", &[3, 4], Role::Matrix).with("b", &[5], Role::Vector);
        let mut stream = Stream::new(2, "test", 0, 0);
        let mut draw = || -> Vec<T> { (0..17).map(|_| T::from_f64(scale * stream.normal())).collect() };
        let (parameters, updates) = (draw(), [draw(), draw(), draw(), draw(), draw()]);
        let step = |round: usize, restart| Step {
            round: round as u64,
            pace: Pace { restart, ..steady() },
            parameters: &parameters,
            layout: &layout,
        };
        let play = |transform: &mut Box<dyn Transform<T>>, rounds: std::ops::Range<usize>, restart: usize| {
            let one = |round: usize| {
                let mut update = updates[round].clone();
                transform.apply(&mut update, &step(round + 1, round == restart));
                assert!(update.iter().all(|x| x.to_f64().is_finite()), "{expression} at {scale}");
                bits(&update)
            };
            rounds.map(one).collect::<Vec<_>>()
        };
        let fresh = || read::<T>(expression).unwrap();
        let (mut whole, mut first, mut second) = (fresh(), fresh(), fresh());
        let all = play(&mut whole, 0..5, 9);
        assert_eq!(play(&mut first, 0..3, 9), all[..3], "{expression}");
        second.restore(first.state()).unwrap();
        assert_eq!(play(&mut second, 3..5, 9), all[3..], "{expression}: the state is not whole");
        assert_eq!(
            play(&mut first, 3..5, 3),
            play(&mut fresh(), 3..5, 9),
            "{expression}: a restart is a start"
        );
        assert!(fresh().restore(vec![Vec::new(); 2]).is_err(), "{expression}");
    }

    #[test]
    fn finite_stays_finite_and_states_and_restarts_are_exact() {
        for expression in EXPRESSIONS {
            for scale in [0.0, 1e-44, 1e-30, 1.0, 1e30, 1e36] {
                conforms::<f32>(expression, scale);
                conforms::<f64>(expression, scale);
            }
            conforms::<f64>(expression, 1e-320);
            conforms::<f64>(expression, 1e305);
        }
    }

    #[test]
    fn every_transform_is_tried() {
        for entry in table::<f32>() {
            assert!(
                EXPRESSIONS.iter().any(|expression| expression.starts_with(entry.name)),
                "{}",
                entry.name
            );
        }
    }

    #[test]
    fn what_is_not_finite_stays_so() {
        for expression in EXPRESSIONS {
            for bad in [f64::NAN, f64::INFINITY] {
                let last = run(expression, &[&[1.0, bad, 0.0]]);
                assert!(last.iter().any(|x| !x.is_finite()), "{expression}");
            }
        }
    }
}
