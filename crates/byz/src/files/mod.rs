//! Messages in files: `.npy` arrays and `.safetensors` checkpoints, memory-mapped, never loaded whole.
//!
//! [`Inputs::open`] recognises the files, finds the layout that a strict majority of them share and gives one
//! message per worker. A row of a file is a [`FileRow`]: segments of one map, read or borrowed block by block,
//! whose pages are dropped when a pass is done with them. So n files of d numbers take O(block·n + d) of
//! memory.
//!
//! Whose fault a problem is decides what becomes of it. Bytes that make no sense are the worker's: a verdict. A file that
//! cannot be opened is the environment's: an error. Nothing in a file, however hostile, makes the library
//! panic or allocate more than the file is long.
//!
//! Files must not change while they are mapped: numbers may then be read twice with different
//! values, and a file that shrinks ends the process (the system's SIGBUS). Where workers may still write to their files, copy the
//! files out of their reach first.
//!
//! ```no_run
//! use byz::{Defense, Options, files::{Inputs, Open, write_npy}};
//! let inputs = Inputs::open(&["w0.npy".into(), "w1.npy".into(), "w2.npy".into()], Open::default())?;
//! let robust = Defense::new("median", 1)?.aggregate::<f32>(&inputs.messages(), &Options::default())?;
//! write_npy("robust.npy".as_ref(), &robust.vector)?;
//! # Ok::<(), byz::Error>(())
//! ```

mod atomic;
mod candidate;
mod checkpoint;
mod float;
#[cfg(test)]
mod hostile;
mod inputs;
mod inspect;
mod layout;
mod map;
mod metadata;
mod npy;
mod npy_header;
mod reference;
mod row;
mod write;

pub(crate) use atomic::replace;
pub use atomic::{discard_abandoned, discard_unfinished, write_whole};
pub use float::Float;
pub use inputs::{Inputs, MOST_WORKERS, Open, Worker};
pub use layout::{Layout, Tensor};
pub use row::FileRow;
pub use write::{write_npy, write_npy_matrix, write_safetensors};

/// A word from a file as it may be shown: no control characters, not too long.
pub(crate) fn quoted(text: &str) -> String {
    const MOST: usize = 60;
    let shown: String = text.chars().take(MOST).flat_map(char::escape_debug).collect();
    let more = if text.chars().nth(MOST).is_some() { "…" } else { "" };
    format!("'{shown}{more}'")
}
