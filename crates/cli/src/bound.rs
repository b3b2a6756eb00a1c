//! `byz bound`: the convergence theorem, term by term, before anything is run.

mod output;

use crate::exit::Outcome;
use byz::{
    Defense, Error, registry, tasks,
    theory::{Counts, Definition, Form, Problem, best_l1, largest_step},
};
use output::{tell, told};
use serde_json::json;
use std::io::{self, Write};

/// Evaluate the convergence theorem of Byz-NSGDM, term by term.
#[derive(clap::Args)]
#[command(
    override_usage = "byz bound --rule <EXPR> --workers <N> --byzantine <B> --rounds <K>\n       [OPTIONS]"
)]
#[command(allow_negative_numbers = true)]
pub(crate) struct Arguments {
    /// The pipeline, such as nnm+geometric_median; see byz list
    #[arg(long, value_name = "EXPR")]
    rule: String,
    /// All workers, n
    #[arg(long, value_name = "N")]
    workers: usize,
    /// Byzantine workers, B
    #[arg(long, value_name = "B")]
    byzantine: usize,
    /// Rounds, K
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,
    /// A task whose constants are known: quartic, with parameters as in byz run
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// Numbers per message; the published constant of the median grows with it
    /// [default: the task's, or 1]
    #[arg(long, value_name = "D")]
    dimension: Option<usize>,
    /// L0 of the (L0,L1)-smoothness
    #[arg(long)]
    l0: Option<f64>,
    /// L1 of the (L0,L1)-smoothness [default with --task: the best]
    #[arg(long)]
    l1: Option<f64>,
    /// Standard deviation of a worker's noise
    #[arg(long)]
    sigma: Option<f64>,
    /// Heterogeneity: root mean square of the honest gradients' distances from
    /// their mean
    #[arg(long)]
    zeta: Option<f64>,
    /// f(x0) - f*
    #[arg(long, value_name = "GAP")]
    initial_gap: Option<f64>,
    /// V0: mean distance of the first momenta from the gradients
    #[arg(long, value_name = "V0")]
    initial_momentum_error: Option<f64>,
    /// Mean of f* - fi* over the honest workers
    #[arg(long, value_name = "GAP")]
    heterogeneity_gap: Option<f64>,
    /// Norm of the gradient at the start; a bound above it is vacuous
    #[arg(long, value_name = "NORM")]
    initial_gradient: Option<f64>,
    /// No honest gradient is farther from their mean than this times the mean
    /// distance [default: (n-B)/2, which always holds]
    #[arg(long, value_name = "C")]
    leverage: Option<f64>,
    /// The base step [default: the largest that the theorem allows]
    #[arg(long)]
    gamma0: Option<f64>,
    /// How many rounds until the bound is this small
    #[arg(long, value_name = "E")]
    epsilon: Option<f64>,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// One form of the theorem at one κ.
struct Column {
    name: &'static str,
    form: Form,
    kappa: f64,
    problem: Problem,
    gamma0: f64,
}

impl Column {
    fn allowed(&self) -> f64 {
        largest_step(self.problem.l1, self.kappa)
    }

    /// Whether the theorem speaks of this step.
    fn may_step(&self) -> bool {
        self.gamma0 <= self.allowed() * (1.0 + 1e-12)
    }

    fn bound(&self, rounds: f64) -> f64 {
        self.problem.bound(self.kappa, self.gamma0, self.form, rounds)
    }

    fn floor(&self) -> f64 {
        self.problem.terms(self.kappa, self.gamma0, self.form).last().map_or(0.0, |term| term.value(0.0))
    }

    fn vacuous(&self, rounds: f64) -> Option<bool> {
        // Not a number is no promise either.
        let bound = self.bound(rounds);
        self.problem.initial_gradient.map(|start| bound.is_nan() || bound >= start)
    }

