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
    experiment::{Grid, Job, Settled, Status, Sweep, Watch},
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
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = arguments.jobs.unwrap_or(processors);
    if jobs == 0 {
        return Err(Error::Usage("--jobs must be at least 1".into()).into());
    }
    let expected = expected(&grid, path)?;
    let plan = Plan {
        name: &name.to_string_lossy(),
        grid: &grid,
        select: &arguments.cells,
        expected: expected.as_deref(),
        directory: &directory,
        data: &data,
        jobs,
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
    pub(crate) jobs: usize,
    pub(crate) checkpoint_every: Duration,
    pub(crate) quiet: bool,
}

impl Plan<'_> {
    /// Runs what is missing, with one bar for all.
    pub(crate) fn run(&self) -> Result<Vec<Settled>, Error> {
        exit::resumable();
        let bar = Bar::new(self.quiet);
        let settled = self.watched(&bar);
        bar.clear();
        settled
    }

    fn watched(&self, bar: &Bar) -> Result<Vec<Settled>, Error> {
        let warn = |message: &str| bar.say(&format!("byz: warning: {}", clean(message)));
        let progress = |_: u64, _: &_, _: Option<&_>| bar.advance(1);
        let watch = |_: &Job| Watch {
            engine: Engine::default(),
            checkpoint_every: self.checkpoint_every,
            checkpoint_rounds: None,
            progress: &progress,
            warn: &warn,
        };
        let settled = |settled: &Settled| bar.settle(settled);
        let sweep = Sweep {
            name: self.name,
            grid: self.grid,
            select: self.select,
            expected: self.expected,
            directory: self.directory,
            data: self.data,
            jobs: self.jobs,
            watch: &watch,
            settled: &settled,
        };
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
    /// Rounds counted but not yet shown: a bar that is told every round costs more than a round of the quartic.
    pending: AtomicU64,
}

impl Bar {
    fn new(quiet: bool) -> Bar {
        let bar = (!quiet && io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new(0);
            if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3}%  {msg}  {eta} left") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Bar { bar, quiet, pending: AtomicU64::new(0) }
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
        let name = shorten(
            &format!("{} {} {} seed {}", config.task, config.attack, config.defense, config.seed),
            50,
        );
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
