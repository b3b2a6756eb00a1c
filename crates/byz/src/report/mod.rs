//! What runs tell, as pure functions of their records: tables, comparisons with what was published, and between cells,
//! figures, and a page with all of it.

mod expected;
mod figure;
mod format;
mod html;
mod measure;
mod pairs;
mod runs;
mod study;
mod table;

pub use expected::Expected;
pub use figure::{Figure, figures};
pub use format::Format;
pub use html::html;
pub use measure::{Deviation, Measure, mean};
pub use pairs::{Pair, pairs};
pub use runs::{Evaluation, Point, Run, Training};
pub use study::{Study, StudyCell, load};
pub use table::{Agreement, Columns, Table, with_spread};
