//! `byz kappa`: what a defence promises, and the worst messages found for it.

mod climb;

use crate::{
    exit::{self, Outcome},
    text::wrap,
};
use byz::{
    Defense, Error,
    files::{MOST_WORKERS, write_npy_matrix},
    theory::{Constants, Counts, Definition, Instance},
};
use climb::{Effort, climb};
use serde_json::json;
use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Tell the robustness coefficient of a defence, and search for its worst case.
#[derive(clap::Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct Arguments {
    /// The pipeline, such as nnm+geometric_median; see byz list
    #[arg(long, value_name = "EXPR")]
    rule: String,
    /// Number of messages, n
    #[arg(long, value_name = "N")]
    workers: usize,
    /// Byzantine workers assumed, f
    #[arg(long, value_name = "F")]
    tolerance: usize,
    /// Numbers per message; some published constants grow with it
    #[arg(long, default_value_t = 1, value_name = "D")]
    dimension: usize,
    /// Whether distances or their squares are compared
    #[arg(long, value_enum, default_value_t = Compare::Linear, value_name = "WHICH")]
    definition: Compare,
    /// No honest message is farther from their mean than this times the mean
    /// distance; (n-f)/2 always holds
    #[arg(long, value_name = "C")]
    leverage: Option<f64>,
    /// Search so long for messages with a large error; for the first look up to
    /// ten seconds are taken in any case
    #[arg(long, value_name = "SECONDS")]
    search: Option<f64>,
    /// Seed of the search
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Where the worst messages found are saved [default: worst_case.npy with
    /// --search, else nowhere]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Compare {
    Linear,
    Squared,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let defense = Defense::new(&arguments.rule, arguments.tolerance)?;
    let counts = counts(arguments)?;
    defense.check_counts(counts.messages, counts.tolerance)?;
    let output = arguments.output()?;
    let mut known = defense.robustness(&counts);
    // What all honest messages can reach, those with little leverage need not.
    known.exact = known.exact.filter(|_| !counts.is_restricted());
    // Where no constant holds, a counterexample says more than words.
    let doubtful = known.unbounded.is_some() || known.proved.is_none();
    let seconds = arguments.search.or((doubtful && fits(&counts)).then_some(2.0));
    let climbed = seconds.map(|seconds| arguments.climb(&counts, seconds)).transpose()?;
    let (found, effort) = climbed.map_or((None, None), |(found, effort)| (found, Some(effort)));
    // Of a rule of which nothing is known a finite ratio is no counterexample, and was not asked for.
    let told = |found: &Instance| found.ratio.is_infinite() || known.unbounded.is_some();
    let found = found.filter(|found| arguments.search.is_some() || told(found));
    if let Some((instance, file)) = found.as_ref().zip(output.as_ref()) {
        let numbers: Vec<f64> = instance.rows.iter().flatten().copied().collect();
        write_npy_matrix(file, &numbers, counts.dimension)?;
    }
    if known.unbounded.is_none() && found.as_ref().is_some_and(|found| found.ratio.is_infinite()) {
        known.unbounded = Some("the search found honest messages that agree and an aggregate that does not");
    }
    let mut out = io::stdout().lock();
    if arguments.json {
        let line = json!({
            "rule": arguments.rule, "workers": counts.messages, "tolerance": counts.tolerance,
            "dimension": counts.dimension, "definition": name(counts.definition),
            "paper": known.paper, "proved": known.proved, "exact": known.exact,
            "lower_bound": counts.least_possible(), "leverage": counts.leverage(), "unbounded": known.unbounded,
            // JSON has no infinity.
            "found": found.as_ref().map(|instance| instance.ratio.min(f64::MAX)),
            "found_infinite": found.as_ref().map(|instance| instance.ratio.is_infinite()),
            "honest": found.as_ref().map(|instance| [instance.honest.start, instance.honest.end]),
            "instance": found.as_ref().and(output.as_ref()),
            "looks": arguments.search.and(effort.as_ref()).map(|effort| effort.looks),
            "seconds": arguments.search.and(effort.as_ref()).map(Effort::seconds),
        });
        writeln!(out, "{line}")?;
        return exit::unless_interrupted();
    }
    tell(&mut out, arguments, &counts, &known, found.as_ref())?;
    if let Some((instance, file)) = found.as_ref().zip(output.as_ref()) {
        tell_file(&mut out, arguments, instance, file)?;
    } else if found.is_some() {
        writeln!(out, "\n--output FILE.npy saves these messages.")?;
    }
    if let Some(effort) = effort.filter(|_| arguments.search.is_some()) {
        write!(out, "{}", effort.told(found.is_some()))?;
    }
    exit::unless_interrupted()
}

