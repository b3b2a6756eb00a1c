//! The processes of a cluster. Each ends when its standard input does, so none outlives the command, however that ends. An
//! interrupt at the terminal reaches the command alone: the coordinator can end its round while the workers are there.

use crate::exit;
use byz::Error;
use byz_net::plan::{COORDINATOR, worker_file};
use std::{
    env,
    fs::File,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

/// How long an interrupted coordinator may take to end its round.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct Processes {
    program: PathBuf,
    url: String,
    folder: PathBuf,
    data: Option<PathBuf>,
    workers: Vec<Child>,
}

impl Processes {
    pub(crate) fn new(url: &str, folder: &Path, data: Option<&Path>) -> Result<Processes, Error> {
        let program = env::current_exe()
            .map_err(|error| Error::Internal(format!("where this program is cannot be told: {error}")))?;
        let (url, folder) = (url.to_string(), folder.to_path_buf());
        Ok(Processes { program, url, folder, data: data.map(Path::to_path_buf), workers: Vec::new() })
    }

    /// Process numbers of the first worker and the last.
    pub(crate) fn workers(&self) -> (u32, u32) {
        let id = |child: Option<&Child>| child.map_or(0, Child::id);
        (id(self.workers.first()), id(self.workers.last()))
    }

    fn command(&self, command: &str, credentials: &str) -> Command {
        let mut child = Command::new(&self.program);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut child, 0);
        child.args([command, "--until-eof", "--nats", &self.url, "--creds"]);
        child.arg(self.folder.join(credentials)).stdin(Stdio::piped());
        if let Some(data) = &self.data {
            child.arg("--data-dir").arg(data);
        }
        child
    }

    pub(crate) fn worker(&mut self, worker: usize, more: &[&str], log: &Path) -> Result<(), Error> {
        let failed =
            |error: std::io::Error| Error::Internal(format!("worker {worker} does not start: {error}"));
        let words = File::create(log).map_err(failed)?;
        let mut child = self.command("worker", &worker_file(worker));
        child.args(["--threads", "1", "--state"]).arg(&self.folder);
        child.args(more);
        child.stdout(Stdio::null()).stderr(words);
        self.workers.push(child.spawn().map_err(failed)?);
        Ok(())
    }

    /// Runs the coordinator to its end and gives its exit code.
    pub(crate) fn coordinate(
        &mut self,
        config: &Path,
        workers: usize,
        out: Option<&Path>,
        json: bool,
    ) -> Result<u8, Error> {
        let mut child = self.command("coordinator", COORDINATOR);
        child.arg(config).arg("--workers").arg(workers.to_string());
        if let Some(out) = out {
            child.arg("--out").arg(out);
        }
        if json {
            child.arg("--json");
        }
        let failed =
            |error: std::io::Error| Error::Internal(format!("the coordinator does not start: {error}"));
        let mut child = child.spawn().map_err(failed)?;
        let mut input = child.stdin.take();
        let mut until = None;
        let status = loop {
            if let Some(status) = child.try_wait().map_err(failed)? {
                break status;
            }
            if exit::stopping() && until.is_none() {
                // It takes that for an interrupt, ends its round and keeps it.
                drop(input.take());
                until = Some(Instant::now() + PATIENCE);
            }
            if until.is_some_and(|until| Instant::now() > until) {
                // Gone already is as good.
                let _ = child.kill();
            }
            sleep(Duration::from_millis(20));
        };
        let killed = if until.is_some() { 130 } else { 1 };
        Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(killed))
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for child in &mut self.workers {
            // Gone already is as good.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
