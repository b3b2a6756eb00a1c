//! How long a round waits for those who have not answered.
//!
//! As soon as a majority of the members has answered and the rule could work with what is there, after t seconds, the others
//! get until `factor`·t, at least [`SHORTEST`] and at most the cap. With fewer than half of the members lying, the majority's
//! time lies between those of honest members, so liars can neither stretch a round nor cut honest members off. Rejected: a
//! deadline from past rounds, which is wrong for the first round after every change of speed.

use std::time::Duration;

/// Of members on one machine, who answer within microseconds, the unlucky ones still get this long.
const SHORTEST: Duration = Duration::from_millis(100);

/// How long rounds wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Patience {
    /// Times what the majority took.
    pub(crate) factor: f64,
    /// At most, and as long as there is no majority.
    pub(crate) cap: Duration,
}

impl Patience {
    /// When to close, counted from the broadcast, if the round could be made after this long.
    pub(crate) fn deadline(&self, ready: Option<Duration>) -> Duration {
        let stretched = |ready: Duration| ready.as_secs_f64() * self.factor;
        let wait = ready.and_then(|ready| Duration::try_from_secs_f64(stretched(ready)).ok());
        wait.map_or(self.cap, |wait| wait.max(SHORTEST).min(self.cap))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_others_get_a_multiple_of_what_the_majority_took_within_limits() {
        let patience = Patience { factor: 4.0, cap: Duration::from_secs(60) };
        let after = |seconds: f64| patience.deadline(Some(Duration::from_secs_f64(seconds))).as_secs_f64();
        assert_eq!((after(1e-4), after(2.0), after(40.0)), (0.1, 8.0, 60.0));
        assert_eq!(patience.deadline(None).as_secs_f64(), 60.0);
    }
}
