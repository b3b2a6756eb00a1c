//! A network that tells digits apart, as a task: mean cross-entropy over the batch, accuracy in percent.
//!
//! A batch and a set to judge on are worked through in chunks of fixed size, whose sums are added in order: no bit depends
//! on the threads, and a workspace never grows.

use super::{
    Batch, Borrowed, Examples, Metrics, Objective, Pool, Split, Task,
    digits::{CLASSES, Digits, normalise},
    share_out,
    tally::Tally,
};
use crate::{
    error::{Error, Result},
    layout::Layout,
    nn::{Real, Smooth, cross_entropy, product::Into, uniform_by_fan_in},
    rows_mut::RowsMut,
};

/// Images at a time.
pub(super) const CHUNK: usize = 64;

/// A function from images to ten logits, with its gradient.
pub(super) trait Network<T: Real>: Send + Sync {
    /// Everything that is computed with, for `CHUNK` images.
    type Space: Send;

    fn layout(&self) -> Layout;

    /// Where training starts.
    fn start(&self, layout: &Layout, seed: u64) -> Vec<T> {
        uniform_by_fan_in(layout, seed)
    }

    fn space(&self) -> Self::Space;

    /// Called before the first chunk of a batch to train on: where random numbers start.
    fn begin(&self, _batch: &Batch<'_>, _space: &mut Self::Space) {}

    /// Where the images go.
    fn images<'s>(&self, space: &'s mut Self::Space) -> &'s mut [T];

    /// The logits of the first `samples` images; only a model in training drops out.
    fn forward<'s>(
        &self,
        parameters: &[T],
        samples: usize,
        training: bool,
        space: &'s mut Self::Space,
    ) -> &'s mut [T];

    /// The gradient, after `forward` and with the logits replaced by their gradient.
    fn backward(
        &self,
        parameters: &[T],
        samples: usize,
        space: &mut Self::Space,
        gradient: &mut [T],
        into: Into,
    );

    /// Multiplications and additions of one image's gradient.
    fn flops(&self) -> f64;
}

/// The task of training such a network.
pub(super) struct Classifier<T: Smooth, N: Network<T>> {
    network: N,
    layout: Layout,
    digits: Digits,
    spaces: Pool<N::Space>,
}

impl<T: Smooth, N: Network<T>> Classifier<T, N> {
    pub(super) fn new(network: N, digits: Digits) -> Self {
        Classifier { layout: network.layout(), network, digits, spaces: Pool::default() }
    }

    fn gradient(&self, parameters: &[T], batch: &Batch<'_>, out: &mut [T], space: &mut N::Space) -> f64 {
        let train = &self.digits.train;
        let weight = T::from_f64(1.0 / batch.examples.len() as f64);
        let mut loss = 0.0;
        self.network.begin(batch, space);
        for (index, chunk) in batch.examples.chunks(CHUNK).enumerate() {
            normalise(train, chunk.iter().copied(), self.network.images(space));
            let logits = self.network.forward(parameters, chunk.len(), true, space);
            let label = |sample: usize| {
                let label = usize::from(train.labels[chunk[sample]]);
                batch.labels.map_or(label, |poison| poison.apply(label, CLASSES))
            };
            loss += cross_entropy(logits, CLASSES, label, weight);
            let into = if index == 0 { Into::Replace } else { Into::Add };
            self.network.backward(parameters, chunk.len(), space, out, into);
        }
        loss / batch.examples.len() as f64
    }

    fn check(&self, parameters: &[T]) -> Result<()> {
        let (given, needed) = (parameters.len(), self.layout.dimension());
        let problem = || Error::Usage(format!("the model has {needed} parameters, not {given}"));
        if given == needed { Ok(()) } else { Err(problem()) }
    }
}

impl<T: Smooth, N: Network<T>> Task for Classifier<T, N> {
    type Scalar = T;

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn initial_parameters(&self, seed: u64) -> Vec<T> {
        self.network.start(&self.layout, seed)
    }

    fn examples(&self) -> Examples<'_> {
        let labels = &self.digits.train.labels;
        Examples { count: labels.len(), labels: Some(labels), classes: CLASSES }
    }

    fn objective(&self) -> Objective {
        Objective { metric: "accuracy", higher_is_better: true }
    }

    fn gradients(
        &self,
        parameters: &[T],
        batches: &[Batch<'_>],
        out: RowsMut<'_, T>,
        threads: usize,
    ) -> Result<Vec<f64>> {
        self.check(parameters)?;
        if out.count() != batches.len() || out.dimension() != self.layout.dimension() {
            return Err(Error::Usage("gradients need one row of the model's length per batch".into()));
        }
        if batches.iter().any(|batch| batch.examples.is_empty()) {
            return Err(Error::Usage(
                "a batch without examples has no gradient; give every worker some".into(),
            ));
        }
        let jobs = batches.iter().zip(out.into_rows()).collect();
        let work = |(batch, row): (&Batch<'_>, &mut [T]), space: &mut Borrowed<'_, N::Space>| {
            self.gradient(parameters, batch, row, space)
        };
        Ok(share_out(jobs, threads, || self.spaces.borrow(|| self.network.space()), work))
    }

    fn evaluate(&self, parameters: &[T], split: Split, threads: usize) -> Result<Metrics> {
        self.check(parameters)?;
        let images = self.digits.held_out(split)?;
        let count = images.labels.len();
        let work = |first: usize, space: &mut Borrowed<'_, N::Space>| {
            let samples = CHUNK.min(count - first);
            normalise(images, first..first + samples, self.network.images(space));
            let logits = self.network.forward(parameters, samples, false, space);
            Tally::new(logits, &images.labels[first..first + samples])
        };
        let starts = (0..count).step_by(CHUNK).collect();
        let tallies = share_out(starts, threads, || self.spaces.borrow(|| self.network.space()), work);
        Ok(tallies.into_iter().fold(Tally::default(), Tally::add).metrics())
    }

    fn flops(&self, batch: usize) -> f64 {
        batch as f64 * self.network.flops()
    }
}

#[cfg(test)]
mod golden;
#[cfg(test)]
mod tests;
