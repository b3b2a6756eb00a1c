//! What a defence promises before anything is run, and how far the worst case really goes.
//!
//! - `constants`: robustness coefficients as published, as proved and as they exactly are
//! - `bound`: the convergence theorem, term by term
//! - `search`: messages that make a defence's error large, by hill climbing
//!
//! Definitions and proofs: docs/theory.md.

mod bound;
mod constants;
mod search;

pub use bound::{Form, Problem, Term, best_l1, largest_step};
pub use constants::{Constants, Counts, Definition};
pub use search::{Instance, Look, search};
