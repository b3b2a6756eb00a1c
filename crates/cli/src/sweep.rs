//! `byz sweep`: the product of lists, tuned, over seeds; one bar for all.

mod bar;

use crate::{
    exit::{self, Failure, Outcome},
    report,
    run::{directory_of, seconds},
    text::clean,
};
use bar::Bar;
use byz::{
    Engine, Error,
    data::Directory,
    experiment::{Cell, Config, Grid, Job, Record, Settled, Sweep, Watch},
    report::{Deviation, Format, load},
};
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

/// Run a grid of configurations; finished runs are skipped.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The grid
    grid: PathBuf,
    /// Only these cells, such as BF/RFA/*
    #[arg(long, value_name = "CELL,…", value_delimiter = ',')]
    cells: Vec<String>,
    /// Runs at a time [default: all processors]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Where the runs are kept [default: sweeps/NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Where data sets are [default: BYZ_DATA, else the cache directory]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Seconds between checkpoints
    #[arg(long, value_name = "S", default_value_t = 30.0)]
    checkpoint_seconds: f64,
    /// Say nothing but errors and the table
    #[arg(long, short)]
    quiet: bool,
    /// Print every run's summary as JSON, one per line, instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    sweep(arguments, |_| Ok(())).map(drop)
}

/// Runs the grid as `adapt` leaves it, and gives where the runs are.
pub(crate) fn sweep(
    arguments: &Arguments,
    adapt: impl FnOnce(&mut Grid) -> Result<(), Error>,
) -> Result<PathBuf, Failure> {
    let path = &arguments.grid;
    let text = fs::read_to_string(path)
        .map_err(|error| Error::Usage(format!("{}: cannot be read: {error}", path.display())))?;
    let mut grid =
        Grid::from_toml(&text).map_err(|error| Error::Usage(format!("{}: {error}", path.display())))?;
    adapt(&mut grid)?;
    let name = path.file_stem().unwrap_or_default();
    let directory = arguments.out.clone().unwrap_or_else(|| Path::new("sweeps").join(name));
    let data = directory_of(arguments.data_dir.as_ref());
    let expected = expected(&grid, path)?;
    let plan = Plan {
        name: &name.to_string_lossy(),
        grid: &grid,
        select: &arguments.cells,
        expected: expected.as_deref(),
        directory: &directory,
        data: &data,
        jobs: arguments.jobs,
        checkpoint_every: seconds(arguments.checkpoint_seconds)?,
        quiet: arguments.quiet,
    };
    let settled = plan.run()?;
    tell(&settled, &directory, arguments.json)?;
    Ok(directory)
}

/// The published numbers that the grid names, a file beside it.
fn expected(grid: &Grid, path: &Path) -> Result<Option<String>, Error> {
    let Some(name) = &grid.report.expected else { return Ok(None) };
    let file = path.with_file_name(name);
    fs::read_to_string(&file)
        .map(Some)
        .map_err(|error| Error::Usage(format!("{}: cannot be read: {error}", file.display())))
}

/// A sweep and how it is watched.
pub(crate) struct Plan<'a> {
    pub(crate) name: &'a str,
    pub(crate) grid: &'a Grid,
    pub(crate) select: &'a [String],
    pub(crate) expected: Option<&'a str>,
    pub(crate) directory: &'a Path,
    pub(crate) data: &'a Directory,
    pub(crate) jobs: Option<usize>,
    pub(crate) checkpoint_every: Duration,
    pub(crate) quiet: bool,
}

