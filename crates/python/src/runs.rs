//! Training from Python: the same runs and sweeps as on the command line, interrupted by Ctrl-C like any Python code.

use crate::errors::{lock, raise};
use byz::{
    Engine, Error, Result,
    data::Directory,
    experiment::{self, Draft, Grid, Job, Settled, Status, Sweep, Watch},
};
use pyo3::{Py, PyAny, PyResult, Python, exceptions::PyValueError, pyfunction};
use serde_json::{Value, json};
use std::{
    panic::resume_unwind,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

/// Rounds may take microseconds; Python hears of them so often at most.
const PERIOD: Duration = Duration::from_millis(100);
const CHECKPOINT: Duration = Duration::from_secs(30);

/// Between the rounds and Python: tells of progress, and hears that it should stop.
struct Link {
    progress: Py<PyAny>,
    total: u64,
    done: AtomicU64,
    last: Mutex<Last>,
    stopped: AtomicBool,
    warnings: Mutex<Vec<String>>,
}

/// What Python hears next.
#[derive(Default)]
struct Last {
    /// The last round and its loss; none once they were told.
    round: Option<(u64, f64)>,
    /// The last evaluation.
    metric: Option<f64>,
}

impl Link {
    fn new(progress: Py<PyAny>, total: u64) -> Link {
        Link {
            progress,
            total,
            done: AtomicU64::new(0),
            last: Mutex::default(),
            stopped: AtomicBool::new(false),
            warnings: Mutex::new(Vec::new()),
        }
    }

    /// Works in a thread of its own, while this one, which alone hears of Ctrl-C, tells Python how far it has come.
    fn attend<R: Send>(&self, py: Python<'_>, work: impl FnOnce() -> Result<R> + Send) -> PyResult<R> {
        let (sender, outcome) = mpsc::channel();
        let (outcome, heard) = py.detach(move || {
            thread::scope(move |scope| {
                let worker = scope.spawn(move || sender.send(work()));
                let mut heard = Ok(());
                loop {
                    match outcome.recv_timeout(PERIOD) {
                        Err(RecvTimeoutError::Timeout) if heard.is_ok() => {
                            heard = self.tell();
                            self.stopped.store(heard.is_err(), Ordering::Relaxed);
                        }
                        Err(RecvTimeoutError::Timeout) => {}
                        Ok(outcome) => break (outcome, heard),
                        Err(RecvTimeoutError::Disconnected) => match worker.join() {
                            Err(panic) => resume_unwind(panic),
                            Ok(_) => unreachable!("a worker that ends well has sent its outcome"),
                        },
                    }
                }
            })
        });
        heard.and_then(|()| self.tell())?;
        outcome.map_err(|error| raise(py, error))
    }

    /// Tells of the last round, if there was one since.
    fn tell(&self) -> PyResult<()> {
        let (round, metric) = {
            let mut last = lock(&self.last);
            (last.round.take(), last.metric)
        };
        Python::attach(|py| {
            py.check_signals()?;
            match round {
                Some((done, loss)) => self.progress.call1(py, (done, self.total, loss, metric)).map(drop),
                None => Ok(()),
            }
        })
    }

    /// Notes a round, and its evaluation if there was one.
    fn advance(&self, done: u64, loss: f64, metric: Option<f64>) {
        let mut last = lock(&self.last);
        *last = Last { round: Some((done, loss)), metric: metric.or(last.metric) };
    }

    fn watch<'a>(
        &'a self,
        engine: Engine<'a>,
        progress: &'a (dyn Fn(u64, &byz::RoundReport, Option<&byz::tasks::Metrics>) + Sync),
        warn: &'a (dyn Fn(&str) + Sync),
        stop: &'a (dyn Fn() -> bool + Sync),
    ) -> Watch<'a> {
        Watch { engine, checkpoint_every: CHECKPOINT, checkpoint_rounds: None, progress, warn, stop }
    }

    fn warn(&self, message: &str) {
        let mut warnings = lock(&self.warnings);
        if !warnings.iter().any(|known| known == message) {
            warnings.push(message.to_string());
        }
    }
}

/// TOML as it is, or the TOML of a JSON object: what Python's dictionaries become.
fn toml_text(text: &str, is_json: bool) -> PyResult<String> {
    if !is_json {
        return Ok(text.to_string());
    }
    let value: Value = serde_json::from_str(text)
        .map_err(|error| PyValueError::new_err(format!("the configuration: {error}")))?;
    toml::to_string(&value).map_err(|error| PyValueError::new_err(format!("the configuration: {error}")))
}

