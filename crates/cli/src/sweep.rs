//! `byz sweep`: the product of lists, tuned, over seeds; one bar for all.

use crate::{
    exit::{self, Failure, Outcome},
    report,
    run::{directory_of, number, seconds},
    text::{clean, shorten},
};
use byz::{
    Engine, Error,
    data::Directory,
    experiment::{Cell, Config, Grid, Job, Record, Settled, Status, Sweep, Watch},
    report::{Deviation, Format, load},
};
use indicatif::{ProgressBar, ProgressStyle};
use std::{
    fs,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
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
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let path = &arguments.grid;
    let text = fs::read_to_string(path)
        .map_err(|error| Error::Usage(format!("{}: cannot be read: {error}", path.display())))?;
    let grid =
        Grid::from_toml(&text).map_err(|error| Error::Usage(format!("{}: {error}", path.display())))?;
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
    tell(&settled, &directory, arguments.json)
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
        let cell = self.selected()?.swap_remove(0);
        cell.config(self.grid.seeds[0], cell.rates.first().copied())
    }

    /// Rounds in all, and those that ended runs in the directory account for.
    pub(crate) fn rounds(&self) -> Result<(u64, u64), Error> {
        let quiet = |_: &Job| unreachable!("nothing is run");
        let total = self.sweep(1, &quiet, &|_| ()).total_rounds()?;
        let mut done = 0;
        for folder in ["runs", "tuning"] {
            for entry in fs::read_dir(self.directory.join(folder)).into_iter().flatten().flatten() {
                done += Record::at(&entry.path())?.summary()?.map_or(0, |summary| summary.rounds);
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
        let bar = Bar::new(self.quiet, names);
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
        };
        let settled = |settled: &Settled| bar.settle(settled);
        let sweep = self.sweep(jobs, &watch, &settled);
        bar.length(sweep.total_rounds()?);
        sweep.run()
    }
}

fn tell(settled: &[Settled], directory: &Path, json: bool) -> Outcome {
    let mut out = io::stdout().lock();
    let failed = settled.iter().filter(|settled| settled.outcome.is_err()).count();
    if json {
        for summary in settled.iter().filter_map(|settled| settled.outcome.as_ref().ok()) {
            writeln!(out, "{}", serde_json::to_string(summary).map_err(io::Error::from)?)?;
        }
    } else if failed < settled.len() {
        for study in load(&[directory])? {
            report::write(&mut out, &study, study.columns(Deviation::Population)?, Format::Text)?;
        }
    }
    match failed {
        0 => Ok(()),
        failed => Err(Failure::Sweep { failed, all: settled.len() }),
    }
}

/// Rounds of all runs.
struct Bar {
    bar: Option<ProgressBar>,
    quiet: bool,
    /// Of the cells.
    names: Vec<String>,
    /// Rounds counted but not yet shown: a bar that is told every round costs more than a round of the quartic.
    pending: AtomicU64,
}

impl Bar {
    fn new(quiet: bool, names: Vec<String>) -> Bar {
        let bar = (!quiet && io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new(0);
            if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3}%  {msg}  {eta} left") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Bar { bar, quiet, names, pending: AtomicU64::new(0) }
    }

    fn length(&self, rounds: u64) {
        self.bar.iter().for_each(|bar| bar.set_length(rounds));
    }

    fn advance(&self, rounds: u64) {
        let pending = self.pending.fetch_add(rounds, Ordering::Relaxed) + rounds;
        if pending >= 256 {
            let shown = self.pending.swap(0, Ordering::Relaxed);
            self.bar.iter().for_each(|bar| bar.inc(shown));
        }
    }

    fn settle(&self, settled: &Settled) {
        let config = &settled.config;
        let name = format!("{} seed {}", shorten(&self.names[settled.cell], 40), config.seed);
        let result = match &settled.outcome {
            Err(error) => format!("failed: {error}"),
            Ok(summary) if summary.status == Status::Diverged => {
                format!("diverged in round {}", summary.rounds)
            }
            Ok(summary) => format!("{} {}", summary.metric_name, summary.metric.map_or("-".into(), number)),
        };
        match (&self.bar, &settled.outcome) {
            (_, Err(_)) => self.say(&format!("byz: {}: {}", clean(&name), clean(&result))),
            (Some(bar), Ok(_)) => bar.set_message(shorten(&result, 40)),
            (None, Ok(_)) if !self.quiet => {
                self.say(&format!("{name}  rate {}  {result}", number(config.rate)))
            }
            (None, Ok(_)) => {}
        }
    }

    fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            // Nothing can be done if standard error is closed.
            None => drop(writeln!(io::stderr(), "{line}")),
        }
    }

    fn clear(&self) {
        self.bar.iter().for_each(ProgressBar::finish_and_clear);
    }
}