/// Processors of this machine.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl Plan<'_> {
    /// Runs at a time and threads of each: few runs share the processors that many would use up.
    pub(crate) fn shape(&self) -> Result<(usize, usize), Error> {
        let candidates = |cell: &Cell| cell.rates.len().max(self.grid.seeds.len());
        let most: usize = self.selected()?.iter().map(candidates).sum();
        let jobs = match self.jobs {
            Some(0) => return Err(Error::Usage("--jobs must be at least 1".into())),
            Some(jobs) => jobs,
            None => processors().min(most.max(1)),
        };
        Ok((jobs, (processors() / jobs).max(1)))
    }

    fn selected(&self) -> Result<Vec<Cell>, Error> {
        let chosen = self.grid.select(self.select)?;
        Ok(self
            .grid
            .cells()?
            .into_iter()
            .zip(chosen)
            .filter(|(_, chosen)| *chosen)
            .map(|(cell, _)| cell)
            .collect())
    }

    /// How many cells.
    pub(crate) fn cells(&self) -> Result<usize, Error> {
        Ok(self.selected()?.len())
    }

    /// The first configuration that will be run.
    pub(crate) fn first(&self) -> Result<Config, Error> {
        let config = |cell: &Cell| cell.config(self.grid.seeds[0], cell.rates.first().copied());
        let cells = self.selected()?;
        // What is refused is not run.
        cells.iter().map(config).find(Result::is_ok).unwrap_or_else(|| config(&cells[0]))
    }

    fn total_rounds(&self) -> Result<u64, Error> {
        let quiet = |_: &Job| unreachable!("nothing is run");
        self.sweep(1, &quiet, &|_| ()).total_rounds()
    }

    /// Rounds in all, and those that ended runs in the directory account for.
    pub(crate) fn rounds(&self) -> Result<(u64, u64), Error> {
        let (total, mut done) = (self.total_rounds()?, 0);
        for folder in ["runs", "tuning"] {
            for entry in fs::read_dir(self.directory.join(folder)).into_iter().flatten().flatten() {
                // A damaged summary is for the run to complain about.
                done +=
                    Record::at(&entry.path())?.summary().ok().flatten().map_or(0, |summary| summary.rounds);
            }
        }
        Ok((total, done.min(total)))
    }

    fn sweep<'a>(
        &'a self,
        jobs: usize,
        watch: &'a (dyn Fn(&Job) -> Watch<'a> + Sync),
        settled: &'a (dyn Fn(&Settled) + Sync),
    ) -> Sweep<'a> {
        Sweep {
            name: self.name,
            grid: self.grid,
            select: self.select,
            expected: self.expected,
            directory: self.directory,
            data: self.data,
            jobs,
            watch,
            settled,
        }
    }

    /// Runs what is missing, with one bar for all.
    pub(crate) fn run(&self) -> Result<Vec<Settled>, Error> {
        exit::resumable();
        self.run_unkept()
    }

    /// The same, without a promise that an interrupted command would go on.
    pub(crate) fn run_unkept(&self) -> Result<Vec<Settled>, Error> {
        let names = self.grid.cells()?.iter().map(Cell::name).collect();
        let bar = Bar::new(self.quiet, names, self.total_rounds()?);
        let settled = self.watched(&bar);
        bar.clear();
        settled
    }

    fn watched(&self, bar: &Bar) -> Result<Vec<Settled>, Error> {
        let warn = |message: &str| bar.say(&format!("byz: warning: {}", clean(message)));
        let progress = |_: u64, _: &_, _: Option<&_>| bar.advance(1);
        let (jobs, threads) = self.shape()?;
        let watch = |_: &Job| Watch {
            engine: Engine { threads, ..Engine::default() },
            checkpoint_every: self.checkpoint_every,
            checkpoint_rounds: None,
            progress: &progress,
            warn: &warn,
            stop: &|| false,
        };
        let settled = |settled: &Settled| bar.settle(settled);
        self.sweep(jobs, &watch, &settled).run()
    }
}

fn tell(settled: &[Settled], directory: &Path, json: bool) -> Outcome {
    let failed = settled.iter().filter(|settled| settled.outcome.is_err()).count();
    let printed = print(settled, directory, json);
    if failed > 0 {
        // A table that cannot be made does not hide that runs failed.
        if let Err(Failure::Byz(error)) = printed {
            let _ = writeln!(io::stderr(), "byz: {}", clean(&error.to_string()));
        }
        return Err(Failure::Sweep { failed, all: settled.len() });
    }
    printed
}

fn print(settled: &[Settled], directory: &Path, json: bool) -> Outcome {
    let mut out = io::stdout().lock();
    let mut done = settled.iter().filter_map(|settled| settled.outcome.as_ref().ok()).peekable();
    if json {
        for summary in done {
            writeln!(out, "{}", serde_json::to_string(summary).map_err(io::Error::from)?)?;
        }
    } else if done.peek().is_some() {
        for study in load(&[directory])? {
            report::write(&mut out, &study, study.columns(Deviation::Population)?, Format::Text)?;
        }
    }
    Ok(())
}
