//! From a configuration to a record: a run is keyed by the hash of its configuration and can be cut off at any moment.

mod checkpoint;
mod config;
mod draft;
mod grid;
mod index;
mod member;
mod number;
mod parts;
mod presentation;
mod presets;
mod record;
mod runner;
mod setup;
mod sweep;
mod tuning;

pub use config::{ByzantineData, Config, DataOrder, Diagnostics};
pub use draft::Draft;
pub use grid::{Cell, Grid};
pub use index::{Index, Indexed};
pub use member::{AnyMember, Member, open_member};
pub use presentation::Presentation;
pub use presets::{PRESETS, Preset};
pub use record::{Line, Record, Status, Summary};
pub use runner::{Ended, Watch, run, run_opened};
pub use setup::{Opened, open, trainer};
pub use sweep::{Job, Settled, Sweep};
pub use tuning::Tuning;
