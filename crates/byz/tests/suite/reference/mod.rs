//! Plain, slow and obviously right: every rule on materialised vectors in f64.
//!
//! Nothing is shared with the library but its parser of expressions and its random numbers: mixed rows are made,
//! distances are computed directly, subsets are enumerated, eigenvalues come from Jacobi rotations and the geometric
//! median from a long Weiszfeld iteration.

#![allow(
    clippy::allow_attributes,
    dead_code,
    reason = "every test binary uses its own part of the reference"
)]

pub(crate) mod compare;
pub(crate) mod coordinate;
pub(crate) mod data;
pub(crate) mod distance;
pub(crate) mod eigen;
pub(crate) mod geometric_median;
pub(crate) mod mixers;
pub(crate) mod run;
pub(crate) mod source;
pub(crate) mod spectral;
pub(crate) mod vectors;

use byz::expression::{Call, parse};

/// Materialised rows.
pub(crate) type Rows = Vec<Vec<f64>>;

/// What a rule gives, whom it chose, and by how much.
pub(crate) struct Answer {
    pub(crate) vector: Vec<f64>,
    pub(crate) selected: Option<Vec<usize>>,
    /// The smallest relative gap at which some choice was made; 0 for a tie that the index resolved.
    pub(crate) margin: f64,
}

impl Answer {
    /// An answer without choices.
    pub(crate) fn smooth(vector: Vec<f64>) -> Answer {
        Answer { vector, selected: None, margin: f64::INFINITY }
    }

    /// The mean of some rows.
    pub(crate) fn mean_of(rows: &Rows, selected: Vec<usize>, margin: f64) -> Answer {
        Answer { vector: vectors::mean_of(rows, &selected), selected: Some(selected), margin }
    }
}

/// A parameter of a call, as text.
pub(crate) fn argument<'c>(call: &'c Call, name: &str) -> Option<&'c str> {
    call.arguments.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// A parameter of a call, as a number, or the default.
pub(crate) fn number(call: &Call, name: &str, default: f64) -> f64 {
    argument(call, name).map_or(default, |value| value.parse().expect("the tests write numbers"))
}

/// A whole pipeline; centred clipping starts at `center`.
pub(crate) fn evaluate(expression: &str, rows: &Rows, f: usize, center: Option<&[f64]>) -> Answer {
    let (rule, rows, margin) = mixed(expression, rows, f);
    let mut answer = decide(&rule, &rows, f, center);
    answer.margin = answer.margin.min(margin);
    answer
}

/// The rule of a pipeline, the rows that reach it, and the margin of the choices so far.
pub(crate) fn mixed(expression: &str, rows: &Rows, f: usize) -> (Call, Rows, f64) {
    let mut calls = parse(expression).expect("the tests write valid expressions");
    let rule = calls.pop().expect("a pipeline has a rule");
    let (mut rows, mut margin) = (rows.clone(), f64::INFINITY);
    for call in &calls {
        let (mixed, gap) = mixers::mix(call, &rows, f);
        (rows, margin) = (mixed, margin.min(gap));
    }
    (rule, rows, margin)
}

fn decide(call: &Call, rows: &Rows, f: usize, center: Option<&[f64]>) -> Answer {
    let n = rows.len();
    let everyone: Vec<usize> = (0..n).collect();
    match call.name.as_str() {
        "mean" => Answer::smooth(vectors::mean_of(rows, &everyone)),
        "median" => coordinate::each(rows, |column| (coordinate::median(column), f64::INFINITY)),
        "trimmed_mean" => {
            coordinate::each(rows, |column| (coordinate::trimmed_mean(column, f), f64::INFINITY))
        }
        "mean_around_median" => {
            coordinate::each(rows, |column| coordinate::mean_around_median(column, n - f))
        }
        "sign_majority" => coordinate::each(rows, coordinate::sign_majority),
        "krum" => distance::multi_krum(call, rows, f, Some(1)),
        "multi_krum" => distance::multi_krum(call, rows, f, None),
        "bulyan" => distance::bulyan(rows, f),
        "minimum_diameter_averaging" => distance::minimum_diameter_averaging(rows, f),
        "monna" => distance::monna(rows, f, number(call, "trusted", 0.0) as usize),
        "smea" => spectral::smea(rows, f),
        "caf" => spectral::caf(rows, f),
        "divide_and_conquer" => spectral::divide_and_conquer(call, rows, f),
        "geometric_median" => geometric_median::evaluate(call, rows),
        "centered_clipping" => {
            let (radius, times) = (number(call, "radius", 10.0), number(call, "iterations", 1.0));
            let origin = vec![0.0; rows[0].len()];
            let start = center.unwrap_or(&origin);
            Answer::smooth(distance::centered_clipping(rows, start, radius, times as usize))
        }
        other => panic!("no reference for {other}"),
    }
}
