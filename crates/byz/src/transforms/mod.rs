//! What happens to an update on its way: an optimiser is a chain of these at the worker and one at the server. One transform per
//! file.

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
}

/// Every transform.
pub fn table<T: Scalar>() -> &'static [Entry<dyn Transform<T>>] {
    Table::<T>::ALL
}

struct Table<T>(std::marker::PhantomData<T>);

impl<T: Scalar> Table<T> {
    const ALL: &'static [Entry<dyn Transform<T>>] = &[];
}
