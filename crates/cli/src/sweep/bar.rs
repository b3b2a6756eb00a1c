//! One bar for all runs of a sweep; plain lines where there is no terminal.

use crate::{
    run::number,
    text::{clean, shorten},
};
use byz::experiment::{Settled, Status};
use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use std::{
    fmt,
    io::{self, IsTerminal, Write},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

/// Rounds of all runs.
pub(super) struct Bar {
    bar: Option<ProgressBar>,
    quiet: bool,
    /// Of the cells.
    names: Vec<String>,
    /// Rounds counted but not yet shown: a bar that is told every round costs more than a round of the quartic.
    pending: AtomicU64,
    start: Instant,
    /// Milliseconds from the start to when the bar was last told.
    told: AtomicU64,
}

/// Milliseconds between looks at a bar.
const LOOK: u64 = 200;

impl Bar {
    pub(super) fn new(quiet: bool, names: Vec<String>, rounds: u64) -> Bar {
        let bar = (!quiet && io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new(rounds);
            // Before the first rounds nobody knows how long the others take.
            let left = |state: &ProgressState, out: &mut dyn fmt::Write| {
                // A line that cannot be made stays empty.
                let _ = match state.pos() {
                    0 => Ok(()),
                    _ => write!(out, "{} left", HumanDuration(state.eta())),
                };
            };
            if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3}%  {msg}  {left}") {
                bar.set_style(style.with_key("left", left));
            }
            bar.enable_steady_tick(Duration::from_millis(LOOK));
            bar
        });
        Bar { bar, quiet, names, pending: AtomicU64::new(0), start: Instant::now(), told: AtomicU64::new(0) }
    }

    pub(super) fn advance(&self, rounds: u64) {
        self.pending.fetch_add(rounds, Ordering::Relaxed);
        let now = self.start.elapsed().as_millis() as u64;
        if now >= self.told.load(Ordering::Relaxed) + LOOK {
            self.told.store(now, Ordering::Relaxed);
            let shown = self.pending.swap(0, Ordering::Relaxed);
            self.bar.iter().for_each(|bar| bar.inc(shown));
        }
    }

    pub(super) fn settle(&self, settled: &Settled) {
        let config = &settled.config;
        let name = format!("{} seed {}", shorten(&self.names[settled.cell], 40), config.seed);
        let result = match &settled.outcome {
            Err(error) => format!("failed: {error}"),
            Ok(summary) if summary.status == Status::Diverged => {
                format!("diverged in round {}", summary.rounds)
            }
            Ok(summary) => format!("{} {}", summary.metric_name, summary.metric.map_or("-".into(), number)),
        };
        match (&self.bar, &settled.outcome) {
            (_, Err(_)) => self.say(&format!("byz: {}: {}", clean(&name), clean(&result))),
            (Some(bar), Ok(_)) => bar.set_message(shorten(&result, 40)),
            (None, Ok(_)) if !self.quiet => {
                self.say(&format!("{name}  rate {}  {result}", number(config.rate)))
            }
            (None, Ok(_)) => {}
        }
    }

    pub(super) fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            // Nothing can be done if standard error is closed.
            None => drop(writeln!(io::stderr(), "{line}")),
        }
    }

    pub(super) fn clear(&self) {
        self.bar.iter().for_each(ProgressBar::finish_and_clear);
    }
}
