//! A task that costs next to nothing, so that what is measured is the network: a bowl with its lowest point elsewhere for
//! every worker.

use byz::{
    Layout, Result, RowsMut,
    tasks::{Batch, Metrics, Objective, Split, Task},
};

pub(super) struct Flat(Layout);

impl Flat {
    pub(super) fn new(dimension: usize) -> Flat {
        Flat(Layout::vector("x", dimension))
    }
}

impl Task for Flat {
    type Scalar = f32;

    fn layout(&self) -> &Layout {
        &self.0
    }

    fn initial_parameters(&self, _: u64) -> Vec<f32> {
        vec![1.0; self.0.dimension()]
    }

    fn objective(&self) -> Objective {
        Objective { metric: "loss", higher_is_better: false }
    }

    fn gradients(
        &self,
        parameters: &[f32],
        batches: &[Batch<'_>],
        mut out: RowsMut<'_, f32>,
        _: usize,
    ) -> Result<Vec<f64>> {
        for (batch, row) in batches.iter().zip(out.iter_mut()) {
            let shift = 1e-3 * batch.worker as f32;
            row.iter_mut().zip(parameters).for_each(|(gradient, parameter)| *gradient = parameter - shift);
        }
        Ok(vec![0.0; batches.len()])
    }

    fn evaluate(&self, _: &[f32], _: Split, _: usize) -> Result<Metrics> {
        Ok(Metrics { loss: 0.0, metric: 0.0, gradient_norm: None, per_class: None })
    }
}
