//! `byz coordinator`: `byz run` with workers elsewhere.

use crate::{
    exit::Outcome,
    net::Broker,
    run::{self, Progress, directory_of},
};
use byz::{
    Error, Scalar, Trainer,
    experiment::{self, Config, Opened},
    transforms::Chain,
};
use byz_net::{Coordinator, Membership, Momentum, RunId, credentials::Credentials, link::Hear, plan};
use std::{path::Path, sync::Arc};

/// Train with workers elsewhere; the same command goes on after an
/// interruption.
///
/// The configuration is that of `byz run` with a [network] section, which `byz
/// net config` writes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    broker: Broker,
    #[command(flatten)]
    run: run::Arguments,
    /// End when standard input does
    #[arg(long, hide = true)]
    until_eof: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    if arguments.until_eof {
        crate::net::end_with_input();
    }
    let mut draft = run::draft(&arguments.run)?;
    // Where nobody is trusted, a rule that promises nothing must be asked for.
    draft.strict.get_or_insert(true);
    let config = draft.resolve()?;
    let membership = Membership::read(draft.network.as_ref(), &config)?;
    let data = directory_of(arguments.run.data_dir.as_ref());
    let mut farewell = None;
    let trained = run::train(&arguments.run, &config, |directory, progress| {
        let federation =
            Federation { arguments, config: &config, membership: &membership, directory, progress };
        Ok(match experiment::open(&config, &data)? {
            Opened::F32(trainer) => Opened::F32(federation.attach(trainer, &mut farewell)?),
            Opened::F64(trainer) => Opened::F64(federation.attach(trainer, &mut farewell)?),
        })
    });
    let over = match &trained {
        Ok(()) => true,
        Err(crate::exit::Failure::Byz(error)) => matches!(error, Error::Diverged { .. }),
        Err(_) => false,
    };
    // After anything else the same command goes on, and the workers wait for it.
    match farewell {
        Some(farewell) if over => farewell(),
        // It was done before, and whoever comes late waits for a run that is over.
        None if over && !arguments.run.print_config => dismiss(arguments, &config, &membership)?,
        _ => {}
    }
    trained
}

fn dismiss(arguments: &Arguments, config: &Config, membership: &Membership) -> Result<(), Error> {
    let credentials = Credentials::read(&arguments.broker.creds)?;
    let run = RunId::kept_in(&run::place(&arguments.run, config))?;
    let access = arguments.broker.access(credentials.broker.clone());
    Coordinator::dismiss(&access, membership, &credentials.key()?, run, config)
}

struct Federation<'a> {
    arguments: &'a Arguments,
    config: &'a Config,
    membership: &'a Membership,
    directory: &'a Path,
    progress: &'a Arc<Progress>,
}

impl Federation<'_> {
    /// Lets the trainer's rows come from the workers.
    fn attach<T: Scalar>(
        &self,
        mut trainer: Trainer<T>,
        farewell: &mut Option<Box<dyn FnOnce()>>,
    ) -> Result<Trainer<T>, Error> {
        let broker = &self.arguments.broker;
        let credentials = Credentials::read(&broker.creds)?;
        let progress = self.progress.clone();
        let hear: Hear = Arc::new(move |words| progress.warn(words));
        let coordinator = Coordinator::connect::<T>(
            &broker.access(credentials.broker.clone()),
            self.membership,
            credentials.key()?,
            RunId::kept_in(self.directory)?,
            self.config,
            trainer.parameters.len(),
            hear,
        )?;
        // The record says who took part; config.toml is what `byz run` would have written.
        byz::files::write_whole(
            &self.directory.join(plan::NETWORK),
            plan::section(self.membership).as_bytes(),
        )?;
        *farewell = Some(Box::new(coordinator.farewell()));
        if self.membership.momentum == Momentum::Worker {
            trainer.workers.iter_mut().for_each(|chain| *chain = Chain::empty());
        }
        trainer.collector = Some(Box::new(coordinator));
        Ok(trainer)
    }
}
