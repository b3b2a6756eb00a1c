//! `byz worker`: one worker of a run that a coordinator elsewhere leads.

use crate::{
    exit::Outcome,
    net::{self, Broker},
    run::directory_of,
    text::clean,
};
use byz::{Error, experiment::open_member};
use byz_net::{credentials::Credentials, drill::Drill, worker::Worker};
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
    let drill = arguments.attack.as_deref();
    let worker = Worker {
        access: arguments.broker.access(credentials.broker.clone()),
        id,
        credentials,
        state: arguments.state.clone(),
        threads: crate::run::engine(arguments.threads)?.threads,
        drill: drill.and_then(|name| Drill::ALL.iter().find(|drill| drill.0 == name)).map(|drill| drill.1),
        stay: arguments.stay,
        hear: Arc::new(|words| {
            // Nothing can be done if standard error is closed.
            let _ = writeln!(io::stderr(), "byz: {}", clean(words));
        }),
    };
    let data = directory_of(arguments.data_dir.as_ref());
    worker.serve(&|config, own_momentum| open_member(config, id, own_momentum, &data))?;
    Ok(())
}
