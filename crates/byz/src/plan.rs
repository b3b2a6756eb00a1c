//! What planning decides: how the messages become the aggregate.

use crate::{geometry::Geometry, kernels::coordinate::CoordinateRule, matrix::Matrix};

/// How the rows that reach a rule become one vector.
#[derive(Clone, Debug, PartialEq)]
pub enum Finish {
    /// A weight for every point (messages, then reference points); they add up to one.
    Weights(Vec<f64>),
    /// A rule per coordinate, on all rows or on some.
    CoordinateWise {
        /// What to make of each column.
        rule: CoordinateRule,
        /// The rows that take part; all of them if none.
        rows: Option<Vec<usize>>,
    },
}

/// One thing a rule tells about its decision.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// A count, such as iterations.
    Count(usize),
    /// A number, such as the optimality gap.
    Number(f64),
    /// Rows, such as those selected.
    Rows(Vec<usize>),
    /// A number per row, such as scores.
    Numbers(Vec<f64>),
    /// A choice by name.
    Text(String),
}

/// What a rule decided and what it tells about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// How to finish.
    pub finish: Finish,
    /// Named details, shown by `--explain` and `--json`.
    pub notes: Vec<(&'static str, Note)>,
}

impl Decision {
    /// Weights on the points.
    pub fn weights(weights: Vec<f64>) -> Decision {
        Decision { finish: Finish::Weights(weights), notes: Vec::new() }
    }

    /// The same weight on each of `rows`, out of `points`.
    pub fn mean_of(rows: &[usize], points: usize) -> Decision {
        let mut weights = vec![0.0; points];
        rows.iter().for_each(|&row| weights[row] = 1.0 / rows.len() as f64);
        Decision::weights(weights)
    }

    /// A rule per coordinate on all rows.
    pub fn coordinate_wise(rule: CoordinateRule) -> Decision {
        Decision { finish: Finish::CoordinateWise { rule, rows: None }, notes: Vec::new() }
    }

    /// Adds a detail.
    pub fn note(mut self, name: &'static str, note: Note) -> Decision {
        self.notes.push((name, note));
        self
    }
}

/// A decision in terms of the measured points; all that execution needs.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    /// A sum of measured points.
    Combine {
        /// Effective weight of every measured point.
        weights: Vec<f64>,
        /// Whether some points lie so far away that others would be lost in a plain sum.
        stretched: bool,
    },
    /// A coordinate-wise rule on some measured rows, or on mixed rows.
    CoordinateWise {
        /// What to make of each column.
        rule: CoordinateRule,
        /// The rows it sees.
        rows: MixedRows,
    },
}

/// The rows that a coordinate-wise rule sees.
#[derive(Clone, Debug, PartialEq)]
pub enum MixedRows {
    /// Measured rows as they are.
    Selected(Vec<usize>),
    /// Combinations of measured points about a central row.
    Mixed {
        /// One row per mixed row, one column per measured point.
        mixing: Matrix,
        /// The measured row about which differences are taken.
        center: usize,
    },
}

impl Plan {
    /// Translates a decision about the points of a geometry into one about the `measured` points; `center` names a central
    /// measured row.
    pub fn new(
        decision: Finish,
        geometry: &Geometry<'_>,
        measured: &Geometry<'_>,
        center: impl Fn() -> usize,
    ) -> Plan {
        let combine = |weights| Plan::Combine { weights, stretched: measured.is_stretched() };
        let (rule, rows) = match (decision, geometry.mixing()) {
            (Finish::Weights(weights), None) => return combine(weights),
            (Finish::Weights(weights), Some(mixing)) => return combine(mixing.transpose_apply(&weights)),
            (Finish::CoordinateWise { rule, rows }, _) => (rule, rows),
        };
        // Reference points are no messages: they have no vote.
        let rows = rows.unwrap_or_else(|| (0..geometry.messages()).collect());
        let rows = match geometry.mixing() {
            None => MixedRows::Selected(rows),
            Some(mixing) => MixedRows::Mixed { mixing: mixing.select_rows(&rows), center: center() },
        };
        Plan::CoordinateWise { rule, rows }
    }
}
