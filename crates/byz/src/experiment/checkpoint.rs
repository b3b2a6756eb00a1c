//! Where a run can go on: everything that rounds change, with a checksum, the last two kept.
//! A checkpoint that does not verify is reported and the older one used.

use super::{
    number,
    parts::{self, Parts},
};
use crate::{
    diagnostics::Envelope,
    error::{Error, Result},
    files::discard_abandoned,
    kernels::Scalar,
    trainer::Trainer,
};
use serde::{Deserialize, Serialize};
use std::{fs, path::Path};

const MAGIC: &[u8] = b"byz checkpoint 2\n";
/// The newest, and the one before it.
pub(super) const NAMES: [&str; 2] = ["checkpoint", "checkpoint.previous"];

/// What a run counts besides the trainer's own numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Tally {
    pub(super) invalid_messages: u64,
    pub(super) best_metric: Option<f64>,
    /// Sum of the metrics so far, without that of the start.
    #[serde(with = "number")]
    pub(super) sum: f64,
    /// How many they are.
    pub(super) evaluations: u64,
}

#[derive(Serialize, Deserialize)]
struct Header {
    key: String,
    round: u64,
    zero_updates: u64,
    number: String,
    tally: Tally,
    #[serde(default)]
    envelope: Envelope,
    /// Numbers in each vector of each part: parameters, centre, attack, server links, worker links.
    parts: Vec<Vec<usize>>,
}

/// Writes the newest checkpoint and keeps the one before.
pub(super) fn save<T: Scalar>(
    directory: &Path,
    key: &str,
    trainer: &Trainer<T>,
    tally: &Tally,
) -> Result<()> {
    let parts = of(trainer);
    let header = Header {
        key: key.to_string(),
        round: trainer.round,
        zero_updates: trainer.zero_updates,
        number: T::NAME.to_string(),
        tally: tally.clone(),
        envelope: trainer.envelope.clone(),
        parts: parts::lengths(&parts),
    };
    let newest = directory.join(NAMES[0]);
    if newest.exists() {
        fs::rename(&newest, directory.join(NAMES[1]))
            .map_err(|error| Error::file(&newest, format_args!("cannot be renamed: {error}")))?;
    }
    parts::write(&newest, MAGIC, &header, &parts)
}

/// Everything that rounds change.
fn of<T: Scalar>(trainer: &Trainer<T>) -> Parts<T> {
    let mut parts = vec![
        vec![trainer.parameters.clone()],
        trainer.center.iter().cloned().collect(),
        trainer.attack.state(),
    ];
    let chains = std::iter::once(&trainer.server).chain(&trainer.workers);
    parts.extend(chains.flat_map(|chain| chain.0.iter().map(|link| link.state())));
    parts
}

/// Takes up the newest checkpoint that verifies and that lies before the record's first `gap`; `warn` hears of those that do not. None: start afresh.
pub(super) fn load<T: Scalar>(
    directory: &Path,
    key: &str,
    gap: u64,
    trainer: &mut Trainer<T>,
    warn: &dyn Fn(&str),
) -> Result<Option<Tally>> {
    let [newest, before] = NAMES.map(|name| directory.join(name));
    for path in [&newest, &before].into_iter().filter(|path| path.exists()) {
        // One that cannot be read may be good: it is left, and the run does not go on without it.
        let bytes =
            fs::read(path).map_err(|error| Error::file(path, format_args!("cannot be read: {error}")))?;
        let problem = match read::<T>(&bytes, key) {
            Ok((header, _)) if header.round >= gap => {
                format!("rounds.jsonl lacks lines before its round {}", header.round)
            }
            Ok((header, parts)) => return restore(trainer, header, parts).map(Some),
            Err(problem) => problem,
        };
        let older = path == &newest && before.exists();
        let next = if older { "trying the one before" } else { "starting afresh" };
        warn(&format!("{} is not usable ({problem}); {next}", path.display()));
        // Or the next save would put it in the place of the good one before it. What cannot be removed is found again.
        let _ = fs::remove_file(path);
    }
    Ok(None)
}

/// Removes what killed processes were writing; only for who holds the run's lock.
pub(super) fn sweep_away_unfinished(directory: &Path) {
    for name in ["checkpoint", "config.toml", "summary.json"] {
        discard_abandoned(&directory.join(name));
    }
}

fn read<T: Scalar>(bytes: &[u8], key: &str) -> Result<(Header, Parts<T>), String> {
    let (header, numbers) = parts::open::<Header>(bytes, MAGIC)?;
    if header.key != key || header.number != T::NAME {
        return Err("it belongs to another run".into());
    }
    let parts = parts::read(numbers, &header.parts)?;
    Ok((header, parts))
}

fn restore<T: Scalar>(trainer: &mut Trainer<T>, header: Header, parts: Parts<T>) -> Result<Tally> {
    let links = trainer.server.0.len() + trainer.workers.iter().map(|chain| chain.0.len()).sum::<usize>();
    let dimension = trainer.parameters.len();
    let fits = parts.len() == 3 + links && parts[0].len() == 1 && parts[0][0].len() == dimension;
    if !fits {
        return Err(Error::Usage("the checkpoint does not fit this run; delete it to start afresh".into()));
    }
    let mut parts = parts.into_iter();
    let mut next = || parts.next().unwrap_or_default();
    trainer.parameters = next().swap_remove(0);
    trainer.center = next().pop();
    trainer.attack.restore(next())?;
    for chain in std::iter::once(&mut trainer.server).chain(&mut trainer.workers) {
        for link in &mut chain.0 {
            link.restore(next())?;
        }
    }
    trainer.round = header.round;
    trainer.zero_updates = header.zero_updates;
    trainer.envelope = header.envelope;
    Ok(header.tally)
}
