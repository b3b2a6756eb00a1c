//! A small GPT that predicts the next character.
//!
//! 4 pre-norm layers, 128 wide, 4 heads, blocks of 128 characters, learned positions, tied embeddings, biases everywhere but in
//! the head, dropout after the embeddings, in the attention and after both projections; weights N(0, 0.02²), biases
//! zero, gains one; 818,048 parameters with the 65 characters of tinyshakespeare.
//!
//! A training example is a block of consecutive characters; it has no label to poison. The metric is
//! the perplexity exp(mean loss) on the first 768 validation blocks, those that the released code of Byz-NSGDM reaches: its
//! loader drops the last incomplete batch of 256. There is no third part: validation and test are the same text.
//! `masks=frozen` gives all workers the same dropout masks in all rounds, as that code does on a GPU.
//! Cost: 45.5 GFLOP for the gradient of 64 blocks.
//! Reference: Radford et al.: "Language models are unsupervised multitask learners", 2019.

mod linear;
mod model;
mod settings;
mod shape;
mod text;
mod workspace;

use super::{
    AnyTask, Batch, Examples, LabelMap, Metrics, Objective, Pool, Setting, Spec, Split, Task, share_out,
};
use crate::{
    data,
    error::{Error, Result},
    layout::Layout,
    nn::{Masks, Smooth, cross_entropy},
    random::Stream,
    registry::{Entry, Properties},
    rows_mut::RowsMut,
};
use model::{Model, Pass};
use settings::Settings;
use shape::Shape;
use text::{Part, Text};
use workspace::{CHUNK, Workspace};

pub(super) const ENTRY: Entry<dyn Spec> = Entry {
    name: "char_gpt",
    aliases: &["gpt"],
    summary: "a small GPT that predicts the next character of Shakespeare",
    parameters: settings::PARAMETERS,
    requirement: "",
    reference: "Radford et al., Language models are unsupervised multitask learners, 2019",
    properties: Properties::NONE,
    build: |arguments| Ok(Box::new(Settings::new(arguments)?)),
};

impl Spec for Settings {
    fn open(&self, setting: &Setting<'_>) -> Result<AnyTask> {
        let text = data::shakespeare(setting.data)?;
        Ok(AnyTask::F32(Box::new(CharGpt::<f32>::new(*self, &text)?)))
    }
}

/// The task; f64 checks the gradients of f32.
struct CharGpt<T> {
    settings: Settings,
    layout: Layout,
    model: Model,
    text: Text,
    pool: Pool<Workspace<T>>,
}

impl<T: Smooth> CharGpt<T> {
    fn new(settings: Settings, text: &str) -> Result<CharGpt<T>> {
        let text = Text::new(text, settings.shape.block)?;
        let shape = Shape { vocabulary: text.vocabulary, ..settings.shape };
        let (layout, places) = shape.layout();
        let model = Model { shape, places, gelu: settings.gelu };
        Ok(CharGpt { settings, layout, model, text, pool: Pool::default() })
    }

    fn workspace(&self) -> Workspace<T> {
        Workspace::new(&self.model.shape)
    }

    fn load(&self, space: &mut Workspace<T>, part: Part, blocks: &[usize], labels: Option<LabelMap>) {
        space.inputs.clear();
        space.targets.clear();
        for &block in blocks {
            let (inputs, targets) = self.text.block(part, block);
            space.inputs.extend_from_slice(inputs);
            let poison = |&target: &u32| match labels {
                Some(map) => map.apply(target as usize, self.text.vocabulary) as u32,
                None => target,
            };
            space.targets.extend(targets.iter().map(poison));
        }
    }

    /// The logits become `weight` times their gradient; gives the sum of the losses.
    fn loss(&self, space: &mut Workspace<T>, weight: f64) -> f64 {
        let (classes, targets) = (self.model.shape.vocabulary, &space.targets);
        let logits = &mut space.logits[..targets.len() * classes];
        cross_entropy(logits, classes, |token| targets[token] as usize, T::from_f64(weight))
    }

