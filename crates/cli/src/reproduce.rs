//! `byz reproduce`: the paper's experiments, each number beside the published one.

mod estimate;

use crate::{
    exit::{Failure, Outcome},
    experiments::{self, BLOCKS, Experiment},
    report,
    run::directory_of,
    sweep::Plan,
};
use byz::{
    Error,
    experiment::Grid,
    files,
    report::{Agreement, Deviation, Format, Study, html, load},
};
use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

/// Redo the paper's experiments and set every number beside the published one.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// synthetic, mnist, lm, ablation, all, or the name of an experiment file such as theory
    #[arg(value_name = "BLOCK")]
    block: String,
    /// What the released code does, or what the text says
    #[arg(long, value_parser = ["released", "text"], default_value = "released")]
    protocol: String,
    /// Only these cells: attack/aggregator/optimizer, * means any
    #[arg(long, value_name = "CELL,…", value_delimiter = ',')]
    cells: Vec<String>,
    /// The first N seeds of the experiment, or more
    #[arg(long, value_name = "N")]
    seeds: Option<usize>,
    /// Fewer (or more) rounds than the experiment has
    #[arg(long, value_name = "N")]
    rounds: Option<u64>,
    /// Runs at a time [default: all processors]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Where the runs and the report are kept
    #[arg(long, value_name = "DIR", default_value = "reproduce")]
    out: PathBuf,
    /// Where data sets are [default: BYZ_DATA, else the cache directory]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Say nothing but errors and the tables
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let experiments = chosen(&arguments.block, &arguments.protocol)?;
    let data = directory_of(arguments.data_dir.as_ref());
    let (mut grids, mut foreign) = (Vec::new(), Vec::new());
    for experiment in experiments {
        let grid = adapted(experiment, arguments)?;
        match grid.select(&arguments.cells) {
            Ok(_) => grids.push((experiment, grid, directory(experiment, arguments))),
            Err(error) => foreign.push((experiment.name, error)),
        }
    }
    // Of all experiments, those are meant that have such cells.
    for (name, error) in foreign {
        if grids.is_empty() {
            return Err(error.into());
        }
        writeln!(io::stderr(), "{name}: not run, {error}")?;
    }
    let (mut failed, mut all) = (0, 0);
    for (experiment, grid, directory) in &grids {
        let plan = Plan {
            name: experiment.name,
            grid,
            select: &arguments.cells,
            // What was published is of the published length.
            expected: experiment.expected.filter(|_| arguments.rounds.is_none()),
            directory,
            data: &data,
            jobs: arguments.jobs,
            checkpoint_every: Duration::from_secs(30),
            quiet: arguments.quiet,
        };
        if !arguments.quiet {
            let about = estimate::of(&plan)?;
            writeln!(io::stderr(), "{about}")?;
        }
        let settled = plan.run()?;
        failed += settled.iter().filter(|settled| settled.outcome.is_err()).count();
        all += settled.len();
    }
    let directories: Vec<&Path> = grids.iter().map(|(_, _, directory)| directory.as_path()).collect();
    let studies = load(&directories)?;
    let mut out = io::stdout().lock();
    for (index, study) in studies.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        tell(&mut out, study)?;
    }
    if !studies.iter().all(Study::is_empty) {
        let page = arguments.out.join("report.html");
        files::write_whole(&page, html(&studies, "byz: the paper's experiments")?.as_bytes())?;
        writeln!(out, "\nreport: {}", page.display())?;
    }
    drop(out);
    match failed {
        0 => Ok(()),
        failed => Err(Failure::Sweep { failed, all }),
    }
}

/// The experiments of a block under a protocol.
fn chosen(block: &str, protocol: &str) -> Result<Vec<&'static Experiment>, Error> {
    let of_block = |block: &str| experiments::find(&format!("{block}_{protocol}"));
    let chosen: Vec<_> = match block {
        "all" => BLOCKS.iter().filter_map(|block| of_block(block)).collect(),
        other => of_block(other).or_else(|| experiments::find(other)).into_iter().collect(),
    };
    if chosen.is_empty() {
        let names: Vec<&str> = experiments::ALL.iter().map(|experiment| experiment.name).collect();
        return Err(Error::Usage(format!(
            "there is no experiment {block}; choose {}, all, or one of {}",
            BLOCKS.join(", "),
            names.join(", ")
        )));
    }
    Ok(chosen)
}

/// The grid with the seeds and rounds that were asked for.
fn adapted(experiment: &Experiment, arguments: &Arguments) -> Result<Grid, Error> {
    let mut grid = experiment.grid()?;
    if let Some(count) = arguments.seeds {
        if count == 0 {
            return Err(Error::Usage("--seeds must be at least 1".into()));
        }
        let more = (0..).filter(|seed| !grid.seeds.contains(seed));
        grid.seeds = grid.seeds.iter().copied().chain(more).take(count).collect();
    }
    if let Some(rounds) = arguments.rounds {
        grid.limit_rounds(rounds)?;
    }
    Ok(grid)
}

/// Runs of another length are no part of the same table.
fn directory(experiment: &Experiment, arguments: &Arguments) -> PathBuf {
    match arguments.rounds {
        None => arguments.out.join(experiment.name),
        Some(rounds) => arguments.out.join(format!("{}-{rounds}-rounds", experiment.name)),
    }
}

/// The table, and how many cells agree.
pub(crate) fn tell(out: &mut impl Write, study: &Study) -> Outcome {
    let columns = study.columns(Deviation::Population)?;
    report::write(out, study, columns, Format::Text)?;
    let verdicts: Vec<Agreement> =
        study.cells.iter().filter_map(|cell| study.agreement(cell, columns)).collect();
    let count = |wanted: Agreement| verdicts.iter().filter(|verdict| **verdict == wanted).count();
    if !verdicts.is_empty() {
        let run = verdicts.len() - count(Agreement::NotRun);
        writeln!(
            out,
            "\n{} of {run} cells agree with the {} values",
            count(Agreement::Agrees),
            study.report.expected_name
        )?;
    }
    Ok(())
}
