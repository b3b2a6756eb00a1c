//! What a step would lead to, without taking it: attacks that raise the next loss ask here.

use crate::{
    error::Result,
    kernels::Scalar,
    rows_mut::RowsMut,
    tasks::{Batch, Task},
    transforms::{Chain, Step},
};
use std::cell::RefCell;

/// A round as the server is about to finish it.
pub(super) struct Foresight<'a, T: Scalar> {
    task: &'a dyn Task<Scalar = T>,
    server: RefCell<&'a mut Chain<T>>,
    step: Step<'a, T>,
    honest: Vec<Batch<'a>>,
    threads: usize,
    /// Gradients come with the losses; nobody looks at them.
    gradients: RefCell<Vec<T>>,
}

impl<'a, T: Scalar> Foresight<'a, T> {
    pub(super) fn new(
        task: &'a dyn Task<Scalar = T>,
        server: &'a mut Chain<T>,
        step: Step<'a, T>,
        honest: Vec<Batch<'a>>,
        threads: usize,
    ) -> Foresight<'a, T> {
        let (server, gradients) = (RefCell::new(server), RefCell::default());
        Foresight { task, server, step, honest, threads, gradients }
    }

    /// The honest workers' mean loss on this round's batches, once the server has stepped with this aggregate.
    pub(super) fn loss(&self, aggregate: &[T]) -> Result<f64> {
        let mut update = aggregate.to_vec();
        self.server.borrow_mut().preview(&mut update, &self.step);
        let mut parameters = self.step.parameters.to_vec();
        descend(&mut parameters, self.step.pace.rate, &update);
        let mut gradients = self.gradients.borrow_mut();
        gradients.resize(self.honest.len() * parameters.len(), T::default());
        let out = RowsMut::new(&mut gradients, parameters.len());
        let losses = self.task.gradients(&parameters, &self.honest, out, self.threads)?;
        Ok(losses.iter().sum::<f64>() / losses.len() as f64)
    }
}

/// x ← x − γ·u.
pub(super) fn descend<T: Scalar>(parameters: &mut [T], rate: f64, update: &[T]) {
    for (parameter, &update) in parameters.iter_mut().zip(update) {
        *parameter = T::descend(*parameter, rate, update);
    }
}
