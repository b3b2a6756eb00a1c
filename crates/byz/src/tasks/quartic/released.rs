//! Shifts and noise as the released code of Byz-NSGDM draws them, so that its published numbers come out to the digit.
//!
//! There all shifts come first; then every worker, Byzantine ones too, takes its noise of a round from one sequence. A
//! run whose seed also drew the shifts goes on behind them when it is the first of its process (`numpy_after_shifts`), and
//! starts anew with its seed when the learning rate is tuned (`numpy`).

use crate::{
    error::{Error, Result},
    numpy_random::Normals,
};
use std::sync::{Mutex, PoisonError};

/// NumPy's seeds have 32 bits.
pub(super) fn seed(seed: u64) -> Result<u32> {
    u32::try_from(seed)
        .map_err(|_| Error::Usage(format!("seed {seed}: numbers drawn as NumPy does need one below 2^32")))
}

/// The noise of one run.
pub(super) struct Noise {
    seed: u32,
    workers: usize,
    /// Numbers of the sequence that were not noise.
    skipped: u64,
    reached: Mutex<Reached>,
}

/// How far the sequence was drawn.
struct Reached {
    now: Place,
    /// The start of the latest round: some attacks ask for a round again and again.
    round: Place,
}

#[derive(Clone)]
struct Place {
    normals: Normals,
    drawn: u64,
}

impl Place {
    fn start(seed: u32) -> Place {
        Place { normals: Normals::new(seed), drawn: 0 }
    }

    fn go_to(&mut self, wanted: u64) {
        self.normals.skip(wanted - self.drawn);
        self.drawn = wanted;
    }
}

impl Noise {
    pub(super) fn new(seed: u32, workers: usize, skipped: usize) -> Noise {
        let reached = Reached { now: Place::start(seed), round: Place::start(seed) };
        Noise { seed, workers, skipped: skipped as u64, reached: Mutex::new(reached) }
    }

    /// One worker's numbers in one round. Rounds usually follow one another; an earlier one costs all that lie before it.
    pub(super) fn draw(&self, worker: usize, round: u64, out: &mut [f64]) {
        let length = out.len() as u64;
        let start = self.skipped + round.saturating_sub(1) * self.workers as u64 * length;
        let wanted = start + worker as u64 * length;
        let mut reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        let Reached { now, round } = &mut *reached;
        if round.drawn != start {
            if start < round.drawn {
                *round = Place::start(self.seed);
            }
            // Behind what was drawn last, unless that was beyond.
            if (round.drawn..=start).contains(&now.drawn) {
                *round = now.clone();
            }
            round.go_to(start);
        }
        if now.drawn > wanted || now.drawn < start {
            *now = round.clone();
        }
        now.go_to(wanted);
        out.iter_mut().for_each(|number| *number = now.normals.next());
        now.drawn += length;
    }
}
