//! What Byzantine workers send. One attack per file.
//!
//! Attacks are omniscient and collude: they see every honest message of the round and may ask the defence what it
//! would make of a forgery.

mod displacement;
mod fang;
mod gaussian;
mod inner_product;
mod label_flip;
mod line_search;
mod little_is_enough;
mod mimic;
mod min_max;
mod min_sum;
mod non_finite;
mod none;
mod perturbation;
mod relocated;
mod sign_flip;
mod statistics;
mod worst_case;
mod worst_of;
mod zero;

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod testing;

use crate::{
    engine::Engine,
    error::{Error, Result},
    kernels::Scalar,
    registry::Entry,
    rows_mut::RowsMut,
    tasks::LabelMap,
};

/// What the Byzantine workers know of the round.
pub struct View<'a, T> {
    /// The round, from 1.
    pub round: u64,
    /// The run's seed, for attacks that draw.
    pub seed: u64,
    /// Byzantine workers that the defence assumes.
    pub tolerance: usize,
    /// What the honest workers send (or their gradients, for attacks that act on those).
    pub honest: &'a [&'a [T]],
    /// The defence as a function of the forged rows; the honest ones are known to it.
    pub probe: Probe<'a, T>,
    /// What the server's next step would lead to, as a function of the aggregate.
    pub next_loss: NextLoss<'a, T>,
    /// Threads and kernels, for attacks that measure.
    pub engine: Engine<'a>,
}

impl<T> View<'_, T> {
    /// Whether nobody lies, or there is nobody to lie about: then the rows stay as they are.
    fn is_idle(&self, out: &RowsMut<'_, T>) -> bool {
        self.honest.is_empty() || out.count() == 0
    }
}

/// What the defence makes of the honest messages and these forged ones.
pub type Probe<'a, T> = &'a dyn Fn(&[&[T]]) -> Result<Vec<T>>;

/// The honest workers' mean loss after the step that this aggregate would lead to, on this round's batches.
pub type NextLoss<'a, T> = &'a dyn Fn(&[T]) -> Result<f64>;

/// What an attack replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The Byzantine workers' gradients; their own momentum follows, if they keep one.
    Gradients,
    /// The messages themselves.
    Messages,
}

/// A way to lie.
pub trait Attack<T: Scalar>: Send {
    /// What it replaces.
    fn acts_on(&self) -> Stage {
        Stage::Messages
    }

    /// What the Byzantine workers do to their labels.
    fn poisons_labels(&self) -> Option<LabelMap> {
        None
    }

    /// Replaces the rows of `out`, which hold what the Byzantine workers would send if honest.
    fn forge(&mut self, view: &View<'_, T>, out: RowsMut<'_, T>) -> Result<()>;

    /// What it carries from round to round, for checkpoints.
    fn state(&self) -> Vec<Vec<T>> {
        Vec::new()
    }

    /// Takes a saved state back.
    fn restore(&mut self, state: Vec<Vec<T>>) -> Result<()> {
        match state.is_empty() {
            true => Ok(()),
            false => Err(Error::Usage("the checkpoint holds state that this attack does not have".into())),
        }
    }
}

/// Every attack.
pub fn table<T: Scalar>() -> &'static [Entry<dyn Attack<T>>] {
    Table::<T>::ALL
}

struct Table<T>(std::marker::PhantomData<T>);

impl<T: Scalar> Table<T> {
    const ALL: &'static [Entry<dyn Attack<T>>] = &[
        none::entry(),
        sign_flip::entry(),
        label_flip::entry(),
        mimic::entry(),
        little_is_enough::entry(),
        inner_product::entry(),
        min_max::entry(),
        min_sum::entry(),
        fang::entry(),
        gaussian::entry(),
        non_finite::entry(),
        zero::entry(),
        relocated::entry(),
        worst_of::entry(),
        worst_case::entry(),
    ];
}