    fn gradient(&self, parameters: &[T], batch: &Batch<'_>, space: &mut Workspace<T>, out: &mut [T]) -> f64 {
        let (worker, round) = if self.settings.frozen { (0, 0) } else { (batch.worker as u64, batch.round) };
        let stream = Stream::new(batch.seed, "char_gpt dropout", worker, round);
        let masks = Masks::new(stream, self.settings.dropout, self.model.shape.sites());
        let masks = (self.settings.dropout > 0.0).then_some(&masks);
        let share = 1.0 / (batch.examples.len() * self.text.block) as f64;
        out.fill(T::ZERO);
        let mut loss = 0.0;
        for (chunk, blocks) in batch.examples.chunks(CHUNK).enumerate() {
            self.load(space, Part::Training, blocks, batch.labels);
            let pass = Pass { parameters, masks, first: chunk * CHUNK };
            self.model.forward(&pass, space);
            loss += self.loss(space, share);
            self.model.backward(&pass, space, out);
        }
        loss * share
    }

    fn check(&self, parameters: &[T], batches: &[Batch<'_>], rows: usize) -> Result<()> {
        let blocks = self.text.count(Part::Training);
        let usage = |text: String| Err(Error::Usage(text));
        if parameters.len() != self.layout.dimension() || rows != batches.len() {
            return usage("char_gpt: parameters and rows must fit the layout and the batches".into());
        }
        for batch in batches {
            if batch.examples.is_empty() {
                return usage(format!("char_gpt: worker {} has no examples", batch.worker));
            }
            if let Some(example) = batch.examples.iter().find(|&&example| example >= blocks) {
                return usage(format!("char_gpt: example {example} of {blocks}"));
            }
        }
        Ok(())
    }
}

impl<T: Smooth> Task for CharGpt<T> {
    type Scalar = T;

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn initial_parameters(&self, seed: u64) -> Vec<T> {
        let mut stream = Stream::new(seed, "char_gpt parameters", 0, 0);
        let mut parameters = Vec::with_capacity(self.layout.dimension());
        for tensor in self.layout.tensors() {
            let is_gain = tensor.name.ends_with("norm.weight");
            let mut draw = || match tensor.shape.len() {
                1 if is_gain => T::ONE,
                1 => T::ZERO,
                _ => T::from_f64(0.02 * stream.normal()),
            };
            parameters.extend((0..tensor.len()).map(|_| draw()));
        }
        parameters
    }

    fn examples(&self) -> Examples<'_> {
        Examples { count: self.text.count(Part::Training), labels: None, classes: 0 }
    }

    fn objective(&self) -> Objective {
        Objective { metric: "perplexity", higher_is_better: false }
    }

    fn gradients(
        &self,
        parameters: &[T],
        batches: &[Batch<'_>],
        out: RowsMut<'_, T>,
        threads: usize,
    ) -> Result<Vec<f64>> {
        self.check(parameters, batches, out.count())?;
        let jobs = batches.iter().zip(out.into_rows()).collect();
        Ok(share_out(
            jobs,
            threads,
            || self.pool.borrow(|| self.workspace()),
            |(batch, row), space| self.gradient(parameters, batch, space, row),
        ))
    }

    fn evaluate(&self, parameters: &[T], _: Split, threads: usize) -> Result<Metrics> {
        let available = self.text.count(Part::Validation);
        let count = self.settings.validation.map_or(available, |count| count.min(available));
        let blocks: Vec<usize> = (0..count).collect();
        let jobs = blocks.chunks(CHUNK).collect();
        let losses = share_out(
            jobs,
            threads,
            || self.pool.borrow(|| self.workspace()),
            |blocks, space| {
                self.load(space, Part::Validation, blocks, None);
                self.model.forward(&Pass { parameters, masks: None, first: 0 }, space);
                self.loss(space, 1.0)
            },
        );
        let loss = losses.iter().sum::<f64>() / (count * self.text.block) as f64;
        Ok(Metrics { loss, metric: loss.exp(), gradient_norm: None, per_class: None })
    }

    fn flops(&self, batch: usize) -> f64 {
        self.model.shape.flops(batch * self.text.block)
    }
}

#[cfg(test)]
mod tests;
