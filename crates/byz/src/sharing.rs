//! Jobs shared out among threads, with results in the order of the jobs; and workspaces that outlive them.

use crate::crew::with_helpers;
use std::{
    collections::VecDeque,
    ops::{Deref, DerefMut},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// A panic in one job ends the call; until then the others may go on.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Jobs by thread. Each thread takes neighbouring jobs, the same ones in every pass: memory is read in long runs, and what
/// a thread wrote is still in its cache when it comes back. One that is done helps the thread with most left, from its end.
struct Queue<J>(Vec<VecDeque<(usize, J)>>);

impl<J> Queue<J> {
    fn new(jobs: Vec<J>, threads: usize) -> Queue<J> {
        let count = jobs.len();
        let mut jobs = jobs.into_iter().enumerate();
        let share = |thread: usize| count * (thread + 1) / threads - count * thread / threads;
        Queue((0..threads).map(|thread| jobs.by_ref().take(share(thread)).collect()).collect())
    }

    fn next(&mut self, thread: usize) -> Option<(usize, J)> {
        let own = self.0[thread].pop_front();
        own.or_else(|| self.0.iter_mut().max_by_key(|jobs| jobs.len())?.pop_back())
    }
}

/// Runs `work` on every job, on up to `threads` threads; each makes its own workspace.
pub fn share_out<J: Send, S, R: Send>(
    jobs: Vec<J>,
    threads: usize,
    workspace: impl Fn() -> S + Sync,
    work: impl Fn(J, &mut S) -> R + Sync,
) -> Vec<R> {
    let threads = threads.min(jobs.len());
    if threads <= 1 {
        let mut space = workspace();
        return jobs.into_iter().map(|job| work(job, &mut space)).collect();
    }
    let results: Mutex<Vec<Option<R>>> = Mutex::new(jobs.iter().map(|_| None).collect());
    let queue = Mutex::new(Queue::new(jobs, threads));
    let next = |thread| locked(&queue).next(thread);
    let body = |thread| {
        let mut space = workspace();
        while let Some((index, job)) = next(thread) {
            let result = work(job, &mut space);
            locked(&results)[index] = Some(result);
        }
    };
    with_helpers(threads - 1, &body);
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_iter().map(|result| result.expect("every job ran")).collect()
}

/// Workspaces that outlive a call: each thread borrows one, so nothing is allocated per step.
#[derive(Debug)]
pub struct Pool<S>(Mutex<Vec<S>>);

impl<S> Default for Pool<S> {
    fn default() -> Self {
        Pool(Mutex::new(Vec::new()))
    }
}

impl<S> Pool<S> {
    /// A workspace of the pool, or a new one; it goes back when it is dropped.
    pub fn borrow(&self, new: impl FnOnce() -> S) -> Borrowed<'_, S> {
        let spare = locked(&self.0).pop();
        Borrowed { pool: self, space: Some(spare.unwrap_or_else(new)) }
    }
}

/// A workspace of a pool.
#[derive(Debug)]
pub struct Borrowed<'a, S> {
    pool: &'a Pool<S>,
    /// There until it is dropped.
    space: Option<S>,
}

impl<S> Deref for Borrowed<'_, S> {
    type Target = S;

    fn deref(&self) -> &S {
        self.space.as_ref().expect("it is given back only once")
    }
}

impl<S> DerefMut for Borrowed<'_, S> {
    fn deref_mut(&mut self) -> &mut S {
        self.space.as_mut().expect("it is given back only once")
    }
}

impl<S> Drop for Borrowed<'_, S> {
    fn drop(&mut self) {
        locked(&self.pool.0).extend(self.space.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn results_come_in_the_order_of_the_jobs_and_workspaces_are_used_again() {
        let (pool, made) = (Pool::default(), AtomicUsize::new(0));
        for threads in [1, 2, 3, 8, 100] {
            let new = || made.fetch_add(1, Ordering::Relaxed);
            let work = |job: usize, _: &mut Borrowed<'_, usize>| job * job;
            let results = share_out((0..50).collect(), threads, || pool.borrow(new), work);
            assert!(results.iter().enumerate().all(|(job, &result)| result == job * job));
        }
        assert!(made.into_inner() <= 50);
        // One thread is held up until the others have done everything else.
        let left = AtomicUsize::new(49);
        let work = |job: usize, (): &mut ()| {
            while job == 0 && left.load(Ordering::Relaxed) > 0 {
                std::thread::yield_now();
            }
            left.fetch_sub(usize::from(job > 0), Ordering::Relaxed);
            job
        };
        assert!(share_out((0..50).collect(), 3, || (), work).is_sorted());
        let none: Vec<u8> = share_out(Vec::<u8>::new(), 4, || (), |job, ()| job);
        assert!(none.is_empty());
    }
}
