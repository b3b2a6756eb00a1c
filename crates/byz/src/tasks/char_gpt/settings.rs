//! The parameters of the task.

use super::shape::Shape;
use crate::{
    error::Result,
    nn::gelu::Gelu,
    registry::{Arguments, Kind, Parameter},
};

/// What the configuration says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// The vocabulary is the text's.
    pub(super) shape: Shape,
    pub(super) gelu: Gelu,
    pub(super) dropout: f64,
    /// The same masks for all workers in all rounds.
    pub(super) frozen: bool,
    /// Validation blocks to judge on; all if none.
    pub(super) validation: Option<usize>,
}

/// No model on one machine is larger in any direction.
const LARGEST: usize = 1 << 14;

const fn count(name: &'static str, default: &'static str, summary: &'static str) -> Parameter {
    Parameter { name, default, summary, kind: Kind::Count { least: 1 } }
}

pub(super) const PARAMETERS: &[Parameter] = &[
    count("layers", "4", "pairs of attention and feed-forward"),
    count("width", "128", "numbers per character"),
    count("heads", "4", "attention heads; they divide the width"),
    count("block", "128", "characters per example"),
    Parameter {
        name: "gelu",
        default: "erf",
        summary: "the activation: exact, or approximated with tanh",
        kind: Kind::Choice(&["erf", "tanh"]),
    },
    Parameter {
        name: "dropout",
        default: "0.1",
        summary: "share of activations dropped in training, below 1",
        kind: Kind::NonNegative,
    },
    Parameter {
        name: "masks",
        default: "fresh",
        summary: "dropout masks: new ones, or the same for all workers in all rounds",
        kind: Kind::Choice(&["fresh", "frozen"]),
    },
    Parameter {
        name: "validation",
        default: "768",
        summary: "validation blocks that the perplexity is taken over, or all",
        kind: Kind::CountOr { least: 1, words: &["all"] },
    },
];

impl Settings {
    pub(super) fn new(arguments: &Arguments) -> Result<Settings> {
        let size = |name, default| arguments.count(name).unwrap_or(default);
        let shape = Shape {
            layers: size("layers", 4),
            width: size("width", 128),
            heads: size("heads", 4),
            block: size("block", 128),
            vocabulary: 0,
        };
        for (name, size) in
            [("layers", shape.layers), ("width", shape.width), ("heads", shape.heads), ("block", shape.block)]
        {
            if size > LARGEST {
                return Err(arguments.reject(name, "a number up to 16384"));
            }
        }
        if !shape.width.is_multiple_of(shape.heads) {
            return Err(arguments.reject("heads", "a divisor of width"));
        }
        let dropout = arguments.number("dropout").unwrap_or(0.1);
        if dropout >= 1.0 {
            return Err(arguments.reject("dropout", "a share below 1"));
        }
        let gelu = if arguments.choice("gelu") == Some("tanh") { Gelu::Tanh } else { Gelu::Erf };
        let validation = match arguments.choice("validation") {
            Some("all") => None,
            _ => Some(size("validation", 768)),
        };
        Ok(Settings { shape, gelu, dropout, frozen: arguments.choice("masks") == Some("frozen"), validation })
    }
}
