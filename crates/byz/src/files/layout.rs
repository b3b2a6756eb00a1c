//! What the messages of a round must look like, and how one differs from it.

use super::{float::Float, quoted};
use std::ops::Range;

/// The form of a message in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// A vector of numbers.
    Vector {
        /// Their type.
        float: Float,
        /// How many.
        length: usize,
    },
    /// The tensors of a checkpoint, sorted by name and laid end to end.
    Checkpoint(Vec<Tensor>),
}

/// One tensor of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Its key.
    pub name: String,
    /// Its lengths, outermost first.
    pub shape: Vec<usize>,
    /// Its number type.
    pub float: Float,
    /// Its place in the whole vector.
    pub columns: Range<usize>,
}

impl Layout {
    /// Numbers in a message.
    pub fn length(&self) -> usize {
        match self {
            Layout::Vector { length, .. } => *length,
            Layout::Checkpoint(tensors) => tensors.last().map_or(0, |tensor| tensor.columns.end),
        }
    }

    /// The number type to compute with: float64 as soon as one tensor has it, else float32.
    pub fn computed(&self) -> Float {
        let double = match self {
            Layout::Vector { float, .. } => *float == Float::F64,
            Layout::Checkpoint(tensors) => tensors.iter().any(|tensor| tensor.float == Float::F64),
        };
        if double { Float::F64 } else { Float::F32 }
    }

    /// The tensors of a checkpoint; a vector has none.
    pub fn tensors(&self) -> &[Tensor] {
        match self {
            Layout::Vector { .. } => &[],
            Layout::Checkpoint(tensors) => tensors,
        }
    }

    /// The tensor that holds a coordinate, and which of its elements that is.
    pub fn locate(&self, coordinate: usize) -> Option<(&Tensor, usize)> {
        let tensors = self.tensors();
        let tensor = tensors.get(tensors.partition_point(|tensor| tensor.columns.end <= coordinate))?;
        Some((tensor, coordinate - tensor.columns.start))
    }

    /// How another layout differs from this one, unless only by the length of a vector: that has its own verdict.
    pub fn difference(&self, found: &Layout) -> Option<String> {
        match (self, found) {
            (Layout::Vector { float: expected, .. }, Layout::Vector { float, .. }) => (float != expected)
                .then(|| format!("its dtype is {}, expected {}", float.name(), expected.name())),
            (Layout::Vector { .. }, Layout::Checkpoint(_)) => {
                Some("a checkpoint, expected a .npy vector".into())
            }
            (Layout::Checkpoint(_), Layout::Vector { .. }) => {
                Some("a .npy vector, expected a checkpoint (.safetensors)".into())
            }
            (Layout::Checkpoint(expected), Layout::Checkpoint(found)) => tensor_differences(expected, found),
        }
    }
}

/// The first difference and how many more there are.
fn tensor_differences(expected: &[Tensor], found: &[Tensor]) -> Option<String> {
    let of = |tensors: &[Tensor], name: &str| {
        tensors.binary_search_by(|tensor| tensor.name.as_str().cmp(name)).ok()
    };
    let missing_or_changed = expected.iter().filter_map(|expected| match of(found, &expected.name) {
        None => Some(format!("tensor {} is missing", quoted(&expected.name))),
        Some(index) => found[index].difference_from(expected),
    });
    let extra = found
        .iter()
        .filter(|found| of(expected, &found.name).is_none())
        .map(|found| format!("tensor {} is not expected", quoted(&found.name)));
    let mut all = missing_or_changed.chain(extra);
    let first = all.next()?;
    Some(match all.count() {
        0 => first,
        more => format!("{first} (and {more} more differences)"),
    })
}

impl Tensor {
    fn difference_from(&self, expected: &Tensor) -> Option<String> {
        let name = quoted(&self.name);
        if self.shape != expected.shape {
            return Some(format!("tensor {name} has shape {:?}, expected {:?}", self.shape, expected.shape));
        }
        let (found, wanted) = (self.float, expected.float);
        (found != wanted).then(|| format!("tensor {name} is {}, expected {}", found.name(), wanted.name()))
    }
}
