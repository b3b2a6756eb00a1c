//! Runs whose workers are elsewhere: a coordinator and workers that do not trust each other, with a NATS broker between them
//! that neither trusts with more than delivery.
//!
//! 1. The [`Coordinator`] owns the model, the rounds and the record. It is a [`byz::Collector`], so that everything after the
//!    collection of a round is the code of a simulation, bit for bit.
//! 2. A round is one broadcast of the model and one answer per member, both in signed [`frame`]s cut into chunks.
//! 3. The [`intake`] judges every frame before a byte of it reaches a row: *accepted*, *invalid* (signed by the member, and no
//!    answer), or *ignored* (it proves nothing about anybody).
//! 4. A [`worker`] says hello when it hears nothing and is told all it needs, so that any process may die at any time and come
//!    back.
//!
//! Keys, subjects and files are made by [`plan`]; nothing here reads more of a frame than its fixed layout says.

#![forbid(unsafe_code)]

pub mod bare;
pub mod broker;
mod coordinator;
pub mod credentials;
pub mod cut;
pub mod drill;
pub mod frame;
pub mod intake;
pub mod keys;
pub mod link;
mod membership;
mod memory;
pub mod model;
mod patience;
pub mod plan;
mod subjects;
pub mod worker;

pub use coordinator::{Coordinator, RunId};
pub use membership::{Membership, Momentum};
pub use subjects::Subjects;
