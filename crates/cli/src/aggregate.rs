//! `byz aggregate`: one robust vector from many files.
//!
//! Check the request, map the files, aggregate, write the output, tell. The output is written before anything is printed, so
//! that a closed pipe costs no result.

mod compute;
mod explain;
mod json;
mod output;
mod progress;
mod refusal;
mod summary;

use crate::exit::Outcome;
use byz::{
    Aggregate, Defense, Engine, Error, Options, Scalar,
    files::{Float, Inputs, Open, Tensor},
};
use std::{
    io::{self, Write},
    path::PathBuf,
};

/// Aggregate the messages of n workers, f of them possibly lies.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// One .npy matrix (a row per worker), or one .npy vector or .safetensors checkpoint per worker
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Pipeline of pre-aggregators and a rule, such as nnm+geometric_median; see `byz list`
    #[arg(long, value_name = "EXPR")]
    rule: String,
    /// Byzantine workers assumed, f
    #[arg(long, value_name = "F")]
    tolerance: usize,
    /// Write the aggregate to this .npy or .safetensors file
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print a table: who was used, with what weight, how far from the aggregate
    #[arg(long)]
    explain: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Threads; all processors by default. The result does not depend on it
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Refuse where the rule promises no robustness for these counts, instead of warning (a radius is taken to fit)
    #[arg(long)]
    strict: bool,
    /// Expected numbers per message; by default what most inputs have
    #[arg(long, value_name = "D")]
    dimension: Option<usize>,
    /// The centre of centered_clipping: a file that looks like the inputs, such as the last aggregate
    #[arg(long, value_name = "FILE")]
    reference: Option<PathBuf>,
    /// Aggregate each tensor of the checkpoints on its own
    #[arg(long)]
    per_tensor: bool,
    /// Count inputs that do not exist as missing workers
    #[arg(long)]
    allow_missing: bool,
    /// Number of the round; seeded rules draw differently in each
    #[arg(long, value_name = "R", default_value_t = 0)]
    round: u64,
}

/// What came out, for the whole vector and for each tensor aggregated on its own.
struct Computed<T> {
    whole: Aggregate<T>,
    tensors: Vec<(Tensor, Aggregate<T>)>,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let defense = Defense::new(&arguments.rule, arguments.tolerance)?.strict(arguments.strict);
    arguments.check()?;
    let (dimension, tolerance) = (arguments.dimension, arguments.tolerance);
    let open = Open { dimension, tolerance, allow_missing: arguments.allow_missing };
    let inputs = Inputs::open(&arguments.inputs, open)?;
    arguments.check_against(&inputs)?;
    warn(&repeated(&arguments.inputs));
    match inputs.computed() {
        Float::F64 => finish::<f64>(arguments, &defense, &inputs),
        _ => finish::<f32>(arguments, &defense, &inputs),
    }
}

fn finish<T: Scalar>(arguments: &Arguments, defense: &Defense, inputs: &Inputs) -> Outcome {
    let refused = |error: Error| refusal::tell(arguments, inputs, error);
    if let Some(refusal) = inputs.refusal() {
        return refused(refusal);
    }
    let center = arguments.reference.as_ref().filter(|_| inputs.layout().is_some());
    let center: Option<Vec<T>> = center.map(|path| inputs.read_reference(path)).transpose()?;
    let bar = progress::Bar::new(arguments, inputs);
    let advance = |columns| bar.advance(columns);
    let threads = arguments.threads.unwrap_or(Engine::parallel().threads);
    let engine = Engine { threads, progress: Some(&advance), ..Engine::default() };
    let explain = arguments.explain || arguments.json;
    let options = Options { engine, round: arguments.round, center: center.as_deref(), explain };
    let computed = compute::compute(arguments, defense, inputs, &options);
    bar.clear();
    let computed = match computed {
        Ok(computed) => computed,
        Err(error) => return refused(error),
    };
    warn(&computed.whole.warnings);
    if arguments.output.is_some() && !explain {
        // Nothing else would tell of them.
        warn(&summary::unused(inputs, &computed.whole.verdicts));
    }
    output::write(arguments, inputs, &computed.whole.vector)?;
    let text = match (arguments.json, arguments.explain, &arguments.output) {
        (true, ..) => format!("{}\n", json::report(arguments, inputs, &computed)),
        (_, true, _) => explain::table(arguments, inputs, &computed),
        (.., None) => summary::summary(arguments, inputs, &computed),
        (.., Some(_)) => String::new(),
    };
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

impl Arguments {
    /// What is wrong whatever the files hold.
    fn check(&self) -> Result<(), Error> {
        let usage = |problem: &str| Err(Error::Usage(problem.into()));
        match self {
            Arguments { threads: Some(0), .. } => usage("--threads must be at least 1"),
            Arguments { dimension: Some(0), .. } => usage("--dimension must be at least 1"),
            Arguments { reference: Some(_), .. } if !compute::uses_center(&self.rule)? => usage(
                "--reference is the centre of centered_clipping, which is not in the rule; leave it out",
            ),
            _ => output::check(self),
        }
    }

    /// What is wrong for files of this kind.
    fn check_against(&self, inputs: &Inputs) -> Result<(), Error> {
        let Some(layout) = inputs.layout() else { return Ok(()) };
        if self.per_tensor && layout.tensors().is_empty() {
            return Err(Error::Usage(
                "--per-tensor is for .safetensors checkpoints; .npy inputs have no tensors".into(),
            ));
        }
        output::check_kind(self, layout)
    }
}

/// The same file twice is a worker with two votes.
fn repeated(paths: &[PathBuf]) -> Vec<String> {
    let file = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let mut sorted: Vec<(PathBuf, &PathBuf)> = paths.iter().map(|path| (file(path), path)).collect();
    sorted.sort();
    let twice = sorted.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1);
    let twice: Vec<String> = twice.map(|same| same[0].1.display().to_string()).collect();
    twice.iter().map(|path| format!("{path} is given more than once; each counts as a worker")).collect()
}

fn warn(warnings: &[String]) {
    for warning in warnings {
        // Nothing can be done if standard error is closed.
        let _ = writeln!(io::stderr(), "byz: warning: {}", crate::text::clean(warning));
    }
}
