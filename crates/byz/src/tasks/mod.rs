//! Problems to train on. One task per file.
//!
//! A task computes stochastic gradients for all workers at once, because they share the parameters. A framework with a
//! GPU plugs in here and nowhere else.

mod char_gpt;
mod classifier;
mod digits;
mod logistic;
mod mnist_cnn;
mod mnist_mlp;
mod quartic;
mod tally;

pub use crate::sharing::{Borrowed, Pool, share_out};
use crate::{
    data::Directory, error::Result, kernels::Scalar, layout::Layout, registry::Entry, rows_mut::RowsMut,
    theory::Problem,
};
use serde::Serialize;

/// A problem: gradients at given parameters, and how good parameters are.
pub trait Task: Send + Sync {
    /// f32 for networks, f64 where differences are tiny.
    type Scalar: Scalar;

    /// The tensors of the parameter vector.
    fn layout(&self) -> &Layout;

    /// Where training starts.
    fn initial_parameters(&self, seed: u64) -> Vec<Self::Scalar>;

    /// The training examples that a partition cuts into shards; none for tasks without data.
    fn examples(&self) -> Examples<'_> {
        Examples { count: 0, labels: None, classes: 0 }
    }

    /// What `evaluate` measures.
    fn objective(&self) -> Objective;

    /// One stochastic gradient per batch, all at the same parameters, written to the rows of `out`; gives each batch's
    /// mean loss. No bit may depend on `threads`.
    fn gradients(
        &self,
        parameters: &[Self::Scalar],
        batches: &[Batch<'_>],
        out: RowsMut<'_, Self::Scalar>,
        threads: usize,
    ) -> Result<Vec<f64>>;

    /// How good the parameters are. No bit may depend on `threads`.
    fn evaluate(&self, parameters: &[Self::Scalar], split: Split, threads: usize) -> Result<Metrics>;

    /// Multiplications and additions of one worker's gradient, for benchmarks; zero if unknown.
    fn flops(&self, _batch: usize) -> f64 {
        0.0
    }
}

/// The training examples of a task.
#[derive(Clone, Copy, Debug)]
pub struct Examples<'a> {
    /// How many.
    pub count: usize,
    /// The class of each, where there are classes.
    pub labels: Option<&'a [u8]>,
    /// How many classes.
    pub classes: usize,
}

/// What one worker computes in one round.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// Whose noise, dropout and shift.
    pub worker: usize,
    /// The round, from 1.
    pub round: u64,
    /// The run's seed.
    pub seed: u64,
    /// Indices of training examples; empty for tasks without data.
    pub examples: &'a [usize],
    /// What the worker does to its labels, if it poisons them.
    pub labels: Option<LabelMap>,
}

/// How a worker poisons its labels, C classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelMap {
    /// y becomes C − 1 − y.
    Reverse,
    /// y becomes (y + c) mod C.
    Shift(usize),
}

impl LabelMap {
    /// The poisoned label.
    pub fn apply(self, label: usize, classes: usize) -> usize {
        match self {
            LabelMap::Reverse => classes - 1 - label,
            LabelMap::Shift(by) => (label + by % classes) % classes,
        }
    }
}

/// Which examples to judge on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// Held out of the training examples, for tuning.
    Validation,
    /// Never trained on.
    Test,
}

/// What a task's metric is called and which way is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Objective {
    /// `accuracy`, `perplexity`, `gradient_norm`.
    pub metric: &'static str,
    /// Whether more is better.
    pub higher_is_better: bool,
}

/// How good some parameters are.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metrics {
    /// Mean loss.
    pub loss: f64,
    /// The task's metric.
    pub metric: f64,
    /// Length of the true gradient, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gradient_norm: Option<f64>,
    /// Accuracy per class, where there are classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_class: Option<Vec<f64>>,
}

/// What a task may depend on besides its own parameters.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// All workers; the last `byzantine` of them are.
    pub workers: usize,
    /// Byzantine workers.
    pub byzantine: usize,
    /// The run's seed.
    pub seed: u64,
    /// Where data sets are.
    pub data: &'a Directory,
}

/// A task's checked parameters; opening it reads the data.
pub trait Spec: Send + Sync {
    /// Reads the data and makes the task.
    fn open(&self, setting: &Setting<'_>) -> Result<AnyTask>;
    /// Numbers per message, where they are known without the data.
    fn dimension(&self) -> Option<usize> {
        None
    }
    /// What the convergence theorem knows of it as a function of L₁, where that has a closed form.
    fn problem(&self, _honest: usize) -> Option<Box<dyn Fn(f64) -> Problem>> {
        None
    }
}

/// A task of either number type.
pub enum AnyTask {
    /// Networks.
    F32(Box<dyn Task<Scalar = f32>>),
    /// Small exact problems.
    F64(Box<dyn Task<Scalar = f64>>),
}

/// Every task.
pub static TABLE: &[Entry<dyn Spec>] =
    &[quartic::ENTRY, logistic::ENTRY, mnist_mlp::ENTRY, mnist_cnn::ENTRY, char_gpt::ENTRY];
