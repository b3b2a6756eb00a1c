//! Robustness coefficients: how far an aggregate F may be from the honest mean m, in units of the honest spread.
//!
//!   linear:   ‖F − m‖  ≤ κ · (1/G) Σ ‖xᵢ − m‖       squared:   ‖F − m‖² ≤ κ · (1/G) Σ ‖xᵢ − m‖²
//!
//! for every set of G = n − f honest messages, whatever the f others are. Each rule's constants are in its own file; here
//! is what is common to all of them.

/// How error and spread are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definition {
    /// Distances: the definition of the Byz-NSGDM paper.
    Linear,
    /// Squared distances: the definition of Allouah et al. 2023.
    Squared,
}

/// The counts for which a constant is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counts {
    /// n.
    pub messages: usize,
    /// f.
    pub tolerance: usize,
    /// d; some published constants grow with it.
    pub dimension: usize,
    /// How error and spread are compared.
    pub definition: Definition,
    /// C, if known: no honest message is farther from the honest mean than C times the mean distance. G/2 always holds.
    pub leverage: Option<f64>,
}

impl Counts {
    /// Honest messages, G = n − f.
    pub fn honest(&self) -> f64 {
        self.messages as f64 - self.tolerance as f64
    }

    /// n − 2f: the honest messages that outnumber the Byzantine ones.
    pub fn majority(&self) -> f64 {
        self.messages as f64 - 2.0 * self.tolerance as f64
    }

    /// r = f/(n − 2f).
    pub fn ratio(&self) -> f64 {
        self.tolerance as f64 / self.majority()
    }

    /// No rule has a smaller constant. With n − f zeros and f ones every rule must say 0, because the zeros may be the honest
    /// ones; but f ones and n − 2f zeros may be, too.
    pub fn lower_bound(&self) -> f64 {
        match (self.tolerance, self.definition) {
            (0, _) => 0.0,
            (_, Definition::Linear) => self.honest() / (2.0 * self.majority()),
            (_, Definition::Squared) => self.ratio(),
        }
    }

    /// The lower bound, where the messages behind it have no more leverage than was promised.
    pub fn least_possible(&self) -> Option<f64> {
        let fewer = self.majority().min(self.tolerance as f64);
        let promised = self.leverage.unwrap_or(f64::INFINITY);
        (self.tolerance == 0 || self.honest() / (2.0 * fewer) <= promised).then(|| self.lower_bound())
    }

    /// C: as promised, or what always holds.
    pub fn leverage(&self) -> f64 {
        let always = (self.honest() / 2.0).max(1.0);
        self.leverage.map_or(always, |leverage| leverage.min(always))
    }

    /// Whether the leverage is promised to be smaller than that of any honest messages: an exact value need not be reached.
    pub fn is_restricted(&self) -> bool {
        self.leverage.is_some_and(|leverage| leverage < self.honest() / 2.0)
    }
}

/// What is known of a defence's coefficient.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Constants {
    /// As published.
    pub paper: Option<f64>,
    /// The best upper bound with a proof.
    pub proved: Option<f64>,
    /// The coefficient itself.
    pub exact: Option<f64>,
    /// Why there is none at all.
    pub unbounded: Option<&'static str>,
}

impl Constants {
    /// Nothing is known.
    pub const UNKNOWN: Constants = Constants { paper: None, proved: None, exact: None, unbounded: None };

    /// No constant holds.
    pub fn unbounded(why: &'static str) -> Constants {
        Constants { unbounded: Some(why), ..Constants::UNKNOWN }
    }

    /// The coefficient is known.
    pub fn exact(value: f64) -> Constants {
        Constants { exact: Some(value), proved: Some(value), ..Constants::UNKNOWN }
    }

    /// An upper bound is known.
    pub fn proved(value: f64) -> Constants {
        Constants { proved: Some(value), ..Constants::UNKNOWN }
    }

    /// With what was published.
    pub fn published(self, value: f64) -> Constants {
        Constants { paper: Some(value), ..self }
    }

    /// An upper bound in the squared definition, in the one that is asked for: Σaᵢ² ≤ C·A·Σaᵢ costs √C.
    pub fn proved_squared(value: f64, counts: &Counts) -> Constants {
        match counts.definition {
            Definition::Squared => Constants::proved(value),
            Definition::Linear => Constants::proved((value * counts.leverage()).sqrt()),
        }
    }
}
