//! `byz bench`: how long each rule takes, in streaming reads of its input.
//!
//! Absolute times move from machine to machine and from minute to minute; the ratio to one read of the same
//! numbers, measured in turns with the rule, does not. Processor time is compared, not wall time, because the
//! machine may be busy.

#[cfg(feature = "net")]
pub(crate) mod net;
mod train;

use crate::{exit::Outcome, text::shorten};
use byz::{Defense, Engine, Error, Messages, Options, Stream, expression, streaming_read};
use serde_json::json;
use std::{
    io::{self, Write},
    time::{Duration, Instant},
};

/// Measure rules on this machine, in streaming reads of their input.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Number of messages, n
    #[arg(long, default_value_t = 20, value_name = "N")]
    workers: usize,
    /// Numbers per message, d
    #[arg(long, default_value_t = 1_000_000, value_name = "D")]
    dimension: usize,
    /// Byzantine workers assumed, f
    #[arg(long, default_value_t = 3, value_name = "F")]
    tolerance: usize,
    /// Rules to measure, separated by commas [default: the eleven of the
    /// README's table and their like]
    #[arg(long, value_name = "EXPR,…", default_value = DEFAULT_RULES, hide_default_value = true)]
    rules: String,
    /// Threads
    #[arg(long, default_value_t = 1, value_name = "T")]
    threads: usize,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum Command {
    Train(train::Arguments),
    #[cfg(feature = "net")]
    Net(net::Arguments),
}

const DEFAULT_RULES: &str = "mean,median,trimmed_mean,mean_around_median,krum,multi_krum,geometric_median,\
                             nnm+krum,nnm+geometric_median,nnm+median,nnm+trimmed_mean";

/// Longest time spent on one rule, once it has run a few times.
const BUDGET: Duration = Duration::from_millis(1500);
/// Repetitions at least and at most.
const REPETITIONS: std::ops::RangeInclusive<usize> = 5..=201;
/// Samples in a row of the same thing. On machines with several last-level caches a read by one thread pulls away what
/// the other threads had cached, so the first sample of a turn pays for its predecessor; the median leaves it out.
const TURN: usize = 5;

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    match &arguments.command {
        Some(Command::Train(arguments)) => return train::run(arguments),
        #[cfg(feature = "net")]
        Some(Command::Net(arguments)) => return net::run(arguments),
        None => {}
    }
    let (n, d, f) = (arguments.workers, arguments.dimension, arguments.tolerance);
    if n == 0 || d == 0 || arguments.threads == 0 {
        return Err(Error::Usage("--workers, --dimension and --threads must be at least 1".into()).into());
    }
    let rules = expression::split_list(&arguments.rules);
    if rules.is_empty() {
        return Err(Error::Usage("--rules names no rule; see byz list".into()).into());
    }
    let defenses = rules.iter().map(|rule| Defense::new(rule, f)).collect::<Result<Vec<_>, _>>()?;
    for defense in &defenses {
        defense.check_counts(n, f)?;
    }
    let engine = Engine { threads: arguments.threads, ..Engine::default() };
    let data = messages(n, f, d)?;
    let mut out = io::stdout().lock();
    if !arguments.json {
        writeln!(
            out,
            "n = {n}, f = {f}, d = {d}, float32, {} kernels, threads: {}",
            engine.kernels.name(),
            arguments.threads
        )?;
        writeln!(out, "{:<32} {:>11} {:>11} {:>11} {:>7}", "rule", "cpu ms", "wall ms", "read ms", "reads")?;
    }
    for (rule, defense) in rules.iter().zip(&defenses) {
        let timing = measure(defense, &data, n, engine)?;
        let Timing { cpu, wall, read } = timing;
        if arguments.json {
            let line = json!({
                "rule": rule, "workers": n, "dimension": d, "tolerance": f, "threads": arguments.threads,
                "cpu_ms": cpu, "wall_ms": wall, "read_ms": read, "reads": cpu / read,
            });
            writeln!(out, "{line}")?;
        } else {
            writeln!(
                out,
                "{:<32} {:>11} {:>11} {:>11} {:>7.2}",
                shorten(rule, 32),
                ms(cpu),
                ms(wall),
                ms(read),
                cpu / read
            )?;
        }
        out.flush()?;
    }
    Ok(())
}

