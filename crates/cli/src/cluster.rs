//! `byz cluster`: a broker, a coordinator and its workers as processes of this machine, for trying a networked run.

pub(crate) mod processes;

use crate::{
    exit::{self, Outcome},
    text::clean,
};
use byz::{Error, experiment::Draft};
use byz_net::{
    broker::{Broker, free_port},
    plan::{self, Plan},
};
use processes::Processes;
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Try a networked run on this machine: broker, coordinator and workers, each a
/// process.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A configuration file, with or without [network]
    config: PathBuf,
    /// How many workers
    #[arg(long, value_name = "N")]
    workers: usize,
    /// Let a worker be hostile, such as 17=sign_flip; may be repeated
    #[arg(long, value_name = "WORKER=DRILL")]
    attack: Vec<String>,
    /// Where the run is kept [default: runs/KEY]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Where data sets are [default: BYZ_DATA, else the cache directory]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Where keys and logs go [default: a temporary directory]
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Print the summary as one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let drills = drills(arguments)?;
    let scratch = tempfile::tempdir()?;
    if arguments.keep.is_none() {
        exit::scratch(scratch.path());
    }
    let folder = arguments.keep.clone().unwrap_or_else(|| scratch.path().join("cluster"));
    let port = free_port()?;
    let plan = Plan {
        name: "cluster".into(),
        workers: arguments.workers,
        listen: format!("127.0.0.1:{port}"),
        tls: None,
        max_payload: plan::USUAL_PAYLOAD,
    };
    let table = configuration(&arguments.config)?;
    let membership = plan.write(&folder)?;
    let config = folder.join("config.toml");
    byz::files::write_whole(&config, with_members(table, &plan::section(&membership))?.as_bytes())?;
    let log = |name: &str| folder.join(format!("{name}.log"));
    let broker = Broker::start(&folder.join(plan::BROKER), port, &log("broker"))?;
    let url = format!("nats://127.0.0.1:{port}");
    let mut processes = Processes::new(&url, &folder, arguments.data_dir.as_deref())?;
    for worker in 0..arguments.workers {
        let drill = drills.iter().find(|drill| drill.0 == worker);
        let more = drill.map_or(Vec::new(), |drill| vec!["--attack", &drill.1]);
        processes.worker(worker, &more, &log(&format!("worker-{worker}")))?;
    }
    if !arguments.json {
        show(&mut io::stderr(), &broker, &url, &processes, &drills, &folder)?;
    }
    let code = processes.coordinate(&config, arguments.workers, arguments.out.as_deref(), arguments.json)?;
    match code {
        0 => Ok(()),
        code => Err(exit::Failure::Child { code }),
    }
}

/// The configuration, with or without [network].
fn configuration(path: &Path) -> Result<toml::Table, Error> {
    let problem = |problem: String| Error::Usage(format!("{}: {problem}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| problem(format!("cannot be read: {error}")))?;
    Draft::from_toml(&text).map_err(|error| problem(error.to_string()))?;
    text.parse().map_err(|error: toml::de::Error| problem(error.to_string()))
}

/// The configuration with the keys of this cluster. How rounds wait, and who keeps momentum, stays as it says.
fn with_members(mut table: toml::Table, section: &str) -> Result<String, Error> {
    let unusable = |error: &dyn std::fmt::Display| Error::Internal(format!("the cluster's section: {error}"));
    let ours: toml::Table = section.parse().map_err(|error: toml::de::Error| unusable(&error))?;
    let mut ours = ours["network"].as_table().cloned().unwrap_or_default();
    if let Some(said) = table.remove("network").as_ref().and_then(toml::Value::as_table) {
        let keys = ["name", "coordinator", "members"];
        let kept = said.iter().filter(|(key, _)| !keys.contains(&key.as_str()));
        ours.extend(kept.map(|(key, value)| (key.clone(), value.clone())));
    }
    table.insert("network".into(), ours.into());
    toml::to_string(&table).map_err(|error| unusable(&error))
}

fn drills(arguments: &Arguments) -> Result<Vec<(usize, String)>, Error> {
    let read = |text: &String| {
        let (worker, drill) = text.split_once('=')?;
        let worker = worker.parse().ok().filter(|&worker: &usize| worker < arguments.workers)?;
        let known = byz_net::drill::Drill::ALL.iter().any(|(name, _)| *name == drill);
        known.then(|| (worker, drill.to_string()))
    };
    let drills = (arguments.attack.iter())
        .map(|text| {
            let names: Vec<&str> = byz_net::drill::Drill::ALL.iter().map(|(name, _)| *name).collect();
            read(text).ok_or_else(|| {
                let last = arguments.workers.saturating_sub(1);
                Error::Usage(format!(
                    "--attack {text}: expected WORKER=DRILL, a worker from 0 to {last} and one of {}",
                    names.join(", ")
                ))
            })
        })
        .collect::<Result<Vec<(usize, String)>, Error>>()?;
    let twice =
        drills.iter().enumerate().find(|(index, drill)| drills[..*index].iter().any(|d| d.0 == drill.0));
    match twice {
        Some((_, (worker, _))) => {
            Err(Error::Usage(format!("--attack: worker {worker} has two drills; give it one")))
        }
        None => Ok(drills),
    }
}

fn show(
    out: &mut dyn Write,
    broker: &Broker,
    url: &str,
    processes: &Processes,
    drills: &[(usize, String)],
    folder: &Path,
) -> io::Result<()> {
    let (first, last) = processes.workers();
    writeln!(out, "broker        pid {:<15} {url}", broker.id())?;
    writeln!(
        out,
        "workers       pid {:<15} logs in {}",
        format!("{first} to {last}"),
        clean(&folder.display().to_string())
    )?;
    for (worker, drill) in drills {
        writeln!(out, "worker {worker:<6} is hostile: {drill}")?;
    }
    Ok(())
}
