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
    /// The sequence, and how many of its numbers are drawn.
    reached: Mutex<(Normals, u64)>,
}

impl Noise {
    pub(super) fn new(seed: u32, workers: usize, skipped: usize) -> Noise {
        Noise { seed, workers, skipped: skipped as u64, reached: Mutex::new((Normals::new(seed), 0)) }
    }

    /// One worker's numbers in one round. Rounds usually follow one another; another order costs what lies between.
    pub(super) fn draw(&self, worker: usize, round: u64, out: &mut [f64]) {
        let turns = round.saturating_sub(1) * self.workers as u64 + worker as u64;
        let wanted = self.skipped + turns * out.len() as u64;
        let mut reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        let (normals, drawn) = &mut *reached;
        if *drawn > wanted {
            (*normals, *drawn) = (Normals::new(self.seed), 0);
        }
        normals.skip(wanted - *drawn);
        out.iter_mut().for_each(|number| *number = normals.next());
        *drawn = wanted + out.len() as u64;
    }
}