fn data_directory(asked: Option<&Path>) -> Directory {
    // Tasks without data need no home; the others say where they looked.
    Directory::find(asked).unwrap_or_else(|_| Directory::at("byz-data"))
}

fn engine<'a>(threads: Option<usize>) -> Engine<'a> {
    threads.map_or_else(Engine::parallel, |threads| Engine { threads, ..Engine::default() })
}

/// One run in a directory, from where it stands there; its summary as JSON, and what a person should know.
#[pyfunction]
#[pyo3(signature = (config, directory, *, is_json, threads, data, progress))]
pub(crate) fn run(
    py: Python<'_>,
    config: &str,
    directory: PathBuf,
    is_json: bool,
    threads: Option<usize>,
    data: Option<PathBuf>,
    progress: Py<PyAny>,
) -> PyResult<(String, Vec<String>)> {
    let text = toml_text(config, is_json)?;
    let resolved = Draft::from_toml(&text).and_then(|draft| draft.resolve());
    let config = resolved.map_err(|error| raise(py, error))?;
    let link = Link::new(progress, config.rounds);
    config.warnings().iter().for_each(|warning| link.warn(warning));
    let ended = link.attend(py, || {
        let progress = |round: u64, report: &byz::RoundReport, metrics: Option<&byz::tasks::Metrics>| {
            link.advance(round, report.loss, metrics.map(|metrics| metrics.metric));
        };
        let (warn, stop) = (|message: &str| link.warn(message), || link.stopped.load(Ordering::Relaxed));
        let watch = link.watch(engine(threads), &progress, &warn, &stop);
        experiment::run(&config, &directory, &data_directory(data.as_deref()), &watch)
    })?;
    let warnings = std::mem::take(&mut *lock(&link.warnings));
    Ok((json!(ended.summary).to_string(), warnings))
}

/// A grid in a directory; every run as JSON: its cell, its configuration, and its summary or what went wrong. And what a person should know.
#[pyfunction]
#[pyo3(signature = (grid, directory, *, name, is_json, jobs, data, progress))]
#[expect(clippy::too_many_arguments, reason = "only the Python layer calls it, by name")]
pub(crate) fn sweep(
    py: Python<'_>,
    grid: &str,
    directory: PathBuf,
    name: &str,
    is_json: bool,
    jobs: Option<usize>,
    data: Option<PathBuf>,
    progress: Py<PyAny>,
) -> PyResult<(String, Vec<String>)> {
    let grid = Grid::from_toml(&toml_text(grid, is_json)?).map_err(|error| raise(py, error))?;
    let cells = grid.cells().map_err(|error| raise(py, error))?;
    let jobs = jobs.unwrap_or_else(|| Engine::parallel().threads);
    let threads = (Engine::parallel().threads / jobs.max(1)).max(1);
    let data = data_directory(data.as_deref());
    let mut link = Link::new(progress, 0);
    let nothing = |_: &Job| unreachable!("nothing is run");
    let plain = Sweep {
        name,
        grid: &grid,
        select: &[],
        expected: None,
        directory: &directory,
        data: &data,
        jobs,
        watch: &nothing,
        settled: &|_| (),
    };
    link.total = plain.total_rounds().map_err(|error| raise(py, error))?;
    let link = link;
    let settled = link.attend(py, || {
        let progress = |_: u64, report: &byz::RoundReport, metrics: Option<&byz::tasks::Metrics>| {
            let done = link.done.fetch_add(1, Ordering::Relaxed) + 1;
            link.advance(done, report.loss, metrics.map(|metrics| metrics.metric));
        };
        let (warn, stop) = (|message: &str| link.warn(message), || link.stopped.load(Ordering::Relaxed));
        let watch = |_: &Job| link.watch(engine(Some(threads)), &progress, &warn, &stop);
        Sweep { watch: &watch, ..plain }.run()
    })?;
    settled.iter().flat_map(|run| run.config.warnings()).for_each(|warning| link.warn(&warning));
    let warnings = std::mem::take(&mut *lock(&link.warnings));
    let told: Vec<Value> = settled.iter().map(|run| told(run, &cells[run.cell])).collect();
    Ok((Value::from(told).to_string(), warnings))
}

fn told(run: &Settled, cell: &experiment::Cell) -> Value {
    let labels: serde_json::Map<String, Value> =
        cell.labels.iter().map(|(axis, label)| (axis.clone(), label.as_str().into())).collect();
    let summary = run.outcome.as_ref().ok();
    json!({
        "labels": labels, "seed": run.config.seed, "rate": run.config.rate, "key": run.config.key(),
        "diverged": summary.map(|summary| summary.status == Status::Diverged),
        "error": run.outcome.as_ref().err().map(Error::to_string), "summary": summary,
    })
}
