//! How the passes run: which kernels, how many threads, who hears of progress.
//!
//! The columns are cut into chunks whose number depends on the dimension alone. Threads take neighbouring
//! chunks and help one another at the end; results are kept in chunk order. So no bit depends on the number of
//! threads.

use crate::{kernels::Kernels, sharing::share_out};
use std::{mem::MaybeUninit, ops::Range};

/// Hears of finished columns: `done` of `total`, over all passes of a call.
pub type Progress<'a> = &'a (dyn Fn(usize) + Sync);

/// How the passes over the data run.
#[derive(Clone, Copy)]
pub struct Engine<'a> {
    /// Threads at most; 1 runs in the caller's thread.
    pub threads: usize,
    /// Which kernels.
    pub kernels: Kernels,
    /// Called with the number of columns each time a chunk of some pass is done.
    pub progress: Option<Progress<'a>>,
}

impl Default for Engine<'_> {
    fn default() -> Self {
        Engine { threads: 1, kernels: Kernels::detect(), progress: None }
    }
}

/// Columns of the smallest chunk.
const CHUNK: usize = 1 << 13;
/// Chunks at most: enough to share among any number of threads.
const MOST_CHUNKS: usize = 512;
/// Partial results kept at most over all chunks.
const MOST_RESULTS: usize = 1 << 23;

/// The columns of each chunk of a dimension when every chunk gives `results` numbers.
fn chunk_width(dimension: usize, results: usize) -> usize {
    let most = (MOST_RESULTS / results.max(1)).clamp(16, MOST_CHUNKS);
    dimension.div_ceil(most).max(1).next_multiple_of(CHUNK)
}

impl Engine<'_> {
    /// As many threads as the machine has processors.
    pub fn parallel() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Engine { threads, ..Engine::default() }
    }

    /// Runs `work` on each job; each thread makes its own workspace. Results come in job order.
    pub(crate) fn run<J: Send, S, R: Send>(
        &self,
        jobs: Vec<(Range<usize>, J)>,
        workspace: impl Fn() -> S + Sync,
        work: impl Fn(Range<usize>, J, &mut S) -> R + Sync,
    ) -> Vec<R> {
        share_out(jobs, self.threads, workspace, |(columns, job), space| {
            let width = columns.len();
            let result = work(columns, job, space);
            self.progress.iter().for_each(|progress| progress(width));
            result
        })
    }

    /// Runs `work` on each of some jobs that touch `size` numbers each; on several threads where that pays.
    pub(crate) fn each<J: Send>(&self, jobs: &mut [J], size: usize, work: impl Fn(&mut J) + Sync) {
        let threads = if size * jobs.len() < CHUNK { 1 } else { self.threads };
        share_out(jobs.iter_mut().collect(), threads, || (), |job, ()| work(job));
    }

    /// Runs `work` on every chunk of the dimension; each gives about `results` numbers.
    pub(crate) fn chunks<S, R: Send>(
        &self,
        dimension: usize,
        results: usize,
        workspace: impl Fn() -> S + Sync,
        work: impl Fn(Range<usize>, &mut S) -> R + Sync,
    ) -> Vec<R> {
        let width = chunk_width(dimension, results);
        let jobs =
            (0..dimension).step_by(width).map(|start| (start..dimension.min(start + width), ())).collect();
        self.run(jobs, workspace, |columns, (), space| work(columns, space))
    }

    /// A vector of which `work` writes every chunk; it finds zeros there.
    pub(crate) fn produce<T: Copy + Default + Send, S, R: Send>(
        &self,
        dimension: usize,
        workspace: impl Fn() -> S + Sync,
        work: impl Fn(Range<usize>, &mut [T], &mut S) -> R + Sync,
    ) -> (Vec<T>, Vec<R>) {
        let width = chunk_width(dimension, 1);
        let mut out = Vec::with_capacity(dimension);
        let mut start = 0;
        let jobs = out.spare_capacity_mut()[..dimension].chunks_mut(width).map(|part| {
            start += part.len();
            (start - part.len()..start, part)
        });
        // Zeroed by the thread that writes it, while it is in that thread's cache: the kernel hands out fresh pages one
        // by one, and one thread zeroing all of it held the others up.
        let results = self.run(jobs.collect(), workspace, |columns, part: &mut [MaybeUninit<T>], space| {
            part.fill(MaybeUninit::new(T::default()));
            // SAFETY: every element has just been written.
            let part = unsafe { &mut *(std::ptr::from_mut(part) as *mut [T]) };
            work(columns, part, space)
        });
        // SAFETY: the chunks cover the dimension and every one has been written.
        unsafe { out.set_len(dimension) };
        (out, results)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_whatever_the_threads() {
        for threads in [1, 2, 3, 8] {
            let engine = Engine { threads, ..Engine::default() };
            let starts = engine.chunks(100_000, 1, || (), |columns, ()| columns.start);
            assert!(starts.is_sorted() && starts.len() == 13);
            let (out, _) = engine.produce(
                20_000,
                || (),
                |columns, part: &mut [usize], ()| {
                    assert!(part.iter().all(|&value| value == 0));
                    part.iter_mut().zip(columns).for_each(|(out, k)| *out = k);
                },
            );
            assert!(out.iter().enumerate().all(|(k, &value)| k == value));
        }
    }
}
