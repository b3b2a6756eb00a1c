//! The convergence theorem of Byz-NSGDM with its fixed-horizon schedule, term by term.
//!
//! For γ = γ₀/(K+1)^¾ and η = (K+1)^−½ a weighted mean of E‖∇f(xᵏ)‖ over the rounds, and so its least value, is at most the sum of
//! the terms below (the plain mean: at most √e times that). Δ = f(x⁰) − f*, V₀ = the mean of E‖vᵢ⁰ − ∇fᵢ(x⁰)‖, Δ* = the mean of f* − fᵢ* over the G honest workers.
//!
//! The improved form differs in two places: it takes the proved κ, and it compares each message with the mean instead of messages with
//! one another, which halves the floor, 2κζ instead of 4κζ (docs/theory.md).

use std::f64::consts::E;

/// What the theorem knows of a problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Problem {
    /// Honest workers, G.
    pub honest: usize,
    /// L₀ of the (L₀, L₁)-smoothness.
    pub l0: f64,
    /// L₁ of the (L₀, L₁)-smoothness.
    pub l1: f64,
    /// Standard deviation of a worker's noise.
    pub sigma: f64,
    /// Heterogeneity: the root mean square of ‖∇fᵢ − ∇f‖.
    pub zeta: f64,
    /// Δ.
    pub initial_gap: f64,
    /// V₀.
    pub initial_momentum_error: f64,
    /// Δ*.
    pub heterogeneity_gap: f64,
    /// ‖∇f(x⁰)‖, if it is known: a bound above it says nothing.
    pub initial_gradient: Option<f64>,
}

/// Which form of the theorem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As published.
    Published,
    /// Everything that falls with K at its slowest rate: c/(K+1)^¼ + 4κζ.
    Simplified,
    /// With the floor 2κζ.
    Improved,
}

/// One term of the sum.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// What it comes from.
    pub name: &'static str,
    /// Its formula.
    pub formula: &'static str,
    /// Its value at K = 0.
    pub start: f64,
    /// It falls as (K+1) to the power of minus this.
    pub power: f64,
}

impl Term {
    /// Its value after K rounds.
    pub fn value(&self, rounds: f64) -> f64 {
        self.start * (rounds + 1.0).powf(-self.power)
    }
}

/// The largest γ₀ that the theorem allows. Of its three conditions this is always the strictest.
pub fn largest_step(l1: f64, kappa: f64) -> f64 {
    1.0 / ((128.0 * (1.0 + 2.0 * kappa)).sqrt() * l1)
}

impl Problem {
    /// The terms with this κ and γ₀.
    pub fn terms(&self, kappa: f64, gamma0: f64, form: Form) -> Vec<Term> {
        let (robust, root) = (1.0 + 2.0 * kappa, E.sqrt());
        let drift = self.l1 * self.l1 * self.heterogeneity_gap * gamma0;
        let floor = if form == Form::Improved { 2.0 } else { 4.0 };
        let term = |name, formula, start, power| Term { name, formula, start, power };
        let mut terms = vec![
            term("start", "√e Δ/γ₀", root * self.initial_gap / gamma0, 0.25),
            term("first momentum", "2√e (1+2κ) V₀", 2.0 * root * robust * self.initial_momentum_error, 0.5),
            term("curvature", "2 L₀γ₀", 2.0 * self.l0 * gamma0, 0.75),
            term("curvature, tracked", "8 (1+2κ) L₀γ₀", 8.0 * robust * self.l0 * gamma0, 0.25),
            term("drift", "8 L₁²Δ*γ₀", 8.0 * drift, 0.75),
            term("drift, tracked", "32 (1+2κ) L₁²Δ*γ₀", 32.0 * robust * drift, 0.25),
            term("noise of the mean", "2σ/√G", 2.0 * self.sigma / (self.honest as f64).sqrt(), 0.25),
            term("noise of the liars", "4κσ", 4.0 * kappa * self.sigma, 0.25),
            term("floor", if form == Form::Improved { "2κζ" } else { "4κζ" }, floor * kappa * self.zeta, 0.0),
        ];
        if form == Form::Simplified {
            terms.iter_mut().filter(|term| term.power > 0.0).for_each(|term| term.power = 0.25);
        }
        terms
    }

    /// The bound after K rounds.
    pub fn bound(&self, kappa: f64, gamma0: f64, form: Form, rounds: f64) -> f64 {
        self.terms(kappa, gamma0, form).iter().map(|term| term.value(rounds)).sum()
    }

    /// The least K with a bound of at most `target`; none if the floor is above it.
    pub fn rounds_for(&self, kappa: f64, gamma0: f64, form: Form, target: f64) -> Option<f64> {
        let reaches = |rounds: f64| self.bound(kappa, gamma0, form, rounds) <= target;
        if reaches(0.0) {
            return Some(0.0);
        }
        let mut high = 1.0;
        while !reaches(high) {
            high *= 2.0;
            // (K+1)^¼ at this K takes 75 digits off; what is left is the floor.
            if high > 1e300 {
                return None;
            }
        }
        let mut low = 0.0f64;
        while high - low > 1.0 && high - low > 1e-12 * high {
            let middle = 0.5 * (low + high);
            *(if reaches(middle) { &mut high } else { &mut low }) = middle;
        }
        Some(high.ceil())
    }
}

