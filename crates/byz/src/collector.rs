//! Where messages come from when the workers are somewhere else.
//!
//! In a simulation the trainer computes every worker's gradient itself. A collector asks instead: the parameters go out, rows
//! come back, and some do not. It checks what it takes, so that a row that is there holds only admissible numbers.

use crate::{
    error::Result,
    kernels::Scalar,
    messages::{Message, Row},
    rows_mut::RowsMut,
};
use std::collections::BTreeMap;

/// Asks workers and waits for them.
pub trait Collector<T: Scalar>: Send {
    /// Writes the rows of the workers who answered; those of the others hold anything.
    fn collect(&mut self, question: &Question<'_, T>, rows: RowsMut<'_, T>) -> Result<Collected>;
}

/// What the workers of a round are asked.
pub struct Question<'a, T> {
    /// The round, from 1.
    pub round: u64,
    /// The model.
    pub parameters: &'a [T],
    /// Whether a round can be made of so many rows when so many workers were found invalid.
    pub enough: &'a dyn Fn(usize, usize) -> bool,
}

/// What came back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Collected {
    /// One entry per worker.
    pub arrivals: Vec<Arrival>,
    /// What came and was not looked at, by kind: it proves nothing about anybody.
    pub ignored: BTreeMap<&'static str, u64>,
}

/// What came of one worker.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrival {
    /// A row, with the loss of the batch behind it as the worker tells it.
    Row {
        /// Not to be trusted.
        loss: f64,
    },
    /// Something that certainly is from this worker and no row of this round; says why.
    Invalid(String),
    /// Nothing.
    Missing,
}

impl Arrival {
    /// What the defence is told, `row` being this worker's.
    pub(crate) fn message<'a, T>(&self, row: &'a [T]) -> Message<'a, T> {
        match self {
            Arrival::Row { .. } => Message::Row(Row::Slice(row)),
            Arrival::Invalid(why) => Message::Malformed(why.clone()),
            Arrival::Missing => Message::Missing,
        }
    }
}

impl Collected {
    /// Every worker's row, from a simulation.
    pub(crate) fn all(losses: Vec<f64>) -> Collected {
        let arrivals = losses.into_iter().map(|loss| Arrival::Row { loss }).collect();
        Collected { arrivals, ignored: BTreeMap::new() }
    }

    /// The mean loss of those of the first `honest` workers who answered. Where `doubted` of them may lie, without the
    /// losses that are far from all that an honest one can have told: one liar could write anything into the record.
    pub(crate) fn loss(&self, honest: usize, doubted: usize) -> f64 {
        let told = self.arrivals[..honest].iter().filter_map(|arrival| match arrival {
            Arrival::Row { loss } => Some(loss),
            _ => None,
        });
        let mut told: Vec<f64> = told.copied().collect();
        if doubted > 0 && told.len() > 2 * doubted {
            let mut sorted = told.clone();
            sorted.sort_by(f64::total_cmp);
            // Both lie between honest ones, whoever lies.
            let (low, high) = (sorted[doubted], sorted[told.len() - 1 - doubted]);
            let far = 1000.0 * (high - low);
            told.retain(|loss| (low - far..=high + far).contains(loss));
        }
        told.iter().sum::<f64>() / told.len() as f64
    }
}
