//! What a defence promises before anything is run, and how far the worst case really goes.
//!
//! - `constants`: robustness coefficients as published, as proved and as they exactly are
//! - `search`: messages that make a defence's error large, by hill climbing
//!
//! Definitions and proofs: docs/theory.md.

mod constants;
mod search;

pub use constants::{Constants, Definition, Setting};
pub use search::{Instance, search};