/// The L₁ for which a task's bound after K rounds is least: with the largest step that it allows, or with a given one, for which
/// L₁ must not be too large.
pub fn best_l1(
    problem: impl Fn(f64) -> Problem,
    kappa: f64,
    gamma0: Option<f64>,
    form: Form,
    rounds: f64,
) -> f64 {
    let bound = |log: f64| {
        let problem = problem(log.exp());
        problem.bound(kappa, gamma0.unwrap_or_else(|| largest_step(problem.l1, kappa)), form, rounds)
    };
    let most = gamma0.map_or(12.0, |gamma0| largest_step(gamma0, kappa).ln());
    // The bound has one minimum in log L₁: it is a sum of falling and rising powers.
    let (mut low, mut high) = ((most - 24.0).max(-12.0).min(most - 1.0), most);
    for _ in 0..200 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if bound(a) < bound(b) { high = b } else { low = a }
    }
    (0.5 * (low + high)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{registry, tasks};

    fn quartic(expression: &str, l1: f64) -> Problem {
        let task = registry::read("task", tasks::TABLE, expression).unwrap();
        task.problem(17).expect("everything is known of the quartic")(l1)
    }

    #[test]
    fn momentum_from_zero_is_as_far_off_as_the_workers_gradients_are_long() {
        // At x⁰ = 1 in two dimensions ∇f = (8, 8); shifts that add up to zero make the mean of the lengths larger, never smaller.
        let none = quartic("quartic(dimension=2,shift=0)", 1.0);
        assert!((none.initial_momentum_error - 128.0f64.sqrt()).abs() < 1e-12);
        let some = quartic("quartic(dimension=2,shift=100)", 1.0);
        assert!(
            some.initial_momentum_error > 100.0
                && some.initial_momentum_error < 8.0 * 128.0f64.sqrt() + some.zeta
        );
    }

    /// The theorem written down once more, in the order and the letters of the paper.
    fn plain(p: &Problem, kappa: f64, gamma0: f64, k: f64) -> f64 {
        let quarter = (k + 1.0).sqrt().sqrt();
        let (half, three) = (quarter * quarter, quarter * quarter * quarter);
        0.5f64.exp() * p.initial_gap / (gamma0 * quarter)
            + 2.0 * 0.5f64.exp() * (1.0 + 2.0 * kappa) * p.initial_momentum_error / half
            + 4.0 * kappa * p.zeta
            + 2.0 * p.l0 * gamma0 / three
            + 8.0 * (1.0 + 2.0 * kappa) * p.l0 * gamma0 / quarter
            + 8.0 * p.l1.powi(2) * p.heterogeneity_gap * gamma0 / three
            + 32.0 * (1.0 + 2.0 * kappa) * p.l1.powi(2) * p.heterogeneity_gap * gamma0 / quarter
            + 2.0 * p.sigma / ((p.honest as f64).sqrt() * quarter)
            + 4.0 * kappa * p.sigma / quarter
    }

    #[test]
    fn the_terms_are_those_of_the_theorem() {
        for (k, kappa, gamma0) in [(0.0, 0.5, 0.1), (99.0, 2.43, 0.01), (1e6, 17.0, 3.0)] {
            let p = Problem {
                honest: 17,
                l0: 3.0,
                l1: 0.7,
                sigma: 0.2,
                zeta: 0.05,
                initial_gap: 11.0,
                initial_momentum_error: 4.0,
                heterogeneity_gap: 0.3,
                initial_gradient: None,
            };
            let (found, wanted) = (p.bound(kappa, gamma0, Form::Published, k), plain(&p, kappa, gamma0, k));
            assert!((found / wanted - 1.0).abs() < 1e-12, "{found} {wanted}");
            assert!(p.bound(kappa, gamma0, Form::Improved, k) < found);
            assert!(p.bound(kappa, gamma0, Form::Simplified, k) >= found);
        }
    }

    #[test]
    fn the_quartic_has_the_values_of_an_independent_evaluation() {
        // n = 20, f = 3, momentum from the first gradient without noise; two independent derivations agree on these.
        for (kappa, rounds, gamma0, value) in [
            (34.0 / 14.0, 3e3, 0.0994, 299.0),
            (34.0 / 14.0, 1e6, 0.0994, 70.0),
            (17.0 / 14.0, 3e3, 0.130, 229.0),
            (17.0 / 14.0, 1e6, 0.130, 54.0),
        ] {
            let at = |l1| Problem { initial_momentum_error: 0.0, ..quartic("quartic(shift=1e-6)", l1) };
            let l1 = best_l1(at, kappa, None, Form::Published, rounds);
            let found = at(l1).bound(kappa, largest_step(l1, kappa), Form::Published, rounds);
            assert!((found / value - 1.0).abs() < 0.01, "κ {kappa}, K {rounds}: {found} at {l1}");
            assert!((largest_step(l1, kappa) / gamma0 - 1.0).abs() < 0.01);
        }
    }

    #[test]
    fn the_rounds_for_a_target_are_the_least_that_reach_it() {
        let p = quartic("quartic(noise=1)", 0.367);
        let (kappa, gamma0) = (1.2, largest_step(0.367, 1.2));
        let k = p.rounds_for(kappa, gamma0, Form::Published, 50.0).expect("above the floor");
        assert!(p.bound(kappa, gamma0, Form::Published, k) <= 50.0);
        assert!(p.bound(kappa, gamma0, Form::Published, k * (1.0 - 1e-9) - 2.0) > 50.0);
        assert_eq!(p.rounds_for(kappa, gamma0, Form::Published, 0.01), None);
        let at_once = p.bound(kappa, gamma0, Form::Published, 0.0);
        assert_eq!(p.rounds_for(kappa, gamma0, Form::Published, at_once), Some(0.0));
    }
}