    fn rounds_for(&self, epsilon: f64) -> Option<f64> {
        self.problem.rounds_for(self.kappa, self.gamma0, self.form, epsilon)
    }
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let columns = columns(arguments)?;
    let rounds = arguments.rounds as f64;
    let mut out = io::stdout().lock();
    if arguments.json {
        let forms: serde_json::Map<String, serde_json::Value> = columns
            .iter()
            .map(|column| (column.name.to_string(), told(column, rounds, arguments.epsilon)))
            .collect();
        let line = json!({
            "rule": arguments.rule, "workers": arguments.workers, "byzantine": arguments.byzantine,
            "rounds": arguments.rounds, "forms": forms,
        });
        return Ok(writeln!(out, "{line}")?);
    }
    tell(&mut out, arguments, &columns)
}

fn columns(arguments: &Arguments) -> Result<Vec<Column>, Error> {
    let (n, b) = (arguments.workers, arguments.byzantine);
    if n <= b.saturating_mul(2) {
        return Err(Error::Usage("the theorem needs --workers above twice --byzantine".into()));
    }
    let numbers = [
        ("--l0", arguments.l0),
        ("--l1", arguments.l1),
        ("--sigma", arguments.sigma),
        ("--zeta", arguments.zeta),
        ("--initial-gap", arguments.initial_gap),
        ("--initial-momentum-error", arguments.initial_momentum_error),
        ("--heterogeneity-gap", arguments.heterogeneity_gap),
        ("--initial-gradient", arguments.initial_gradient),
        ("--gamma0", arguments.gamma0),
        ("--epsilon", arguments.epsilon),
    ];
    for (name, value) in numbers {
        let positive = ["--l1", "--gamma0", "--epsilon"].contains(&name);
        if value.is_some_and(|value| !(value.is_finite() && (value > 0.0 || !positive && value == 0.0))) {
            let kind = if positive { "above zero" } else { "of at least zero" };
            return Err(Error::Usage(format!("{name} is a finite number {kind}")));
        }
    }
    if arguments.leverage.is_some_and(|leverage| !(leverage >= 1.0 && leverage.is_finite())) {
        return Err(Error::Usage("--leverage is a number of at least 1".into()));
    }
    if arguments.task.is_some() && arguments.l0.is_some() && arguments.l1.is_none() {
        return Err(Error::Usage(
            "--l0 of a task goes with --l1: which pairs hold is not known otherwise".into(),
        ));
    }
    let defense = Defense::new(&arguments.rule, b)?;
    let counts = Counts {
        messages: n,
        tolerance: b,
        dimension: dimension(arguments)?,
        definition: Definition::Linear,
        leverage: arguments.leverage,
    };
    let known = defense.robustness(&counts);
    let task = of_task(arguments, n - b)?;
    let forms = [
        ("published", Form::Published, known.paper),
        ("simplified", Form::Simplified, known.paper),
        ("improved", Form::Improved, known.proved),
    ];
    let columns = forms.into_iter().filter_map(|(name, form, kappa)| kappa.map(|kappa| (name, form, kappa)));
    let columns = columns.map(|(name, form, kappa)| {
        let problem = problem(arguments, task.as_ref(), n - b, kappa, form)?;
        let gamma0 = arguments.gamma0.unwrap_or_else(|| largest_step(problem.l1, kappa));
        Ok(Column { name, form, kappa, problem, gamma0 })
    });
    let columns = columns.collect::<Result<Vec<Column>, Error>>()?;
    if columns.is_empty() {
        let why = known.unbounded.unwrap_or("no constant is known for it");
        let rule = &arguments.rule;
        return Err(Error::Usage(format!("the theorem says nothing of {rule}: {why}; see byz kappa")));
    }
    Ok(columns)
}

fn dimension(arguments: &Arguments) -> Result<usize, Error> {
    let of_task = |task: &String| Ok(registry::read("task", tasks::TABLE, task)?.dimension());
    let of_task = arguments.task.as_ref().map(of_task).transpose()?.flatten();
    match arguments.dimension.or(of_task) {
        Some(0) => Err(Error::Usage("--dimension is at least 1".into())),
        dimension => Ok(dimension.unwrap_or(1)),
    }
}

/// The most numbers that a task's constants are computed from: half a gigabyte.
const MOST: usize = 1 << 26;

/// A task's constants as a function of L₁.
type OfTask = Box<dyn Fn(f64) -> Problem>;

fn of_task(arguments: &Arguments, honest: usize) -> Result<Option<OfTask>, Error> {
    let Some(task) = &arguments.task else { return Ok(None) };
    let spec = registry::read("task", tasks::TABLE, task)?;
    let dimension = spec.dimension().unwrap_or(0);
    if honest.checked_mul(dimension).is_none_or(|numbers| numbers > MOST) {
        let most = format!("what the workers' shifts take is limited to {MOST} numbers in all");
        return Err(Error::Usage(format!(
            "{honest} honest workers of {dimension} numbers are too many: {most}"
        )));
    }
    let Some(of_task) = spec.problem(honest) else {
        let problem = format!("the constants of {task} are not known in closed form; quartic's are");
        return Err(Error::Usage(problem));
    };
    if !of_task(1.0).sigma.is_finite() {
        return Err(Error::Usage(format!("the noise of {task} has no variance, which the theorem needs")));
    }
    let Problem { zeta, initial_momentum_error, heterogeneity_gap, .. } = of_task(1.0);
    if ![zeta, initial_momentum_error, heterogeneity_gap].iter().all(|value| value.is_finite()) {
        return Err(Error::Usage(format!("the constants of {task} are beyond what a number can hold")));
    }
    match (arguments.l0, arguments.l1) {
        (Some(l0), Some(l1)) if l0 < of_task(l1).l0 => {
            let least = of_task(l1).l0;
            Err(Error::Usage(format!("with --l1 {l1} no --l0 below {least} holds for {task}")))
        }
        _ => Ok(Some(of_task)),
    }
}

/// The constants that were given, over those of the task.
fn problem(
    arguments: &Arguments,
    of_task: Option<&OfTask>,
    honest: usize,
    kappa: f64,
    form: Form,
) -> Result<Problem, Error> {
    if let Some(of_task) = of_task {
        let at = |l1: f64| overridden(arguments, of_task(l1));
        let best = || best_l1(at, kappa, arguments.gamma0, form, arguments.rounds as f64);
        return Ok(at(arguments.l1.unwrap_or_else(best)));
    }
    let need = |name: &str, value: Option<f64>| {
        value.ok_or_else(|| Error::Usage(format!("{name} is missing; give it, or --task quartic")))
    };
    Ok(Problem {
        honest,
        l0: need("--l0", arguments.l0)?,
        l1: need("--l1", arguments.l1)?,
        sigma: need("--sigma", arguments.sigma)?,
        zeta: need("--zeta", arguments.zeta)?,
        initial_gap: need("--initial-gap", arguments.initial_gap)?,
        initial_momentum_error: need("--initial-momentum-error", arguments.initial_momentum_error)?,
        heterogeneity_gap: need("--heterogeneity-gap", arguments.heterogeneity_gap)?,
        initial_gradient: arguments.initial_gradient,
    })
}

/// What was given on the command line has the last word.
fn overridden(arguments: &Arguments, problem: Problem) -> Problem {
    Problem {
        l0: arguments.l0.unwrap_or(problem.l0),
        sigma: arguments.sigma.unwrap_or(problem.sigma),
        zeta: arguments.zeta.unwrap_or(problem.zeta),
        initial_gap: arguments.initial_gap.unwrap_or(problem.initial_gap),
        initial_momentum_error: arguments.initial_momentum_error.unwrap_or(problem.initial_momentum_error),
        heterogeneity_gap: arguments.heterogeneity_gap.unwrap_or(problem.heterogeneity_gap),
        initial_gradient: arguments.initial_gradient.or(problem.initial_gradient),
        ..problem
    }
}
