//! `byz bench train`: milliseconds per round and where they go, beside the machine's own rate of multiplying matrices.

use super::{median, ms};
use crate::{exit::Outcome, run::directory_of};
use byz::{
    Engine, Error, Scalar, Trainer,
    experiment::{Draft, Opened, open},
    expression::split_list,
    nn::{
        meter,
        product::{Into, View, multiply},
    },
};
use serde_json::json;
use std::{
    fmt::Display,
    io::{self, Write},
    path::PathBuf,
    time::{Duration, Instant},
};

/// Measure rounds of training: gradients, attack, aggregation, step.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Tasks to measure, separated by commas
    #[arg(long, value_name = "TASK,…", default_value = "quartic,mnist_mlp")]
    task: String,
    /// Threads
    #[arg(long, default_value_t = 1, value_name = "T")]
    threads: usize,
    /// Number of workers, n
    #[arg(long, default_value_t = 20, value_name = "N")]
    workers: usize,
    /// Byzantine workers, f
    #[arg(long, default_value_t = 3, value_name = "F")]
    byzantine: usize,
    /// Examples per worker and round
    #[arg(long, default_value_t = 64, value_name = "N")]
    batch: usize,
    /// How messages are aggregated
    #[arg(long, default_value = "nnm+geometric_median", value_name = "EXPR")]
    defense: String,
    /// What Byzantine workers do
    #[arg(long, default_value = "sign_flip", value_name = "ATTACK")]
    attack: String,
    /// Rounds measured, after one to warm up [default: as many as two seconds allow, 3 to 3000]
    #[arg(long, value_name = "K")]
    rounds: Option<usize>,
    /// Where data sets are [default: BYZ_DATA, else the cache directory]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

/// Longest time spent on one task, once it has run a few rounds.
const BUDGET: Duration = Duration::from_secs(2);
const ROUNDS: std::ops::RangeInclusive<usize> = 3..=3000;

fn draft(arguments: &Arguments, task: &str) -> Draft {
    Draft {
        task: Some(task.into()),
        workers: Some(arguments.workers),
        byzantine: Some(arguments.byzantine),
        batch: Some(arguments.batch),
        attack: Some(arguments.attack.clone()),
        defense: Some(arguments.defense.clone()),
        rounds: Some(1_000_000),
        ..Draft::default()
    }
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let tasks = split_list(&arguments.task);
    if tasks.is_empty() || arguments.threads == 0 || arguments.rounds == Some(0) {
        return Err(Error::Usage("--task names no task, or --threads or --rounds is zero".into()).into());
    }
    let configurations =
        tasks.iter().map(|task| draft(arguments, task).resolve()).collect::<Result<Vec<_>, _>>()?;
    let data = directory_of(arguments.data_dir.as_ref());
    let mut out = io::stdout().lock();
    if !arguments.json {
        writeln!(
            out,
            "n = {}, f = {}, batch {}, {}, threads: {}",
            arguments.workers, arguments.byzantine, arguments.batch, arguments.defense, arguments.threads
        )?;
        let heading =
            ["task", "round", "gradients", "attack", "aggregation", "step", "GFLOP/s", "products", "sgemm"];
        line(&mut out, heading)?;
    }
    for (task, config) in tasks.iter().zip(&configurations) {
        let engine = Engine { threads: arguments.threads, ..Engine::default() };
        let (times, flops) = match open(config, &data)? {
            Opened::F32(mut trainer) => measure(&mut trainer, engine, arguments)?,
            Opened::F64(mut trainer) => measure(&mut trainer, engine, arguments)?,
        };
        let [gradients, attack, aggregation, step] = times.phases;
        let gflops = flops * arguments.workers as f64 / gradients / 1e6;
        if arguments.json {
            let line = json!({
                "task": task, "threads": arguments.threads, "workers": arguments.workers,
                "round_ms": times.round, "gradients_ms": gradients, "attack_ms": attack,
                "aggregation_ms": aggregation, "step_ms": step, "gflops": gflops,
                "products_gflops": times.products, "sgemm_gflops": times.sgemm, "rounds": times.rounds,
            });
            writeln!(out, "{line}")?;
        } else {
            let rate = |rate: f64| format!("{rate:.1}");
            let products = times.products.map_or("–".into(), rate);
            let [round, gradients, attack, aggregation, step] =
                [times.round, gradients, attack, aggregation, step].map(ms);
            let rates = [rate(gflops), products, rate(times.sgemm)];
            line(
                &mut out,
                [task, &round, &gradients, &attack, &aggregation, &step, &rates[0], &rates[1], &rates[2]],
            )?;
        }
        out.flush()?;
    }
    if !arguments.json {
        writeln!(
            out,
            "Milliseconds per round. GFLOP/s of the gradients with everything around them; of a\n\
             thread in the matrix products alone; of one thread multiplying 512×512 matrices."
        )?;
    }
    Ok(())
}

