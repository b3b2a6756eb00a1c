//! A bar with loss, metric, rounds per second and time left; plain lines where nobody watches.

use crate::run::number;
use byz::{RoundReport, experiment::Config, tasks::Metrics};
use indicatif::{ProgressBar, ProgressStyle};
use std::{
    io::{self, IsTerminal, Write},
    sync::Mutex,
    time::{Duration, Instant},
};

pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    quiet: bool,
    rounds: u64,
    latest: Mutex<Latest>,
}

struct Latest {
    metric: Option<f64>,
    shown: Instant,
    started: Instant,
    from: Option<u64>,
}

/// Between two looks at the bar.
const REFRESH: Duration = Duration::from_millis(100);
/// Between two plain lines.
const PLAIN: Duration = Duration::from_secs(5);

impl Progress {
    pub(super) fn new(config: &Config, quiet: bool) -> Progress {
        let bar = (!quiet && io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new(config.rounds);
            if let Ok(style) =
                ProgressStyle::with_template("{bar:12} {pos}/{len}  {wide_msg}  {per_sec}, {eta} left")
            {
                bar.set_style(style);
            }
            bar
        });
        let now = Instant::now();
        let latest = Latest { metric: None, shown: now, started: now, from: None };
        Progress { bar, quiet, rounds: config.rounds, latest: Mutex::new(latest) }
    }

    pub(super) fn advance(&self, round: u64, report: &RoundReport, metrics: Option<&Metrics>) {
        if self.quiet {
            return;
        }
        let Ok(mut latest) = self.latest.lock() else { return };
        latest.metric = metrics.map(|metrics| metrics.metric).or(latest.metric);
        let from = *latest.from.get_or_insert(round - 1);
        let every = if self.bar.is_some() { REFRESH } else { PLAIN };
        if latest.shown.elapsed() < every {
            return;
        }
        latest.shown = Instant::now();
        let metric = latest.metric.map_or(String::new(), |metric| format!("  metric {}", number(metric)));
        let text = format!("loss {}{metric}", number(report.loss));
        match &self.bar {
            Some(bar) => {
                if bar.position() == 0 && from > 0 {
                    // A resumed run's speed is that of its own rounds.
                    bar.set_position(from);
                    bar.reset_eta();
                }
                bar.set_message(text);
                bar.set_position(round);
            }
            None => {
                let seconds = latest.started.elapsed().as_secs_f64();
                let speed = (round - from) as f64 / seconds;
                let left = (self.rounds - round) as f64 / speed;
                let line = format!("round {round}/{}  {text}  {speed:.1}/s  {left:.0} s left", self.rounds);
                // Nothing can be done if standard error is closed.
                let _ = writeln!(io::stderr(), "{line}");
            }
        }
    }

    pub(crate) fn warn(&self, message: &str) {
        let line = format!("byz: warning: {}", crate::text::clean(message));
        match &self.bar {
            Some(bar) => bar.println(line),
            None => drop(writeln!(io::stderr(), "{line}")),
        }
    }

    pub(super) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
