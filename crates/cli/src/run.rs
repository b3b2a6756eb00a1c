//! `byz run`: one training run, from a file or from flags, that survives being cut off.

mod progress;

use crate::{
    exit::{self, Outcome},
    text::{clean, wrap},
};
use byz::{
    Engine, Error,
    data::Directory,
    experiment::{self, Config, Draft, Ended, Opened, Status, Summary, Watch},
};
pub(crate) use progress::Progress;
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

/// Train once; the same command goes on after an interruption.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A configuration file; flags override it
    config: Option<PathBuf>,
    #[command(flatten)]
    choices: Choices,
    /// Override any key of the configuration
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Where the run is kept [default: runs/KEY]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Threads [default: all processors]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Where data sets are [default: BYZ_DATA, else the cache directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Seconds between checkpoints
    #[arg(long, value_name = "S", default_value_t = 30.0)]
    checkpoint_seconds: f64,
    /// Rounds between checkpoints, besides the seconds
    #[arg(long, value_name = "N")]
    checkpoint_rounds: Option<u64>,
    /// Print the resolved configuration and stop
    #[arg(long)]
    pub(crate) print_config: bool,
    /// Say nothing but errors
    #[arg(long, short)]
    quiet: bool,
    /// Print the summary as one JSON object
    #[arg(long)]
    json: bool,
}

/// The keys one sets most often.
#[derive(clap::Args)]
struct Choices {
    /// What to train, such as quartic or mnist_mlp
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// What Byzantine workers do, such as sign_flip
    #[arg(long, value_name = "ATTACK")]
    attack: Option<String>,
    /// How messages are aggregated, such as nnm+geometric_median
    #[arg(long, value_name = "EXPR")]
    defense: Option<String>,
    /// byz_nsgdm, baseline, baseline_decay, byz_muon or byz_sign
    #[arg(long, value_name = "PRESET")]
    optimizer: Option<String>,
    /// The base learning rate
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    rate: Option<f64>,
    /// How the rate changes, such as inverse_sqrt
    #[arg(long, value_name = "SCHEDULE")]
    schedule: Option<String>,
    /// Rounds in all
    #[arg(long, value_name = "K")]
    rounds: Option<u64>,
    /// All workers, n
    #[arg(long, value_name = "N")]
    workers: Option<usize>,
    /// Byzantine workers in truth; the last ones
    #[arg(long, value_name = "F")]
    byzantine: Option<usize>,
    /// Byzantine workers assumed by the defence [default: as many as there are]
    #[arg(long, value_name = "F")]
    tolerance: Option<usize>,
    /// Examples per worker and round
    #[arg(long, value_name = "N")]
    batch: Option<usize>,
    /// How examples are spread over workers, such as sorted_by_label
    #[arg(long, value_name = "PARTITION")]
    partition: Option<String>,
    /// Seed of everything drawn
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// Rounds between evaluations
    #[arg(long, value_name = "N")]
    evaluate_every: Option<u64>,
}