/// Four digits, whatever the size.
fn ms(value: f64) -> String {
    let decimals = (3 - value.log10().floor() as i32).clamp(0, 6) as usize;
    format!("{value:.decimals$}")
}

/// Median milliseconds.
struct Timing {
    cpu: f64,
    wall: f64,
    read: f64,
}

/// Runs the rule and the read in turns, so that both meet the same machine.
fn measure(defense: &Defense, data: &[f32], n: usize, engine: Engine<'_>) -> Result<Timing, Error> {
    let messages = Messages::from_matrix(data, n);
    let options = Options { engine, ..Options::default() };
    // One sample is as many calls as take about a millisecond: clocks are coarser than microseconds.
    let call = || defense.aggregate(&messages, &options).map(|result| drop(std::hint::black_box(result)));
    let batch = batch_size(|| call().is_ok());
    let read_batch = batch_size(|| std::hint::black_box(streaming_read(data)).is_finite());
    let (mut cpus, mut walls, mut reads) = (Vec::new(), Vec::new(), Vec::new());
    let start = Instant::now();
    while walls.len() < *REPETITIONS.start() || (start.elapsed() < BUDGET && walls.len() < *REPETITIONS.end())
    {
        let cpu = cpu_time();
        for _ in 0..TURN {
            let wall = Instant::now();
            for _ in 0..batch {
                call()?;
            }
            walls.push(wall.elapsed().as_secs_f64() * 1e3 / batch as f64);
        }
        if engine.threads > 1 {
            // What a thread used is counted when it sleeps.
            std::thread::sleep(Duration::from_millis(1));
        }
        cpus.push((cpu_time() - cpu) * 1e3 / (TURN * batch) as f64);
        for _ in 0..TURN {
            let cpu = cpu_time();
            for _ in 0..read_batch {
                std::hint::black_box(streaming_read(std::hint::black_box(data)));
            }
            reads.push((cpu_time() - cpu) * 1e3 / read_batch as f64);
        }
    }
    Ok(Timing { cpu: median(cpus), wall: median(walls), read: median(reads) })
}

/// Calls that take about a millisecond together.
fn batch_size(mut call: impl FnMut() -> bool) -> usize {
    let mut batch = 1;
    loop {
        let start = Instant::now();
        for _ in 0..batch {
            std::hint::black_box(call());
        }
        if start.elapsed() > Duration::from_millis(1) || batch > 1 << 20 {
            return batch;
        }
        batch *= 2;
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Seconds of processor time of this process, all threads.
fn cpu_time() -> f64 {
    cpu_time::ProcessTime::now().as_duration().as_secs_f64()
}

/// Honest rows: a common mean of norm 1 plus noise of norm 0.3; the last f rows: minus the mean.
fn messages(n: usize, f: usize, d: usize) -> Result<Vec<f32>, Error> {
    let mut data: Vec<f32> = Vec::new();
    let fits = n.checked_mul(d).is_some_and(|size| data.try_reserve_exact(size).is_ok());
    if !fits {
        return Err(Error::Usage(format!("{n} messages of {d} numbers do not fit memory; use fewer")));
    }
    let mut stream = Stream::new(0, "bench", 0, 0);
    // Uniform with variance 1 is as good as normal here, and quick to draw.
    let mut draw = || ((stream.uniform() - 0.5) * 12f64.sqrt()) as f32;
    let scale = 1.0 / (d as f32).sqrt();
    let mean: Vec<f32> = (0..d).map(|_| draw() * scale).collect();
    for _ in 0..n - f.min(n) {
        data.extend(mean.iter().map(|mean| mean + 0.3 * scale * draw()));
    }
    for _ in 0..f.min(n) {
        data.extend(mean.iter().map(|mean| -mean));
    }
    Ok(data)
}
