//! The processes of a cluster. Each ends when its standard input does, so none outlives the command, however that ends.

use byz::Error;
use byz_net::plan::{COORDINATOR, worker_file};
use std::{
    env,
    fs::File,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

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
        // Held open until the coordinator has ended by itself.
        let input = child.stdin.take();
        let status = child.wait().map_err(failed)?;
        drop(input);
        Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
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