fn line(out: &mut impl Write, cells: [impl Display; 9]) -> io::Result<()> {
    let [task, round, gradients, attack, aggregation, step, rate, products, sgemm] = cells;
    writeln!(
        out,
        "{task:<10} {round:>7} {gradients:>9} {attack:>8} {aggregation:>11} {step:>7} {rate:>7} {products:>8} {sgemm:>6}"
    )
}

/// Median milliseconds of a round and of its phases.
struct Times {
    round: f64,
    phases: [f64; 4],
    /// GFLOP/s of a thread in the products of a round.
    products: Option<f64>,
    sgemm: f64,
    rounds: usize,
}

fn measure<T: Scalar>(
    trainer: &mut Trainer<T>,
    engine: Engine<'_>,
    arguments: &Arguments,
) -> Result<(Times, f64), Error> {
    trainer.round(engine, false)?;
    let (mut rounds, mut phases, mut rates) = (Vec::new(), [const { Vec::new() }; 4], Vec::new());
    let mut products = Vec::new();
    let start = Instant::now();
    let enough = |done: usize| match arguments.rounds {
        Some(wanted) => done >= wanted,
        None => done >= *ROUNDS.end() || (done >= *ROUNDS.start() && start.elapsed() > BUDGET),
    };
    while !enough(rounds.len()) {
        // In turns with the rounds, so that all meet the same machine.
        let turn = |at: usize| rounds.len() % TURN == at || rounds.len() < 3;
        if turn(0) {
            rates.push(sgemm());
        }
        // Some rounds later, when the model is in the cache again. A round of its own: the clock about every product is no part of the
        // others.
        if turn(TURN / 2) {
            let (round, measured) = meter::measured(|| trainer.round(engine, false));
            round?;
            products.extend(measured.gflops());
        }
        let (before, clock) = (trainer.spent, Instant::now());
        trainer.round(engine, false)?;
        rounds.push(clock.elapsed().as_secs_f64() * 1e3);
        let after = trainer.spent;
        for (phase, spent) in phases.iter_mut().zip([
            after.gradients - before.gradients,
            after.attack - before.attack,
            after.aggregation - before.aggregation,
            after.step - before.step,
        ]) {
            phase.push(spent.as_secs_f64() * 1e3);
        }
    }
    let count = rounds.len();
    let times = Times {
        round: median(rounds),
        phases: phases.map(median),
        products: (!products.is_empty()).then(|| median(products)),
        sgemm: median(rates),
        rounds: count,
    };
    Ok((times, trainer.task.flops(arguments.batch)))
}

/// Rounds between looks at how fast matrices multiply.
const TURN: usize = 100;

/// GFLOP/s of multiplying square matrices that fit the cache, once they are there.
fn sgemm() -> f64 {
    const SIZE: usize = 512;
    let (a, b) = (vec![0.5f32; SIZE * SIZE], vec![0.25f32; SIZE * SIZE]);
    let mut out = vec![0f32; SIZE * SIZE];
    let mut once = || {
        let clock = Instant::now();
        multiply(1.0, View::new(&a, SIZE, SIZE), View::new(&b, SIZE, SIZE), &mut out, SIZE, Into::Replace);
        2.0 * (SIZE * SIZE * SIZE) as f64 / clock.elapsed().as_secs_f64() / 1e9
    };
    once();
    median((0..5).map(|_| once()).collect())
}