impl Choices {
    fn draft(&self) -> Draft {
        Draft {
            task: self.task.clone(),
            attack: self.attack.clone(),
            defense: self.defense.clone(),
            optimizer: self.optimizer.clone(),
            rate: self.rate,
            schedule: self.schedule.clone(),
            rounds: self.rounds,
            workers: self.workers,
            byzantine: self.byzantine,
            tolerance: self.tolerance,
            batch: self.batch,
            partition: self.partition.clone(),
            seed: self.seed,
            evaluate_every: self.evaluate_every,
            ..Draft::default()
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let config = draft(arguments)?.resolve()?;
    let data = directory_of(arguments.data_dir.as_ref());
    train(arguments, &config, |_, _| experiment::open(&config, &data))
}

/// Runs a configuration, once `open` has made a trainer of it that will leave its record in this directory.
pub(crate) fn train(
    arguments: &Arguments,
    config: &Config,
    open: impl FnOnce(&Path, &Arc<Progress>) -> Result<Opened, Error>,
) -> Outcome {
    if arguments.print_config {
        io::stdout().lock().write_all(config.to_toml().as_bytes())?;
        return Ok(());
    }
    let directory = place(arguments, config);
    let progress = Arc::new(Progress::new(config, arguments.quiet));
    let watch = Watch {
        engine: engine(arguments.threads)?,
        checkpoint_every: seconds(arguments.checkpoint_seconds)?,
        checkpoint_rounds: arguments.checkpoint_rounds.map(|rounds| rounds.max(1)),
        progress: &|round, report, metrics| progress.advance(round, report, metrics),
        warn: &|message| progress.warn(message),
        stop: &exit::stopping,
    };
    for warning in config.warnings().iter().filter(|_| !arguments.quiet) {
        progress.warn(warning);
    }
    exit::resumable();
    let ended = experiment::run_opened(config, &directory, || open(&directory, &progress), &watch);
    progress.clear();
    let ended = ended?;
    tell(&ended, config, &directory, arguments)?;
    match ended.summary.status {
        Status::Finished => Ok(()),
        Status::Diverged => Err(Error::Diverged { round: ended.summary.rounds }.into()),
    }
}

/// Where the run is kept.
pub(crate) fn place(arguments: &Arguments, config: &Config) -> PathBuf {
    arguments.out.clone().unwrap_or_else(|| Path::new("runs").join(config.key()))
}

/// What the file and the flags say together.
pub(crate) fn draft(arguments: &Arguments) -> Result<Draft, Error> {
    let mut draft = match &arguments.config {
        None => Draft::default(),
        Some(path) => {
            let text = fs::read_to_string(path)
                .map_err(|error| Error::Usage(format!("{}: cannot be read: {error}", path.display())))?;
            Draft::from_toml(&text).map_err(|error| Error::Usage(format!("{}: {error}", path.display())))?
        }
    };
    // Flags and --set are one choice: none of them takes back another.
    let mut choices = arguments.choices.draft();
    for assignment in &arguments.set {
        choices.add(&Draft::assignment(assignment)?);
    }
    draft.choose(&choices);
    Ok(draft)
}

/// As many threads as asked for, or as there are processors.
pub(crate) fn engine<'a>(threads: Option<usize>) -> Result<Engine<'a>, Error> {
    match threads {
        Some(0) => Err(Error::Usage("--threads must be at least 1".into())),
        Some(threads) => Ok(Engine { threads, ..Engine::default() }),
        None => Ok(Engine::parallel()),
    }
}

pub(crate) fn seconds(value: f64) -> Result<Duration, Error> {
    Duration::try_from_secs_f64(value)
        .map_err(|_| Error::Usage("--checkpoint-seconds must be a number of at least zero".into()))
}

/// The data directory asked for, or the usual one.
pub(crate) fn directory_of(asked: Option<&PathBuf>) -> Directory {
    // Tasks without data need no home; the others say where they looked.
    Directory::find(asked.map(PathBuf::as_path)).unwrap_or_else(|_| Directory::at("byz-data"))
}

fn tell(ended: &Ended, config: &Config, directory: &Path, arguments: &Arguments) -> Outcome {
    let mut out = io::stdout().lock();
    let summary = &ended.summary;
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string(summary).map_err(io::Error::from)?)?;
        return Ok(());
    }
    if arguments.quiet {
        return Ok(());
    }
    let place = clean(&directory.display().to_string());
    if ended.resumed >= summary.rounds && ended.resumed > 0 {
        writeln!(out, "{place} was already done")?;
    } else if ended.resumed > 0 {
        writeln!(out, "went on from round {}", ended.resumed)?;
    }
    out.write_all(
        wrap("", 0, &format!("{} / {} / {}", config.task, config.attack, config.defense)).as_bytes(),
    )?;
    for (name, value) in lines(summary) {
        writeln!(out, "{name:<20} {value}")?;
    }
    writeln!(out, "{:<20} {place}", "record")?;
    Ok(())
}

/// What a person wants to know of a summary.
fn lines(summary: &Summary) -> Vec<(String, String)> {
    let mut lines = vec![("rounds".to_string(), summary.rounds.to_string())];
    let mut put = |name: &str, value: Option<f64>| {
        if let Some(value) = value {
            lines.push((name.to_string(), number(value)));
        }
    };
    put(&summary.metric_name, summary.metric);
    put(&format!("best {}", summary.metric_name), summary.best_metric);
    put("loss", summary.loss);
    put("aggregate norm", summary.aggregate_norm);
    if summary.zero_updates > 0 {
        lines.push(("rounds without step".into(), summary.zero_updates.to_string()));
    }
    if summary.invalid_messages > 0 {
        lines.push(("invalid messages".into(), summary.invalid_messages.to_string()));
    }
    lines
}

/// Five digits, whatever the size.
pub(crate) fn number(value: f64) -> String {
    if value == 0.0 || (1e-3..1e5).contains(&value.abs()) {
        let decimals = (4 - value.abs().max(1e-3).log10().floor() as i32).clamp(0, 7) as usize;
        format!("{value:.decimals$}")
    } else {
        format!("{value:.4e}")
    }
}
