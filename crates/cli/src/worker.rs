//! `byz worker`: one worker of a run that a coordinator elsewhere leads.

use crate::{
    bench::net as bench,
    exit::Outcome,
    net::{self, Broker},
    run::directory_of,
    text::clean,
};
use byz::{Error, experiment::open_member};
use byz_net::{credentials::Credentials, drill::Drill, link::Hear, worker::Worker};
use std::{
    io::{self, Write},
    path::PathBuf,
    sync::Arc,
};

/// Take part in a run that `byz coordinator` leads.
///
/// It comes back by itself whenever the broker or the coordinator do, and ends
/// when the run is over.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    broker: Broker,
    /// Which worker this is, from 0 [default: as the credentials say]
    #[arg(long, value_name = "N")]
    id: Option<usize>,
    /// Where data sets are [default: BYZ_DATA, else the cache directory]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Where it keeps its momentum, for runs whose workers do
    #[arg(long, value_name = "DIR", default_value = ".")]
    state: PathBuf,
    /// Threads [default: all processors]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Wait for another run when one is over
    #[arg(long)]
    stay: bool,
    /// Be hostile, for a drill
    #[arg(long, value_name = "DRILL", value_parser = net::drills())]
    attack: Option<String>,
    /// Answer for `byz bench net`: floats of its own, or the bytes that come
    #[arg(long, hide = true, value_name = "D")]
    bench: Option<usize>,
    #[arg(long, hide = true)]
    bare: bool,
    /// End when standard input does
    #[arg(long, hide = true)]
    until_eof: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    if arguments.until_eof {
        net::end_with_input();
    }
    let credentials = Credentials::read(&arguments.broker.creds)?;
    let id = match (arguments.id, credentials.worker) {
        (Some(asked), Some(own)) if asked != own => {
            let problem =
                format!("--id {asked}, but {} are worker {own}'s", arguments.broker.creds.display());
            return Err(Error::Usage(problem).into());
        }
        (Some(id), _) | (None, Some(id)) => id,
        (None, None) => return Err(Error::Usage("give --id, or a worker's credentials".into()).into()),
    };
    let hear: Hear = Arc::new(|words| {
        // Nothing can be done if standard error is closed.
        let _ = writeln!(io::stderr(), "byz: {}", clean(words));
    });
    let access = arguments.broker.access(credentials.broker.clone());
    if let Some(dimension) = arguments.bench.filter(|_| arguments.bare) {
        return Ok(bench::answer_bare(&access, &credentials.name, id, dimension, hear)?);
    }
    let drill = arguments.attack.as_deref();
    let worker = Worker {
        access,
        id,
        credentials,
        state: arguments.state.clone(),
        threads: crate::run::engine(arguments.threads)?.threads,
        drill: drill.and_then(|name| Drill::ALL.iter().find(|drill| drill.0 == name)).map(|drill| drill.1),
        stay: arguments.stay,
        hear,
    };
    let data = directory_of(arguments.data_dir.as_ref());
    worker.serve(&|config, own_momentum| match arguments.bench {
        Some(dimension) => bench::member(config, id, dimension),
        None => open_member(config, id, own_momentum, &data),
    })?;
    Ok(())
}
