//! To come.

use crate::exit::Outcome;

/// To come.
#[derive(clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments) -> Outcome {
    Ok(())
}
