//! A search in a thread of its own: a look at thousands of messages can take minutes, and the search ends when it was told to.

use crate::{exit, text::wrap};
use byz::{
    Defense, Error,
    theory::{Counts, Instance, search},
};
use std::{
    panic::resume_unwind,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// What a search was given, and what it took.
pub(super) struct Effort {
    limit: Duration,
    taken: Duration,
    /// When the last look ended.
    looked: Duration,
    /// Instances looked at.
    pub(super) looks: u64,
}

/// What the searching thread tells.
#[derive(Default)]
struct Told {
    looks: u64,
    looked: Duration,
    worst: Option<Instance>,
    over: bool,
}

/// How long the first look is waited for, whatever was asked: a search that shows nothing is of no use.
const FIRST_LOOK: Duration = Duration::from_secs(10);
/// How often the time is looked at.
const TICK: Duration = Duration::from_millis(2);
/// About what a number takes to be written and synced.
const SAVING: Duration = Duration::from_nanos(20);

/// The worst messages that so many seconds show, less what saving them takes, or the time until an interrupt.
pub(super) fn climb(
    rule: &str,
    counts: &Counts,
    seed: u64,
    seconds: f64,
) -> Result<(Option<Instance>, Effort), Error> {
    let limit = Duration::try_from_secs_f64(seconds)
        .map_err(|_| Error::Usage("--search is a number of seconds".into()))?;
    let numbers = u32::try_from(counts.messages * counts.dimension).unwrap_or(u32::MAX);
    let least = limit.saturating_sub(SAVING.saturating_mul(numbers));
    let start = Instant::now();
    let told = Arc::new(Mutex::new(Told::default()));
    let searching = thread::spawn({
        let (defense, counts, told) = (Defense::new(rule, counts.tolerance)?, *counts, told.clone());
        move || {
            search(&defense, &counts, seed, |look| {
                let mut told = lock(&told);
                (told.looks, told.looked) = (told.looks + 1, start.elapsed());
                if told.worst.as_ref().is_none_or(|worst| look.ratio() > worst.ratio) {
                    told.worst = Some(look.instance());
                }
                !told.over && told.looked < least
            })
        }
    });
    let waits = || start.elapsed() < end(least, lock(&told).looks);
    while !searching.is_finished() && !exit::stopping() && waits() {
        thread::sleep(TICK);
    }
    if searching.is_finished() {
        searching.join().unwrap_or_else(|panic| resume_unwind(panic))?;
    }
    // What is still looked at is left behind: the process ends soon.
    let mut told = lock(&told);
    told.over = true;
    // A negative ratio is none: the rule refused the messages, or the honest had more leverage than promised.
    let found = told.worst.take().filter(|worst| worst.ratio >= 0.0);
    Ok((found, Effort { limit, taken: start.elapsed(), looked: told.looked, looks: told.looks }))
}

/// When a search of this length ends that has looked so often.
fn end(least: Duration, looks: u64) -> Duration {
    if looks == 0 { least.max(FIRST_LOOK) } else { least }
}

fn lock(told: &Mutex<Told>) -> MutexGuard<'_, Told> {
    told.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Effort {
    /// What the search took, in seconds.
    pub(super) fn seconds(&self) -> f64 {
        self.taken.as_secs_f64()
    }

    /// What to know of a search that had too little time, or found nothing.
    pub(super) fn told(&self, found: bool) -> String {
        let [taken, looked, limit] = [self.taken, self.looked, self.limit].map(|time| time.as_secs_f64());
        let text = match (self.looks, found) {
            (0, _) => format!("Not one look was done after {taken:.1} s; give --search more."),
            (_, false) => {
                "The search found nothing: the rule refused all messages, or they had too much leverage."
                    .into()
            }
            (1, _) if self.looked > self.limit => format!(
                "The only look took {looked:.2} s, more than the {limit} s of the search; a longer one may find more."
            ),
            _ => return String::new(),
        };
        format!("\n{}", wrap("", 0, &text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use byz::theory::Definition;

    fn climbed(rule: &str, messages: usize, dimension: usize, seconds: f64) -> (Option<Instance>, Effort) {
        let definition = Definition::Linear;
        let counts = Counts { messages, tolerance: 2, dimension, definition, leverage: None };
        climb(rule, &counts, 0, seconds).unwrap()
    }

    #[test]
    fn only_the_first_look_is_waited_for() {
        let [second, minute] = [1, 60].map(Duration::from_secs);
        assert_eq!([end(second, 0), end(second, 1), end(minute, 0)], [FIRST_LOOK, second, minute]);
    }

    #[test]
    fn one_look_is_taken_and_told() {
        let (found, effort) = climbed("median", 50, 1, 0.0);
        assert!(effort.looks == 1 && found.is_some() && effort.told(true).contains("The only look took"));
        let (found, effort) = climbed("median", 5, 1, 0.2);
        assert!(effort.looks > 10 && found.is_some() && effort.told(true).is_empty());
        assert!(effort.told(false).contains("found nothing"));
        assert!(Effort { looks: 0, ..effort }.told(false).contains("give --search more"));
    }

    #[test]
    fn a_search_that_finds_an_infinite_ratio_ends_early() {
        let (found, _) = climbed("nnm+krum", 5, 1, 1e4);
        assert!(found.is_some_and(|found| found.ratio.is_infinite()));
    }
}
