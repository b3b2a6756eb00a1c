//! `byz data`: fetches the data sets, checks them, says where they are.
//!
//! The only part of `byz` that uses the network. Nothing is kept before its SHA-256 was checked.

use crate::{exit::Outcome, text::clean};
use byz::{
    Error,
    data::{Directory, File, MANIFEST},
};
use std::{
    collections::BTreeSet,
    io::{self, Write},
    path::PathBuf,
    time::Duration,
};

/// Fetch, verify or locate the data sets (MNIST, tiny Shakespeare).
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
    /// Where data sets are kept [default: $BYZ_DATA, else byz in the user's cache directory]
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Download what is missing or corrupt
    Fetch {
        /// Download URL/mnist/…, URL/shakespeare/… instead of asking the public mirrors
        #[arg(long, value_name = "URL")]
        mirror: Option<String>,
    },
    /// Check every file; exit code 1 if one is missing or corrupt
    Verify,
    /// Print the directory
    Where,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let directory = Directory::find(arguments.data_dir.as_deref())?;
    match &arguments.action {
        Action::Fetch { mirror } => fetch(&directory, mirror.as_deref()),
        Action::Verify => verify(&directory),
        Action::Where => Ok(writeln!(io::stdout(), "{}", directory.path().display())?),
    }
}

fn name(file: &File) -> String {
    format!("{}/{}", file.set, file.download())
}

fn verify(directory: &Directory) -> Outcome {
    let mut report = String::new();
    let mut wrong = 0;
    for file in MANIFEST {
        let (state, detail) = match directory.read(file) {
            Ok(_) => ("ok", String::new()),
            Err(Error::MissingData { .. }) => ("missing", String::new()),
            Err(Error::CorruptData { problem, .. }) => ("corrupt", problem),
            Err(other) => ("unreadable", other.to_string()),
        };
        wrong += usize::from(state != "ok");
        report += format!("{:34}  {state:10}  {}", name(file), clean(&detail)).trim_end();
        report += "\n";
    }
    report += &format!("in {}\n", clean(&directory.path().display().to_string()));
    // What is wrong stays wrong, whoever has stopped reading.
    let printed = io::stdout().write_all(report.as_bytes());
    match wrong {
        0 => Ok(printed?),
        _ => Err(failure(
            directory,
            format!(
                "{wrong} of {} files are not as they should be; this fetches them: byz data fetch --data-dir {}",
                MANIFEST.len(),
                directory.path().display()
            ),
        )),
    }
}

fn failure(directory: &Directory, problem: String) -> crate::exit::Failure {
    Error::File { path: directory.path().to_path_buf(), problem }.into()
}

fn fetch(directory: &Directory, mirror: Option<&str>) -> Outcome {
    let mut network = Network::new();
    let (mut failed, mut printed): (Vec<&File>, io::Result<()>) = (Vec::new(), Ok(()));
    for file in MANIFEST {
        let line = match directory.read(file) {
            Ok(_) => "already there".to_string(),
            // A copy that cannot be read, unlike one that is wrong, is for its owner to repair.
            Err(error @ Error::File { .. }) => return Err(error.into()),
            Err(_) => match fetch_one(&mut network, directory, file, &addresses(file, mirror))? {
                Some(address) => format!("fetched from {address}"),
                None => {
                    failed.push(file);
                    continue;
                }
            },
        };
        // Whoever has stopped reading still wants the files.
        printed = printed.and_then(|()| writeln!(io::stdout(), "{:34}  {line}", name(file)));
    }
    if failed.is_empty() {
        return Ok(printed?);
    }
    advise(directory, &failed, mirror);
    Err(failure(directory, format!("{} of {} files could not be fetched", failed.len(), MANIFEST.len())))
}

fn addresses(file: &File, mirror: Option<&str>) -> Vec<String> {
    let download = file.download();
    match mirror {
        Some(base) => vec![format!("{}/{}/{download}", base.trim_end_matches('/'), file.set)],
        None => file.mirrors.iter().map(|mirror| format!("{mirror}{download}")).collect(),
    }
}

/// Tries the addresses in order and keeps the first right copy; says on standard error why the others were not it.
fn fetch_one(
    network: &mut Network,
    directory: &Directory,
    file: &File,
    addresses: &[String],
) -> Result<Option<String>, crate::exit::Failure> {
    for address in addresses {
        let problem = match network.get(address, file.most_bytes()) {
            Err(problem) => problem,
            Ok(copy) => match directory.store(file, &copy) {
                Ok(_) => return Ok(Some(address.clone())),
                Err(Error::CorruptData { problem, .. }) => problem,
                Err(other) => return Err(other.into()),
            },
        };
        let _ = writeln!(io::stderr(), "byz: {}: {}", clean(address), clean(&problem));
    }
    Ok(None)
}

/// What a person without a network can do.
fn advise(directory: &Directory, failed: &[&File], mirror: Option<&str>) {
    let mut text = String::from(
        "byz: with another machine or browser, put each address's file at the place after it:\n",
    );
    for file in failed {
        for address in addresses(file, mirror) {
            text += &format!("  {}\n", clean(&address));
        }
        text += &format!("    -> {}\n", clean(&directory.place(file).display().to_string()));
    }
    let place = clean(&directory.path().display().to_string());
    text += &format!("byz: then check them with: byz data verify --data-dir {place}\n");
    // Nothing can be done if standard error is closed.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Downloads, and remembers which hosts do not answer.
struct Network {
    agent: ureq::Agent,
    silent: BTreeSet<String>,
}

impl Network {
    fn new() -> Network {
        let config = ureq::Agent::config_builder()
            .timeout_resolve(Some(Duration::from_secs(10)))
            .timeout_connect(Some(Duration::from_secs(10)))
            .timeout_recv_response(Some(Duration::from_secs(30)))
            .timeout_recv_body(Some(Duration::from_secs(600)));
        Network { agent: config.build().into(), silent: BTreeSet::new() }
    }

    fn get(&mut self, address: &str, most: u64) -> Result<Vec<u8>, String> {
        let host: String = address.split('/').take(3).collect::<Vec<_>>().join("/");
        if self.silent.contains(&host) {
            return Err("not asked again".into());
        }
        let answer = self.agent.get(address).call().map_err(|error| {
            // Anything but an answer means that the next file would wait in vain too.
            if !matches!(error, ureq::Error::StatusCode(_)) {
                self.silent.insert(host);
            }
            error.to_string()
        })?;
        answer.into_body().with_config().limit(most).read_to_vec().map_err(|error| error.to_string())
    }
}
