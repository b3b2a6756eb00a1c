//! `byz bench net`: what the network costs a round, beside the same bytes over bare NATS.

mod flat;

use crate::{cluster::processes::Processes, exit::Outcome};
use byz::{
    Engine, Error, Result, Trainer,
    experiment::{self, AnyMember, Config, Draft, Member},
};
use byz_net::{
    Coordinator, Membership, RunId,
    bare::{self, Bare},
    broker::{Broker, free_port},
    credentials::Credentials,
    link::{Access, Hear},
    plan::{self, Plan},
};
use flat::Flat;
use serde_json::json;
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
    thread::sleep,
    time::{Duration, Instant},
};

/// Measure what the network costs a round: broker and workers as processes of
/// this machine.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Number of workers, n
    #[arg(long, default_value_t = 20, value_name = "N")]
    workers: usize,
    /// Floats per message, d
    #[arg(long, default_value_t = 1_000_000, value_name = "D")]
    dimension: usize,
    /// Byzantine workers assumed, f
    #[arg(long, default_value_t = 3, value_name = "F")]
    tolerance: usize,
    /// Rounds of each kind, in two halves
    #[arg(long, default_value_t = 20, value_name = "K")]
    rounds: usize,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

const NAME: &str = "bench";
const CHUNK: usize = 512 * 1024;

fn quiet() -> Hear {
    Arc::new(|_| ())
}

/// A worker's part.
pub(crate) fn member(config: &Config, id: usize, dimension: usize) -> Result<AnyMember> {
    Ok(AnyMember::F32(Member::new(config, Box::new(Flat::new(dimension)), id, false)?))
}

/// A peer's part, for the comparison.
pub(crate) fn answer_bare(
    access: &Access,
    name: &str,
    id: usize,
    dimension: usize,
    hear: Hear,
) -> Result<()> {
    bare::answer(access, name, id, 4 * dimension, CHUNK, hear)
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    if arguments.dimension == 0 || arguments.rounds < 4 {
        return Err(Error::Usage("--dimension must be at least 1 and --rounds at least 4".into()).into());
    }
    let scratch = tempfile::tempdir()?;
    crate::exit::scratch(scratch.path());
    let stage = Stage::new(arguments, &scratch.path().join("net"))?;
    let half = arguments.rounds / 2;
    let (mut network, mut bare, mut alone) = (Vec::new(), Vec::new(), Vec::new());
    let before = memory();
    network.extend(stage.network(half)?);
    let most = memory().zip(before).map(|(most, before)| most - before);
    for _ in 0..2 {
        bare.extend(stage.bare(half)?);
        alone.extend(stage.alone(half)?);
        if network.len() < 2 * half {
            network.extend(stage.network(half)?);
        }
    }
    tell(arguments, [median(network), median(alone), median(bare)], most)
}

fn tell(arguments: &Arguments, [network, alone, bare]: [f64; 3], memory: Option<u64>) -> Outcome {
    let (n, d) = (arguments.workers, arguments.dimension);
    let (overhead, limit) = (network - alone, 3 * n * d * 4);
    let mut out = io::stdout().lock();
    if arguments.json {
        let line = json!({
            "workers": n, "dimension": d, "network_seconds": network, "in_process_seconds": alone,
            "bare_seconds": bare, "overhead_per_bare": overhead / bare, "rounds_per_second": 1.0 / network,
            "coordinator_bytes": memory, "three_messages_bytes": limit,
        });
        writeln!(out, "{line}")?;
        return Ok(());
    }
    let ms = |seconds: f64| format!("{:>10.2} ms", 1e3 * seconds);
    writeln!(out, "n = {n}, d = {d}, float32, one broker and {n} worker processes here")?;
    writeln!(out, "{:<22}{}   {:.1} rounds/s", "over the network", ms(network), 1.0 / network)?;
    writeln!(out, "{:<22}{}", "in one process", ms(alone))?;
    writeln!(out, "{:<22}{}", "overhead", ms(overhead))?;
    writeln!(out, "{:<22}{}   the same bytes, nothing signed or checked", "bare NATS", ms(bare))?;
    writeln!(out, "{:<22}{:>10.2}", "overhead / bare NATS", overhead / bare)?;
    if let Some(memory) = memory {
        let mega = |bytes: f64| bytes / 1e6;
        let (used, all) = (mega(memory as f64), mega(limit as f64));
        writeln!(out, "{:<22}{used:>10.1} MB   3·n·d·4 bytes are {all:.1} MB", "coordinator's memory")?;
    }
    Ok(())
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The most memory this process has had, where the system tells.
fn memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(1024 * kilobytes)
}

