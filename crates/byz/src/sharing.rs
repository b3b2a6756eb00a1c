//! Jobs shared out among threads, with results in the order of the jobs; and workspaces that outlive them.

use std::{
    ops::{Deref, DerefMut},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// A panic in one job ends the call; until then the others may go on.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `work` on every job, on up to `threads` threads that take jobs as they come free; each thread makes its own workspace.
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
    let queue = Mutex::new(jobs.into_iter().enumerate());
    let next = || locked(&queue).next();
    std::thread::scope(|scope| {
        let body = || {
            let mut space = workspace();
            while let Some((index, job)) = next() {
                let result = work(job, &mut space);
                locked(&results)[index] = Some(result);
            }
        };
        (1..threads).for_each(|_| drop(scope.spawn(body)));
        body();
    });
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
        let none: Vec<u8> = share_out(Vec::<u8>::new(), 4, || (), |job, ()| job);
        assert!(none.is_empty());
    }
}
