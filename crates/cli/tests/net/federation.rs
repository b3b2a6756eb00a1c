//! A broker, a coordinator and workers to start, kill and start again.

use byz_net::{
    broker::{Broker, find, free_port},
    plan::{self, Plan},
};
use serde_json::Value;
use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Whether there is a broker to test with; says so if not.
pub(crate) fn no_broker() -> bool {
    let missing = find().is_none();
    if missing {
        // Past the test runner, which keeps what passing tests print to itself.
        let _ = std::io::stderr().write_all(b"skipped: nats-server is not installed\n");
    }
    missing
}

/// A process that does not outlive its test.
pub(crate) struct Process(pub(crate) Child);

impl Process {
    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    /// Its exit code, if it ends in time.
    #[track_caller]
    pub(crate) fn wait(&mut self, seconds: u64) -> i32 {
        let end = Instant::now() + Duration::from_secs(seconds);
        while Instant::now() < end {
            if let Some(status) = self.0.try_wait().expect("a child of ours") {
                return status.code().unwrap_or(-1);
            }
            sleep(Duration::from_millis(5));
        }
        panic!("it did not end within {seconds} s");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

pub(crate) struct Federation {
    pub(crate) folder: TempDir,
    pub(crate) port: u16,
    broker: Option<Broker>,
}

impl Federation {
    /// Keys for so many workers, a configuration with what `network` adds to its section, and a running broker.
    pub(crate) fn start(workers: usize, config: &str, network: &str) -> Federation {
        let (folder, port) = (tempfile::tempdir().expect("a folder"), free_port().expect("a port"));
        let plan = Plan {
            name: "test".into(),
            workers,
            listen: format!("127.0.0.1:{port}"),
            tls: None,
            max_payload: plan::USUAL_PAYLOAD,
        };
        let membership = plan.write(&folder.path().join("keys")).expect("a plan");
        // What a test says of the network stands in the place of the default.
        let said = |line: &&str| network.lines().any(|said| said.split(' ').next() == line.split(' ').next());
        let section: String = plan::section(&membership)
            .lines()
            .filter(|line| !said(line))
            .map(|line| format!("{line}\n"))
            .collect();
        let text = format!("workers = {workers}\n{config}\n{section}\n{network}\n");
        fs::write(folder.path().join("config.toml"), text).expect("written");
        let mut federation = Federation { folder, port, broker: None };
        federation.start_broker();
        federation
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn key(&self, name: &str) -> PathBuf {
        self.path("keys").join(name)
    }

    pub(crate) fn start_broker(&mut self) {
        self.broker = None;
        let configuration = self.key(plan::BROKER);
        self.broker =
            Some(Broker::start(&configuration, self.port, &self.path("broker.log")).expect("a broker"));
    }

    pub(crate) fn stop_broker(&mut self) {
        self.broker = None;
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.path("config.toml")
    }

    /// The record in this folder, line by line.
    pub(crate) fn lines(&self, run: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.path(run).join("rounds.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    pub(crate) fn summary(&self, run: &str) -> Value {
        let text = fs::read_to_string(self.path(run).join("summary.json")).expect("a summary");
        serde_json::from_str(&text).expect("JSON")
    }

    pub(crate) fn said(&self, name: &str) -> String {
        fs::read_to_string(self.path(&format!("{name}.log"))).unwrap_or_default()
    }

    pub(crate) fn worker(&self, id: usize, more: &[&str]) -> Process {
        let mut command = byz(&["worker", "--nats", &self.url(), "--threads", "1", "--creds"]);
        command.arg(self.key(&plan::worker_file(id))).arg("--state").arg(self.folder.path());
        self.spawn(command.args(more), &format!("worker-{id}"))
    }

    pub(crate) fn workers(&self, count: usize) -> Vec<Process> {
        (0..count).map(|id| self.worker(id, &[])).collect()
    }

    /// A coordinator whose record goes to the folder `run`.
    pub(crate) fn coordinator(&self, more: &[&str]) -> Process {
        let mut command = byz(&["coordinator", "--nats", &self.url(), "--creds"]);
        command.arg(self.key(plan::COORDINATOR)).arg(self.config()).arg("--out").arg(self.path("run"));
        self.spawn(command.args(more), "coordinator")
    }

    /// The same configuration in one process; its record goes to the folder `alone`.
    pub(crate) fn alone(&self) {
        let mut command = byz(&["run"]);
        command.arg(self.config()).arg("--out").arg(self.path("alone"));
        assert_eq!(self.spawn(&mut command, "alone").wait(120), 0, "{}", self.said("alone"));
    }

    /// Runs the same alone, and compares the records. Frames of before a kill may be among the ignored of after it.
    #[track_caller]
    pub(crate) fn has_the_bits_of_one_process(&self) {
        self.alone();
        let read = |run: &str| fs::read_to_string(self.path(run).join("rounds.jsonl")).expect("a record");
        assert_eq!(read("run").lines().count(), read("alone").lines().count());
        for (here, there) in read("run").lines().zip(read("alone").lines()) {
            let here = here.split(",\"ignored\"").next().unwrap_or_default();
            assert!(there.starts_with(here.trim_end_matches('}')), "{here}\n{there}");
        }
    }

    pub(crate) fn spawn(&self, command: &mut Command, name: &str) -> Process {
        let log = self.path(&format!("{name}.log"));
        let words = || File::options().create(true).append(true).open(&log).expect("a log");
        command.stdin(Stdio::null()).stdout(words()).stderr(words());
        Process(command.spawn().expect("started"))
    }

    /// Waits until the record has a line for this round.
    #[track_caller]
    pub(crate) fn await_round(&self, round: u64, seconds: u64) {
        self.until(seconds, &format!("round {round}"), || {
            self.lines_now().last().is_some_and(|line| line["round"].as_u64() >= Some(round))
        });
    }

    /// Lines are written in blocks, so the last may be half there.
    pub(crate) fn lines_now(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path("run").join("rounds.jsonl")).unwrap_or_default();
        text.lines().map_while(|line| serde_json::from_str(line).ok()).collect()
    }

    #[track_caller]
    pub(crate) fn until(&self, seconds: u64, what: &str, mut done: impl FnMut() -> bool) {
        let end = Instant::now() + Duration::from_secs(seconds);
        while !done() {
            assert!(
                Instant::now() < end,
                "no {what} in {seconds} s; coordinator:\n{}",
                self.said("coordinator")
            );
            sleep(Duration::from_millis(10));
        }
    }
}

pub(crate) fn byz(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_byz"));
    command.args(arguments).envs(data().map(|data| ("BYZ_DATA", data)));
    command
}

/// Where MNIST is, if it is.
pub(crate) fn data() -> Option<PathBuf> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    shared.join("mnist").is_dir().then_some(shared)
}

/// How often a kind was ignored, over all rounds.
pub(crate) fn ignored(lines: &[Value], kind: &str) -> u64 {
    lines.iter().filter_map(|line| line["training"]["ignored"][kind].as_u64()).sum()
}

/// What was found of this worker, round by round.
pub(crate) fn verdicts(lines: &[Value], worker: u64) -> Vec<String> {
    let of_line = |line: &Value| {
        let verdicts = line["training"]["verdicts"].as_array()?.clone();
        verdicts.iter().find(|verdict| verdict[0].as_u64() == Some(worker))?[1].as_str().map(str::to_string)
    };
    lines.iter().filter_map(of_line).collect()
}
