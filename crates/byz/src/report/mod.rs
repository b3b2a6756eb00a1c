//! Tables of runs: pure functions of records.

mod format;
mod runs;
mod table;

pub use format::Format;
pub use runs::{Run, load};
pub use table::{Deviation, Group, Measure, Table, group};
