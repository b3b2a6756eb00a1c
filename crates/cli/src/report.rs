//! `byz report`: tables of the runs below some directories.

use crate::{exit::Outcome, text::wrap};
use byz::{
    Error,
    report::{Columns, Deviation, Format, Measure, Study, Table, load, pairs},
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
    /// metric, best_metric, loss, training_loss, aggregate_norm or gradient_norm [default: as the sweep says]
    #[arg(long, value_name = "NAME")]
    measure: Option<String>,
    /// Divide by the number of runs less one
    #[arg(long)]
    sample_deviation: bool,
    /// Also compare the last label of the last axis with the others, seed by seed
    #[arg(long)]
    pairs: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let format = Format::find(&arguments.format)?;
    let measure = arguments.measure.as_deref().map(Measure::find).transpose()?;
    let studies = load(&arguments.directories)?;
    if studies.iter().all(Study::is_empty) {
        return Err(Error::Usage("there is no finished run below these directories".into()).into());
    }
    let deviation = if arguments.sample_deviation { Deviation::Sample } else { Deviation::Population };
    let mut out = io::stdout().lock();
    for (index, study) in studies.iter().enumerate() {
        let columns = match measure {
            Some(measure) => Columns { measure, beside: None, deviation },
            None => study.columns(deviation)?,
        };
        if index > 0 {
            writeln!(out)?;
        }
        write(&mut out, study, columns, format)?;
        if arguments.pairs {
            writeln!(out)?;
            out.write_all(format.write(&compared(study, columns.measure)).as_bytes())?;
        }
    }
    Ok(())
}

/// A study's table, under its title where people read it.
pub(crate) fn write(out: &mut impl Write, study: &Study, columns: Columns, format: Format) -> io::Result<()> {
    let title = title(study);
    let table = match format {
        Format::Csv => study.numbers(columns),
        // The labels of a sweep are short; the columns of 80 are few.
        Format::Text if !study.name.is_empty() => study.table(columns).joined(study.axes.len()),
        _ => study.table(columns),
    };
    match format {
        Format::Text if !title.is_empty() => out.write_all((wrap("", 0, &title) + "\n").as_bytes())?,
        Format::Markdown if !title.is_empty() => writeln!(out, "**{title}**\n")?,
        _ => {}
    }
    out.write_all(format.write(&table).as_bytes())
}

/// What the table is, in what unit, over how many runs.
fn title(study: &Study) -> String {
    let title = &study.report.title;
    let runs = study.runs_each().map_or(String::new(), |runs| format!("runs: {runs}"));
    let notes: Vec<String> = [study.unit(), runs].into_iter().filter(|note| !note.is_empty()).collect();
    match (title.is_empty(), notes.is_empty()) {
        (true, _) => notes.join("; "),
        (false, true) => title.clone(),
        (false, false) => format!("{title} ({})", notes.join("; ")),
    }
}

/// Differences with their intervals.
pub(crate) fn compared(study: &Study, measure: Measure) -> Table {
    let mut heading = study.axes[..study.axes.len().saturating_sub(1)].to_vec();
    heading.extend(["difference", "mean", "95 % interval", "seeds", ""].map(String::from));
    let lines = pairs(study, measure).into_iter().map(|pair| {
        let (low, high) = (pair.difference - pair.margin, pair.difference + pair.margin);
        let interval = if pair.margin.is_finite() { format!("{low:.2} to {high:.2}") } else { "-".into() };
        let verdict = if pair.decided() { "decided" } else { "undecided" };
        let mut line = pair.labels;
        line.push(format!("{} − {}", pair.first, pair.second));
        line.push(format!("{:.2}", pair.difference));
        line.extend([interval, pair.seeds.to_string(), verdict.into()]);
        line
    });
    Table { lines: lines.collect(), heading }
}