impl Arguments {
    /// Where messages are saved. What could not be written is told before anybody waits for a search.
    fn output(&self) -> Result<Option<PathBuf>, Error> {
        let usual = self.search.map(|_| PathBuf::from("worst_case.npy"));
        let Some(file) = self.output.clone().or(usual) else { return Ok(None) };
        if file.extension().is_none_or(|extension| extension != "npy") {
            let file = file.display();
            return Err(Error::Usage(format!(
                "{file}: messages are saved as .npy, so name the file that way"
            )));
        }
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            return Err(Error::Usage(format!("{}: no such directory; --output needs one", folder.display())));
        }
        Ok(Some(file))
    }

    fn climb(&self, counts: &Counts, seconds: f64) -> Result<(Option<Instance>, Effort), Error> {
        if !fits(counts) {
            let (n, d) = (counts.messages, counts.dimension);
            let most = format!("a search takes up to {MOST_WORKERS} messages, and {MOST} numbers in all");
            return Err(Error::Usage(format!("{n} messages of {d} numbers are too many: {most}")));
        }
        climb(&self.rule, counts, self.seed, seconds)
    }
}

fn counts(arguments: &Arguments) -> Result<Counts, Error> {
    let (messages, tolerance, dimension) = (arguments.workers, arguments.tolerance, arguments.dimension);
    if messages <= tolerance.saturating_mul(2) || dimension == 0 {
        return Err(Error::Usage(
            "a coefficient needs --workers above twice --tolerance, and --dimension of at least 1".into(),
        ));
    }
    if arguments.leverage.is_some_and(|leverage| !(leverage >= 1.0 && leverage.is_finite())) {
        return Err(Error::Usage("--leverage is a number of at least 1".into()));
    }
    let definition = match arguments.definition {
        Compare::Linear => Definition::Linear,
        Compare::Squared => Definition::Squared,
    };
    Ok(Counts { messages, tolerance, dimension, definition, leverage: arguments.leverage })
}

fn name(definition: Definition) -> &'static str {
    match definition {
        Definition::Linear => "linear",
        Definition::Squared => "squared",
    }
}

/// The most numbers of an instance: a gigabyte, of which a search holds a few.
const MOST: usize = 1 << 27;

/// Whether messages of these counts can be held, and read again by `byz aggregate`.
fn fits(counts: &Counts) -> bool {
    let numbers = counts.messages.checked_mul(counts.dimension);
    counts.messages <= MOST_WORKERS && numbers.is_some_and(|numbers| numbers <= MOST)
}

fn tell(
    out: &mut impl Write,
    arguments: &Arguments,
    counts: &Counts,
    known: &Constants,
    found: Option<&Instance>,
) -> Outcome {
    let (n, f, d) = (counts.messages, counts.tolerance, counts.dimension);
    let (left, right) = match counts.definition {
        Definition::Linear => ("‖F − m‖", "mean ‖xᵢ − m‖"),
        Definition::Squared => ("‖F − m‖²", "mean ‖xᵢ − m‖²"),
    };
    let rule = format!("{}: n = {n}, f = {f}, d = {d}", arguments.rule);
    write!(out, "{}", wrap("", 2, &rule))?;
    writeln!(out, "{left} ≤ κ · {right} over the honest messages, m their mean")?;
    if counts.definition == Definition::Linear && arguments.rule.contains('+') {
        let whose = if counts.is_restricted() { "as promised" } else { "which always holds" };
        writeln!(out, "leverage C = {}, {whose}", counts.leverage())?;
    }
    writeln!(out)?;
    let mut line = |label: &str, value: Option<f64>| match value {
        Some(value) => writeln!(out, "{label:<22}{value:>12.4}"),
        None => writeln!(out, "{label:<22}{:>12}", "unknown"),
    };
    if known.unbounded.is_none() {
        line("published", known.paper)?;
        line("proved", known.proved)?;
        line("exact", known.exact)?;
    }
    line("no rule is below", counts.least_possible())?;
    if let Some(instance) = found {
        match instance.ratio.is_finite() {
            true => line("found", Some(instance.ratio))?,
            false => writeln!(out, "{:<22}{:>12}", "found", "infinite")?,
        }
    }
    if let Some(why) = known.unbounded {
        write!(out, "\n{}", wrap("No constant holds: ", 2, &format!("{why}.")))?;
    }
    if let Some(instance) = found.filter(|_| d <= 4 && n <= 20) {
        writeln!(out)?;
        for (i, row) in instance.rows.iter().enumerate() {
            let who = if instance.honest.contains(&i) { "honest" } else { "Byzantine" };
            let numbers: Vec<String> = row.iter().map(|value| format!("{value:>12.4e}")).collect();
            writeln!(out, "{who:<10}{i:>3} {}", numbers.join(" "))?;
        }
    }
    Ok(())
}

/// What the file holds, and the command that shows it.
fn tell_file(out: &mut impl Write, arguments: &Arguments, instance: &Instance, file: &Path) -> Outcome {
    let (file, honest) = (file.display(), &instance.honest);
    let place = if honest.start == 0 { "first" } else { "last" };
    let text =
        format!("{file} holds these messages, the {} honest ones {place}; look at them with", honest.len());
    write!(out, "\n{}", wrap("", 0, &text))?;
    writeln!(out, "  byz aggregate {file} --explain --tolerance {} \\", arguments.tolerance)?;
    Ok(writeln!(out, "    --rule '{}'", arguments.rule)?)
}
