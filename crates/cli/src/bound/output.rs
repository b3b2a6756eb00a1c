//! The bound as JSON and as a table.

use super::{Arguments, Column};
use crate::{exit::Outcome, run::number, text::wrap};
use serde_json::json;
use std::io::Write;

pub(super) fn told(column: &Column, rounds: f64, epsilon: Option<f64>) -> serde_json::Value {
    let problem = &column.problem;
    let terms = problem.terms(column.kappa, column.gamma0, column.form);
    let terms: Vec<_> = terms
        .iter()
        .map(|term| json!({ "name": term.name, "formula": term.formula, "power": term.power, "value": term.value(rounds) }))
        .collect();
    json!({
        "kappa": column.kappa, "l0": problem.l0, "l1": problem.l1, "sigma": problem.sigma, "zeta": problem.zeta,
        "initial_gap": problem.initial_gap, "initial_momentum_error": problem.initial_momentum_error,
        "heterogeneity_gap": problem.heterogeneity_gap, "initial_gradient": problem.initial_gradient,
        "gamma0": column.gamma0, "gamma0_allowed": column.allowed(), "step_allowed": column.may_step(), "terms": terms,
        "bound": column.bound(rounds), "floor": column.floor(), "vacuous": column.vacuous(rounds),
        "rounds_for_epsilon": epsilon.and_then(|epsilon| column.rounds_for(epsilon)),
    })
}

pub(super) fn tell(out: &mut impl Write, arguments: &Arguments, columns: &[Column]) -> Outcome {
    let rounds = arguments.rounds as f64;
    let (n, b, k) = (arguments.workers, arguments.byzantine, arguments.rounds);
    write!(out, "{}", wrap("", 2, &format!("{}: n = {n}, B = {b}, K = {k}", arguments.rule)))?;
    writeln!(out, "An upper bound on the least expected gradient norm of the rounds.\n")?;
    let mut line = |label: &str, formula: &str, value: &dyn Fn(&Column) -> String| {
        let values: Vec<String> = columns.iter().map(|column| format!("{:>12}", value(column))).collect();
        writeln!(out, "{label:<20}{formula:<20}{}", values.join(""))
    };
    line("", "", &|column| column.name.to_string())?;
    line("coefficient", "κ", &|column| number(column.kappa))?;
    line("smoothness", "L₀", &|column| number(column.problem.l0))?;
    line("", "L₁", &|column| number(column.problem.l1))?;
    line("noise", "σ", &|column| number(column.problem.sigma))?;
    line("heterogeneity", "ζ", &|column| number(column.problem.zeta))?;
    line("", "Δ*", &|column| number(column.problem.heterogeneity_gap))?;
    line("at the start", "Δ", &|column| number(column.problem.initial_gap))?;
    line("", "V₀", &|column| number(column.problem.initial_momentum_error))?;
    line("largest step", "γ₀ allowed", &|column| number(column.allowed()))?;
    line("step", "γ₀", &|column| number(column.gamma0))?;
    let terms = columns[0].problem.terms(columns[0].kappa, columns[0].gamma0, columns[0].form);
    for (index, term) in terms.iter().enumerate() {
        let floor = index + 1 == terms.len();
        let formula = if floor { "4κζ, improved 2κζ" } else { term.formula };
        line(term.name, formula, &|column| {
            let terms = column.problem.terms(column.kappa, column.gamma0, column.form);
            number(terms[index].value(rounds))
        })?;
    }
    line("bound", "", &|column| number(column.bound(rounds)))?;
    if let Some(epsilon) = arguments.epsilon {
        line(&format!("rounds for {}", number(epsilon)), "", &|column| {
            column.rounds_for(epsilon).map_or("never".into(), |rounds| format!("{rounds:.3e}"))
        })?;
    }
    for column in columns.iter().filter(|column| !column.may_step()) {
        writeln!(
            out,
            "\n{}: the step is larger than the theorem allows, which then promises nothing.",
            column.name
        )?;
    }
    for column in columns.iter().filter(|column| column.vacuous(rounds) == Some(true)) {
        let start = number(column.problem.initial_gradient.unwrap_or(f64::NAN));
        writeln!(out, "\n{}: vacuous, the gradient norm at the start is {start}.", column.name)?;
    }
    if columns.iter().all(|column| column.vacuous(rounds).is_none()) {
        writeln!(out, "\nWhether this is vacuous, --initial-gradient would tell.")?;
    }
    Ok(())
}