struct Stage<'a> {
    arguments: &'a Arguments,
    folder: PathBuf,
    config: Config,
    membership: Membership,
    access: Access,
    _broker: Broker,
}

impl<'a> Stage<'a> {
    fn new(arguments: &'a Arguments, folder: &Path) -> Result<Stage<'a>> {
        let draft = Draft {
            task: Some(format!("quartic(dimension={})", arguments.dimension)),
            workers: Some(arguments.workers),
            tolerance: Some(arguments.tolerance),
            rounds: Some(u64::from(u32::MAX)),
            ..Draft::default()
        };
        let config = draft.resolve()?;
        let port = free_port()?;
        let (workers, listen) = (arguments.workers, format!("127.0.0.1:{port}"));
        let plan = Plan { name: NAME.into(), workers, listen, tls: None, max_payload: 4 << 20 };
        let membership = plan.write(folder)?;
        let broker = Broker::start(&folder.join(plan::BROKER), port, &folder.join("broker.log"))?;
        let seed = Credentials::read(&folder.join(plan::COORDINATOR))?.broker;
        let access = Access { url: format!("nats://127.0.0.1:{port}"), seed, ..Access::default() };
        Ok(Stage { arguments, folder: folder.to_path_buf(), config, membership, access, _broker: broker })
    }

    fn trainer(&self) -> Result<Trainer<f32>> {
        experiment::trainer(&self.config, Box::new(Flat::new(self.arguments.dimension)))
    }

    fn processes(&self, more: &[&str]) -> Result<Processes> {
        let mut processes = Processes::new(&self.access.url, &self.folder, None)?;
        let dimension = self.arguments.dimension.to_string();
        for worker in 0..self.arguments.workers {
            let more = [&["--bench", dimension.as_str()], more].concat();
            processes.worker(worker, &more, &self.folder.join(format!("worker-{worker}.log")))?;
        }
        Ok(processes)
    }

    fn network(&self, rounds: usize) -> Result<Vec<f64>> {
        let _workers = self.processes(&[])?;
        let mut trainer = self.trainer()?;
        let credentials = Credentials::read(&self.folder.join(plan::COORDINATOR))?;
        // The run goes on under its name, with other workers.
        let run = RunId::kept_in(&self.folder)?;
        let coordinator = Coordinator::connect::<f32>(
            &self.access,
            &self.membership,
            credentials.key()?,
            run,
            &self.config,
            self.arguments.dimension,
            quiet(),
        )?;
        trainer.collector = Some(Box::new(coordinator));
        timed(&mut trainer, rounds)
    }

    fn alone(&self, rounds: usize) -> Result<Vec<f64>> {
        timed(&mut self.trainer()?, rounds)
    }

    fn bare(&self, rounds: usize) -> Result<Vec<f64>> {
        let _peers = self.processes(&["--bare"])?;
        let bytes = 4 * self.arguments.dimension;
        let mut bare = Bare::connect(&self.access, NAME, self.arguments.workers, bytes, CHUNK, quiet())?;
        // Until all peers listen, some do not answer.
        let patience = Instant::now() + Duration::from_secs(60);
        while !bare.round()? {
            if Instant::now() > patience {
                return Err(Error::Network("the peers of the comparison do not answer".into()));
            }
            sleep(Duration::from_millis(100));
        }
        let time = |_| {
            let start = Instant::now();
            bare.round().map(|_| start.elapsed().as_secs_f64())
        };
        (0..rounds).map(time).collect()
    }
}

/// Seconds of so many rounds, after one to warm up.
fn timed(trainer: &mut Trainer<f32>, rounds: usize) -> Result<Vec<f64>> {
    let engine = Engine::parallel();
    trainer.round(engine, false)?;
    let time = |_| {
        let start = Instant::now();
        trainer.round(engine, false).map(|_| start.elapsed().as_secs_f64())
    };
    (0..rounds).map(time).collect()
}
