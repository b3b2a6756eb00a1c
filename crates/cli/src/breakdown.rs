//! `byz breakdown`: a sweep over the true number of Byzantine workers and the tolerance, with its map.

use crate::{exit::Outcome, sweep};
use byz::{
    files,
    report::{html, load},
};
use std::io::{self, Write};

/// Map what happens as liars pass the tolerance; the grid's own axes, such as attack, give a map each
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    sweep: sweep::Arguments,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let directory = sweep::sweep(&arguments.sweep, |grid| grid.break_down())?;
    let page = directory.join("report.html");
    files::write_whole(&page, html(&load(&[&directory])?, "byz: breakdown")?.as_bytes())?;
    if !arguments.sweep.json {
        writeln!(io::stdout().lock(), "\nreport: {}", page.display())?;
    }
    Ok(())
}
