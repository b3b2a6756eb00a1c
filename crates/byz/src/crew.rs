//! Helpers that outlive a pass. A round of training makes five passes of a millisecond; starting a thread for each takes
//! 80 µs on a small cloud machine, waking one that sleeps 30, and calling one that is still looking around 1.
//!
//! A call for help is an offer, never a debt: who called works too, and when nothing is left withdraws what no helper
//! took up. So calls may nest, and a machine that cannot start threads is only slower. A process that was forked off has none of
//! its parent's threads, but may have a lock that one of them held: there everyone works alone.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    process,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// How long to look around before sleeping: passes follow one another closely, rounds need not.
const PATIENCE: Duration = Duration::from_micros(50);

static CREW: Crew = Crew {
    offers: Mutex::new(Offers { open: VecDeque::new(), helpers: 0, busy: 0 }),
    call: Condvar::new(),
    open: AtomicUsize::new(0),
    process: AtomicU32::new(0),
};

struct Crew {
    offers: Mutex<Offers>,
    call: Condvar,
    /// Open offers, to look at without the lock.
    open: AtomicUsize,
    /// Whose threads they are; zero before the first call.
    process: AtomicU32,
}

struct Offers {
    /// What may be taken up, and as which participant.
    open: VecDeque<(Arc<Errand>, usize)>,
    /// Threads that were started.
    helpers: usize,
    /// Threads at work.
    busy: usize,
}

/// One call for help.
struct Errand {
    body: *const (dyn Fn(usize) + Sync),
    /// Helpers at work on it; changes only under the crew's lock.
    running: AtomicUsize,
    done: Condvar,
    panicked: AtomicBool,
}

// SAFETY: `body` is Sync, and `with_helpers` does not return while anybody may still call it.
unsafe impl Send for Errand {}
// SAFETY: as above.
unsafe impl Sync for Errand {}

/// Runs `body(0)` here and, where helpers are free, `body(1)` to `body(helpers)` on them; returns when all have ended.
/// Every participant must be able to do all of the work alone.
pub(crate) fn with_helpers(helpers: usize, body: &(dyn Fn(usize) + Sync)) {
    if !CREW.is_ours() {
        return body(0);
    }
    // SAFETY: only the lifetime changes; `Recall` outwaits everyone who could use the pointer.
    let body_for_all: *const (dyn Fn(usize) + Sync) = unsafe { std::mem::transmute(body) };
    let errand = Arc::new(Errand {
        body: body_for_all,
        running: AtomicUsize::new(0),
        done: Condvar::new(),
        panicked: AtomicBool::new(false),
    });
    CREW.offer(&errand, helpers);
    let recall = Recall(&errand);
    body(0);
    drop(recall);
    assert!(!errand.panicked.load(Ordering::Relaxed), "a helper panicked; its message is above");
}

/// Withdraws what nobody took up and waits for the others, also when the caller's own part panics.
struct Recall<'a>(&'a Arc<Errand>);

impl Drop for Recall<'_> {
    fn drop(&mut self) {
        let mut offers = CREW.locked();
        offers.open.retain(|(errand, _)| !Arc::ptr_eq(errand, self.0));
        CREW.open.store(offers.open.len(), Ordering::Relaxed);
        drop(offers);
        look_around(|| self.0.running.load(Ordering::Acquire) == 0);
        let mut offers = CREW.locked();
        while self.0.running.load(Ordering::Acquire) > 0 {
            offers = self.0.done.wait(offers).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Crew {
    /// Whether this is the process that the helpers belong to, or the first to call.
    fn is_ours(&self) -> bool {
        let process = process::id();
        match self.process.compare_exchange(0, process, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => true,
            Err(owner) => owner == process,
        }
    }

    fn locked(&self) -> MutexGuard<'_, Offers> {
        self.offers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn offer(&self, errand: &Arc<Errand>, helpers: usize) {
        let mut offers = self.locked();
        offers.open.extend((1..=helpers).map(|participant| (Arc::clone(errand), participant)));
        self.open.store(offers.open.len(), Ordering::Relaxed);
        while offers.helpers - offers.busy < offers.open.len() {
            let started = thread::Builder::new().name("byz-helper".into()).spawn(|| CREW.help());
            if started.is_err() {
                break;
            }
            offers.helpers += 1;
        }
        (0..helpers).for_each(|_| self.call.notify_one());
    }

    /// A helper's life.
    fn help(&self) {
        loop {
            look_around(|| self.open.load(Ordering::Relaxed) > 0);
            let mut offers = self.locked();
            let (errand, participant) = loop {
                match offers.open.pop_front() {
                    Some(offer) => break offer,
                    None => offers = self.call.wait(offers).unwrap_or_else(PoisonError::into_inner),
                }
            };
            self.open.store(offers.open.len(), Ordering::Relaxed);
            offers.busy += 1;
            errand.running.fetch_add(1, Ordering::Relaxed);
            drop(offers);
            // SAFETY: this helper counts as running, so `Recall` keeps the caller, and with it the body, in place.
            let body = unsafe { &*errand.body };
            if catch_unwind(AssertUnwindSafe(|| body(participant))).is_err() {
                errand.panicked.store(true, Ordering::Relaxed);
            }
            let mut offers = self.locked();
            offers.busy -= 1;
            errand.running.fetch_sub(1, Ordering::Release);
            errand.done.notify_all();
        }
    }
}

fn look_around(found: impl Fn() -> bool) {
    let start = Instant::now();
    while !found() && start.elapsed() < PATIENCE {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_nest_and_a_panic_reaches_the_caller() {
        let count = AtomicUsize::new(0);
        for helpers in [0, 1, 2, 7] {
            with_helpers(helpers, &|_| {
                with_helpers(2, &|_| {
                    count.fetch_add(1, Ordering::Relaxed);
                });
            });
        }
        assert!(count.load(Ordering::Relaxed) >= 4);
        // The caller waits until a helper has come: the body it then leaves must outlive the helper's part.
        let came = AtomicUsize::new(0);
        let result = catch_unwind(AssertUnwindSafe(|| {
            with_helpers(1, &|participant| {
                came.fetch_add(1, Ordering::Relaxed);
                while came.load(Ordering::Relaxed) < 2 {
                    thread::yield_now();
                }
                assert!(participant == 0, "a test");
            });
        }));
        assert!(result.is_err());
        with_helpers(1, &|_| ());
    }
}
