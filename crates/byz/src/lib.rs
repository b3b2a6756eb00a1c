//! Byzantine-robust aggregation: one vector from many, some of them lies.
//!
//! An aggregation is three stages.
//!
//! 1. *Measure*: one pass over the n × d messages gives a [`Geometry`], the squared distances between them.
//! 2. *Plan*: pre-aggregators and the rule decide in n × n space, independent of d, of the number type and of the
//!    number of threads.
//! 3. *Execute*: one pass applies the [`plan`], a weighted combination or a rule per coordinate.
//!
//! A [`Defense`] does all of it and gives a verdict on every worker. The effective weights of the plan are the
//! diagnostics: who was trusted, by how much.
//!
//! ```
//! let rows = vec![vec![1.0f32, 2.0], vec![1.2, 2.1], vec![0.9, 1.8], vec![-50.0, 80.0]];
//! let robust = byz::aggregate(&rows, "geometric_median", 1)?;
//! assert!((robust[0] - 1.0).abs() < 0.3);
//! # Ok::<(), byz::Error>(())
//! ```

mod admission;
pub mod aggregators;
pub mod attacks;
pub mod catalogue;
mod collector;
mod crew;
pub mod data;
mod defense;
mod diagnostics;
mod engine;
mod error;
mod execute;
pub mod experiment;
pub mod expression;
pub mod files;
pub mod geometry;
mod inspect;
mod kernels;
mod layout;
mod majority;
mod matrix;
mod measure;
mod mersenne_twister;
mod messages;
pub mod nn;
mod numpy_random;
pub mod partitions;
pub mod plan;
pub mod pre_aggregators;
mod pytorch_random;
mod random;
pub mod registry;
pub mod report;
mod rows_mut;
pub mod schedules;
mod sharing;
mod spectral;
pub mod tasks;
pub mod theory;
mod trainer;
pub mod transforms;
mod verdict;

pub use collector::{Arrival, Collected, Collector, Question};
pub use defense::{Aggregate, Defense, MixedMessages, Options, Requirements, Round, mixing_of};
pub use diagnostics::{Envelope, Estimates, Round as RoundReport};
pub use engine::{Engine, Progress};
pub use error::{Error, Kind, Refusal, Result};
pub use execute::{SHARE_SAMPLE, execute};
pub use geometry::Geometry;
pub use kernels::{Kernels, Scalar, coordinate::CoordinateRule};
pub use layout::{Layout, Role, Tensor};
pub use matrix::Matrix;
pub use measure::{Points, ReferencePoint, streaming_read};
pub use messages::{Message, Messages, Row, Rows, Stored, Strided};
pub use random::Stream;
pub use rows_mut::RowsMut;
pub use trainer::{Spent, Trainer};
pub use verdict::{Reason, Verdict};

/// Aggregates rows in memory with a pipeline that tolerates `tolerance` Byzantine workers.
pub fn aggregate<T: Scalar, R: AsRef<[T]>>(rows: &[R], expression: &str, tolerance: usize) -> Result<Vec<T>> {
    let defense = Defense::new(expression, tolerance)?;
    Ok(defense.aggregate(&Messages::from_rows(rows), &Options::default())?.vector)
}
