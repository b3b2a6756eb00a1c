//! Data sets: where they are, whether they are what they should be, and their numbers.
//!
//! The library never downloads: it reads a [`Directory`] and names the command that fills it. Every file of the
//! [`MANIFEST`] is checked by its SHA-256 before a number of it is used.

mod directory;
mod idx;
mod manifest;
mod mnist;
mod sampler;
mod shakespeare;

pub use directory::Directory;
pub use manifest::{File, MANIFEST};
pub use mnist::{Mnist, Part, mnist};
pub use sampler::{Order, Sampler};
pub use shakespeare::shakespeare;
