//! Exit codes, everywhere the same: 0 done, 1 failure, 2 usage, 3 refused, 4 diverged, 5 part of a sweep failed,
//! 130 interrupted.

use crate::text::clean;
use byz::{Error, Kind, files};
use std::{
    fs,
    io::{self, ErrorKind, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

/// What a command may end with.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The library's word.
    Byz(Error),
    /// Standard output could not be written.
    Output(io::Error),
    /// Some runs of a sweep failed.
    Sweep {
        /// How many.
        failed: usize,
        /// Of how many.
        all: usize,
    },
    /// A process of ours ended so, and has said why.
    #[cfg(feature = "net")]
    Child {
        /// Its exit code.
        code: u8,
    },
    /// A bug; the panic's own message is already on standard error.
    Internal,
}

pub(crate) type Outcome = Result<(), Failure>;

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Byz(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Output(error)
    }
}

/// Says what went wrong on standard error and picks the code.
pub(crate) fn code(outcome: Outcome) -> ExitCode {
    let (message, code) = match outcome {
        Ok(()) => return ExitCode::SUCCESS,
        // Whoever read our output has seen enough.
        Err(Failure::Output(error)) if error.kind() == ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
        Err(Failure::Output(error)) => (format!("cannot write the output: {error}"), 1),
        Err(Failure::Sweep { failed, all }) => {
            (format!("{failed} of {all} runs failed; the same command tries them again"), 5)
        }
        #[cfg(feature = "net")]
        Err(Failure::Child { code }) => return ExitCode::from(code),
        Err(Failure::Internal) => ("this is a bug in byz; please report it with the message above".into(), 1),
        Err(Failure::Byz(error)) => {
            let code = match error.kind() {
                Kind::Failure => 1,
                Kind::Usage => 2,
                Kind::Refused => 3,
                Kind::Diverged => 4,
                Kind::Interrupted => 130,
            };
            (clean(&error.to_string()), code)
        }
    };
    // Nothing can be done if standard error is closed too.
    let _ = writeln!(io::stderr(), "byz: {message}");
    ExitCode::from(code)
}

/// A panic is a failure like others: code 1, not Rust's own.
pub(crate) fn without_panic(run: impl FnOnce() -> Outcome) -> Outcome {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or(Err(Failure::Internal))
}

/// Whether the same command would go on where an interrupt cuts it off.
static RESUMABLE: AtomicBool = AtomicBool::new(false);

/// From here on an interrupt says that nothing is lost.
pub(crate) fn resumable() {
    RESUMABLE.store(true, Ordering::Relaxed);
}

/// A folder that an interrupt removes.
static SCRATCH: Mutex<Option<PathBuf>> = Mutex::new(None);

/// From here on an interrupt leaves nothing of this folder.
pub(crate) fn scratch(folder: &Path) {
    *SCRATCH.lock().unwrap_or_else(PoisonError::into_inner) = Some(folder.to_path_buf());
}

/// Whether a round may end and be kept before an interrupt ends the process, and whether one has come.
static PATIENT: AtomicBool = AtomicBool::new(false);
static STOPPING: AtomicBool = AtomicBool::new(false);
/// How long it may take to end a round.
const PATIENCE: Duration = Duration::from_secs(10);

/// Whether to stop here. Who asks once asks after every round: the first interrupt waits for that, the second does not.
pub(crate) fn stopping() -> bool {
    PATIENT.store(true, Ordering::Relaxed);
    STOPPING.load(Ordering::Relaxed)
}

/// The end of a command that asked whether to stop, and told what it had.
pub(crate) fn unless_interrupted() -> Outcome {
    if STOPPING.load(Ordering::Relaxed) {
        interrupted();
    }
    Ok(())
}

/// Ctrl-C ends the process with 130. Files are only ever renamed into place whole, and the one under way is removed.
pub(crate) fn on_interrupt() {
    // A second handler in one process is the only error, and there is none.
    let _ = ctrlc::set_handler(interrupt);
}

/// What an interrupt does.
pub(crate) fn interrupt() {
    if PATIENT.load(Ordering::Relaxed) && !STOPPING.swap(true, Ordering::Relaxed) {
        thread::spawn(|| {
            thread::sleep(PATIENCE / 10);
            let _ =
                writeln!(io::stderr(), "byz: finishing what is under way; interrupt again to end at once");
            thread::sleep(PATIENCE);
            interrupted();
        });
    } else {
        interrupted();
    }
}

fn interrupted() -> ! {
    files::discard_unfinished();
    if let Some(folder) = SCRATCH.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
        // Threads may still be writing there; what is left is in the system's temporary directory.
        let _ = fs::remove_dir_all(folder);
    }
    let resumable = RESUMABLE.load(Ordering::Relaxed);
    let hint =
        if resumable { "; the same command goes on from the last checkpoint, if there is one" } else { "" };
    let _ = writeln!(io::stderr(), "byz: interrupted{hint}");
    std::process::exit(130);
}
