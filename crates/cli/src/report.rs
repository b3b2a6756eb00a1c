//! `byz report`: tables of the runs below some directories.

use crate::exit::Outcome;
use byz::{
    Error,
    report::{Deviation, Format, Measure, group, load},
};
use std::{
    io::{self, Write},
    path::PathBuf,
};

/// Tabulate runs: mean ± standard deviation over seeds.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Run or sweep directories
    #[arg(required = true)]
    directories: Vec<PathBuf>,
    /// text, markdown, latex or csv
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: String,
    /// metric, best_metric, loss, training_loss, aggregate_norm or gradient_norm
    #[arg(long, value_name = "NAME", default_value = "metric")]
    measure: String,
    /// Divide by the number of runs less one
    #[arg(long)]
    sample_deviation: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let format = Format::find(&arguments.format)?;
    let runs = load(&arguments.directories)?;
    if runs.is_empty() {
        return Err(Error::Usage("there is no finished run below these directories".into()).into());
    }
    let table = group(&runs, Measure::find(&arguments.measure)?)?;
    let deviation = if arguments.sample_deviation { Deviation::Sample } else { Deviation::Population };
    io::stdout().lock().write_all(format.write(&table, deviation).as_bytes())?;
    Ok(())
}
