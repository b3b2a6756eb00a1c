//! The time of a search. A look at messages cannot be cut short, so none is begun that would probably leave too little time to save what
//! was found.

use crate::text::wrap;
use byz::Error;
use std::time::Duration;

/// What a search may take and has taken.
pub(super) struct Budget {
    limit: Duration,
    saving: Duration,
    taken: Duration,
    longest: Duration,
    /// Instances looked at.
    pub(super) looks: u64,
}

/// About what a number takes to be written and synced.
const SAVING: Duration = Duration::from_nanos(20);

impl Budget {
    /// So many seconds, of which some are for saving so many numbers.
    pub(super) fn of(seconds: f64, numbers: usize) -> Result<Budget, Error> {
        let limit = Duration::try_from_secs_f64(seconds)
            .map_err(|_| Error::Usage("--search is a number of seconds".into()))?;
        let saving = SAVING.saturating_mul(u32::try_from(numbers).unwrap_or(u32::MAX));
        Ok(Budget { limit, saving, taken: Duration::ZERO, longest: Duration::ZERO, looks: 0 })
    }

    /// After a look that ended at `now`: whether there is time for one that takes as long as the longest did.
    pub(super) fn allows_another(&mut self, now: Duration) -> bool {
        self.longest = self.longest.max(now.saturating_sub(self.taken));
        self.taken = now;
        self.looks += 1;
        now.saturating_add(self.longest).saturating_add(self.saving) <= self.limit
    }

    /// What the search took, in seconds.
    pub(super) fn seconds(&self) -> f64 {
        self.taken.as_secs_f64()
    }

    /// What to know of a search that had too little time, or found nothing.
    pub(super) fn told(&self, found: bool) -> String {
        let Budget { limit, taken, looks, .. } = self;
        let mut text = String::new();
        if !found {
            text +=
                "The search found nothing: the rule refused all messages, or they had too much leverage. ";
        }
        if taken > limit {
            let (taken, limit) = (self.seconds(), limit.as_secs_f64());
            text += &match looks {
                1 => format!(
                    "A single look took {taken:.2} s, more than the {limit} s of the search; a longer one may find more."
                ),
                _ => format!(
                    "It took {taken:.2} s instead of {limit} s, because a look cannot be cut short and the last of {looks} took \
                     longer than those before."
                ),
            };
        }
        if text.is_empty() { text } else { format!("\n{}", wrap("", 0, &text)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(limit: f64, numbers: usize, ends: &[f64]) -> Vec<bool> {
        let mut budget = Budget::of(limit, numbers).unwrap();
        ends.iter().map(|&end| budget.allows_another(Duration::from_secs_f64(end))).collect()
    }

    #[test]
    fn no_look_is_begun_that_would_end_too_late() {
        assert_eq!(asked(1.0, 0, &[0.25, 0.5, 0.75, 1.0]), [true, true, true, false]);
        // The second took half the time, so the next one may, too.
        assert_eq!(asked(1.0, 0, &[0.1, 0.6, 0.65]), [true, false, false]);
        // Twenty million numbers take 0.4 s to be saved.
        assert_eq!(asked(1.0, 20_000_000, &[0.25, 0.5]), [true, false]);
        assert_eq!(asked(0.0, 0, &[3.0]), [false]);
    }

    #[test]
    fn a_single_look_that_took_too_long_is_told() {
        let mut budget = Budget::of(1.0, 1).unwrap();
        budget.allows_another(Duration::from_secs(3));
        assert!(budget.told(true).contains("took 3.00 s"));
        let mut budget = Budget::of(1.0, 1).unwrap();
        assert!(budget.allows_another(Duration::from_millis(10)));
        budget.allows_another(Duration::from_secs(30));
        assert!(budget.told(true).contains("30.00 s instead of 1 s"));
        let mut budget = Budget::of(1.0, 1).unwrap();
        budget.allows_another(Duration::from_millis(3));
        assert_eq!(budget.told(true), "");
        assert!(budget.told(false).contains("refused"));
    }
}
