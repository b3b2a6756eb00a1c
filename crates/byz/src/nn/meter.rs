//! How fast matrix products run inside the work that needs them, all threads together.
//!
//! A product of a layer is small and its operands come from elsewhere in the cache, so its rate is not that of a product repeated on its
//! own. Unless somebody measures, a product pays for one look at a flag.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

static ON: AtomicBool = AtomicBool::new(false);
static NANOSECONDS: AtomicU64 = AtomicU64::new(0);
static OPERATIONS: AtomicU64 = AtomicU64::new(0);

/// What products did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Products {
    /// Time in products, added over the threads.
    pub time: Duration,
    /// Multiplications and additions.
    pub operations: f64,
}

impl Products {
    /// GFLOP/s of a thread while it multiplies; none where nobody did.
    pub fn gflops(self) -> Option<f64> {
        (self.operations > 0.0).then(|| self.operations / self.time.as_secs_f64() / 1e9)
    }
}

/// Does the work, and tells of the products in it: of all that this process computes meanwhile. One measurement at a time.
pub fn measured<R>(work: impl FnOnce() -> R) -> (R, Products) {
    static ONE: Mutex<()> = Mutex::new(());
    let _turn = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    NANOSECONDS.store(0, Ordering::Relaxed);
    OPERATIONS.store(0, Ordering::Relaxed);
    ON.store(true, Ordering::Relaxed);
    let result = work();
    ON.store(false, Ordering::Relaxed);
    let time = Duration::from_nanos(NANOSECONDS.load(Ordering::Relaxed));
    (result, Products { time, operations: OPERATIONS.load(Ordering::Relaxed) as f64 })
}

/// Multiplies m×k by k×n, on the clock if somebody measures.
pub(super) fn product(m: usize, n: usize, k: usize, multiply: impl FnOnce()) {
    if !ON.load(Ordering::Relaxed) {
        return multiply();
    }
    let clock = Instant::now();
    multiply();
    NANOSECONDS.fetch_add(clock.elapsed().as_nanos() as u64, Ordering::Relaxed);
    OPERATIONS.fetch_add(2 * (m * n * k) as u64, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::product::{Into, View, multiply};

    #[test]
    fn counts_the_products_of_the_work_and_no_others() {
        let once = || {
            let mut out = [0.0; 64 * 64];
            let square = View::new(&[1.0; 64 * 64], 64, 64);
            multiply(1.0, square, square, &mut out, 64, Into::Replace);
            out[0]
        };
        once();
        let (value, products) = measured(|| once() + once());
        assert_eq!(value, 128.0);
        // Other tests of this process may multiply meanwhile.
        assert!(products.operations >= 2.0 * 2.0 * 64f64.powi(3) && products.time > Duration::ZERO);
        assert!(products.gflops().is_some() && Products::default().gflops().is_none());
    }
}
