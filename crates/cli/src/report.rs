//! `byz report`: tables, figures and a page of the runs below some directories.

mod figures;
#[cfg(feature = "png")]
mod png;

use crate::{exit::Outcome, text::wrap};
use byz::{
    Error, files,
    report::{Columns, Deviation, Format, Measure, Study, html, load},
};
use std::{
    io::{self, Write},
    path::PathBuf,
};

/// Tabulate and draw runs: mean ± standard deviation over seeds.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Run or sweep directories
    #[arg(required = true)]
    directories: Vec<PathBuf>,
    /// text, markdown, latex or csv [default: text]
    #[arg(long, value_name = "FORMAT", group = "table")]
    format: Option<String>,
    /// The same as --format markdown
    #[arg(long, group = "table")]
    markdown: bool,
    /// The same as --format latex
    #[arg(long, group = "table")]
    latex: bool,
    /// The same as --format csv
    #[arg(long, group = "table")]
    csv: bool,
    /// Write one page with tables, figures and configurations
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write each figure as SVG and PNG
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    /// metric, best_metric, mean_metric, loss, training_loss, aggregate_norm or gradient_norm [default: as the sweep says]
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
    let format = arguments.format()?;
    let measure = arguments.measure.as_deref().map(Measure::find).transpose()?;
    let studies = load(&arguments.directories)?;
    if studies.iter().all(Study::is_empty) {
        return Err(Error::Usage("there is no finished run below these directories".into()).into());
    }
    let mut out = io::stdout().lock();
    if let Some(path) = &arguments.html {
        files::write_whole(path, html(&studies, &page_title(&studies))?.as_bytes())?;
        writeln!(out, "{}", path.display())?;
    }
    if let Some(directory) = &arguments.figures {
        figures::write(&mut out, &studies, directory)?;
    }
    // Who asks for files gets a table only by asking for it too.
    let filed = arguments.html.is_some() || arguments.figures.is_some();
    match format {
        None if filed => Ok(()),
        format => tables(&mut out, arguments, &studies, measure, format.unwrap_or(Format::Text)),
    }
}

impl Arguments {
    fn format(&self) -> byz::Result<Option<Format>> {
        let flags = [(self.markdown, Format::Markdown), (self.latex, Format::Latex), (self.csv, Format::Csv)];
        match &self.format {
            Some(name) => Format::find(name).map(Some),
            None => Ok(flags.iter().find(|(set, _)| *set).map(|(_, format)| *format)),
        }
    }
}

/// What a page is called: the study's title if there is one study.
fn page_title(studies: &[Study]) -> String {
    match studies {
        [study] if !study.name.is_empty() => format!("byz: {}", study.name),
        _ => "byz: results".into(),
    }
}

fn tables(
    out: &mut impl Write,
    arguments: &Arguments,
    studies: &[Study],
    measure: Option<Measure>,
    format: Format,
) -> Outcome {
    let deviation = if arguments.sample_deviation { Deviation::Sample } else { Deviation::Population };
    for (index, study) in studies.iter().enumerate() {
        let columns = match measure {
            Some(measure) => Columns { measure, beside: None, deviation },
            None => study.columns(deviation)?,
        };
        if index > 0 {
            writeln!(out)?;
        }
        write(out, study, columns, format)?;
        if arguments.pairs {
            writeln!(out)?;
            let table = match format {
                Format::Csv => study.comparison_numbers(columns.measure),
                _ => study.comparisons(columns.measure),
            };
            out.write_all(format.write(&table).as_bytes())?;
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
