//! `byz demo`: the synthetic block of the paper in seconds, with one picture. Needs nothing and leaves nothing.

mod chart;

use crate::{
    exit::{self, Outcome},
    experiments,
    reproduce::tell,
    run::directory_of,
    sweep::Plan,
};
use byz::{
    Error,
    report::{Study, load},
};
use chart::{Chart, Curve};
use std::{
    io::{self, IsTerminal, Write},
    time::{Duration, Instant},
};

/// Redo the paper's synthetic experiment here and now; needs no data and leaves no files.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Runs at a time [default: all processors]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Say nothing but the results
    #[arg(long, short)]
    quiet: bool,
}

/// What the picture shows.
const SHOWN: [&str; 2] = ["BF", "RFA"];

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let experiment = experiments::find("synthetic_released")
        .ok_or_else(|| Error::Internal("the experiment of the demo is missing".into()))?;
    let folder = tempfile::tempdir()?;
    exit::scratch(folder.path());
    let start = Instant::now();
    let plan = Plan {
        name: experiment.name,
        grid: &experiment.grid()?,
        select: &[],
        expected: experiment.expected,
        directory: folder.path(),
        data: &directory_of(None),
        jobs: arguments.jobs,
        checkpoint_every: Duration::from_secs(3600),
        quiet: arguments.quiet || !io::stderr().is_terminal(),
    };
    let settled = plan.run_unkept()?;
    if let Some(error) = settled.into_iter().find_map(|settled| settled.outcome.err()) {
        return Err(error.into());
    }
    let seconds = start.elapsed().as_secs_f64();
    let mut out = io::stdout().lock();
    for study in load(&[folder.path()])? {
        tell(&mut out, &study)?;
        writeln!(out, "\n{}", picture(&study)?)?;
    }
    writeln!(out, "20 workers, 3 of them lie; all of it took {seconds:.1} s.")?;
    writeln!(out, "To keep the records and a report: byz reproduce synthetic")?;
    Ok(())
}

/// The length of the aggregate over the rounds, for every optimiser under one attack and one rule.
fn picture(study: &Study) -> Result<String, Error> {
    let mut curves = Vec::new();
    for cell in study.cells.iter().filter(|cell| cell.labels[..2] == SHOWN) {
        let Some(run) = cell.runs.first() else { continue };
        let points = run.points()?;
        let lengths = points.iter().filter_map(|point| Some((point.round as f64, point.training.as_ref()?)));
        curves.push(Curve {
            label: cell.labels[2].clone(),
            points: lengths.map(|(round, training)| (round, training.aggregate_norm)).collect(),
        });
    }
    let title = format!("‖aggregate‖ over the rounds, {}, seed 0", SHOWN.join("/"));
    Ok(Chart { title, curves }.draw())
}
