//! The whole of it: admit → measure → plan → execute, with a verdict on every worker.

mod mixed_rows;

use crate::{
    admission::{admit, check_center, valid},
    aggregators::{self, Aggregator},
    engine::Engine,
    error::{Error, Refusal, Result},
    execute::{effective_weights, execute},
    expression,
    geometry::{Geometry, Reference},
    inspect::{distances_to, first_inadmissible},
    kernels::Scalar,
    matrix::Matrix,
    measure::{Points, ReferencePoint},
    messages::{Message, Messages, Rows},
    plan::{Note, Plan},
    pre_aggregators::{self, PreAggregator},
    registry,
    theory::{Constants, Counts, Definition},
    verdict::{Reason, Verdict},
};
use std::sync::atomic::Ordering;

pub use mixed_rows::MixedMessages;

/// What a step of the pipeline must have measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requirements {
    /// Distances between the messages.
    pub distances: bool,
    /// And to the origin.
    pub origin: bool,
    /// And to the centre.
    pub center: bool,
}

impl Requirements {
    /// Nothing.
    pub const NONE: Requirements = Requirements { distances: false, origin: false, center: false };
    /// Distances between the messages.
    pub const DISTANCES: Requirements = Requirements { distances: true, ..Requirements::NONE };

    fn or(self, other: Requirements) -> Requirements {
        Requirements {
            distances: self.distances || other.distances,
            origin: self.origin || other.origin,
            center: self.center || other.center,
        }
    }
}

/// What a rule knows of the round besides the geometry.
pub struct Round<'a> {
    /// Byzantine workers assumed among the messages that remain.
    pub tolerance: usize,
    /// The round's number; seeds depend on it.
    pub number: u64,
    /// The worker of each row; none when rows no longer belong to workers.
    pub workers: Option<&'a [usize]>,
}

/// How one aggregation is run.
#[derive(Clone, Copy)]
pub struct Options<'a, T> {
    /// Threads and kernels.
    pub engine: Engine<'a>,
    /// The round's number; seeds depend on it.
    pub round: u64,
    /// The centre of centred clipping; without it, the origin.
    pub center: Option<&'a [T]>,
    /// Also measure each worker's distance to the aggregate and its share of coordinate-wise rules.
    pub explain: bool,
}

impl<T> Default for Options<'_, T> {
    fn default() -> Self {
        Options { engine: Engine::default(), round: 0, center: None, explain: false }
    }
}

/// The result of a round.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate<T> {
    /// The aggregate.
    pub vector: Vec<T>,
    /// What became of each worker's message.
    pub verdicts: Vec<Verdict>,
    /// Each worker's effective weight, zero for messages not used. For coordinate-wise rules it takes
    /// [`Options::explain`]: the mean weight over (a sample of) the coordinates.
    pub weights: Option<Vec<f64>>,
    /// Each used worker's distance to the aggregate, when explained.
    pub distances: Option<Vec<Option<f64>>>,
    /// What the rule tells about its decision.
    pub notes: Vec<(&'static str, Note)>,
    /// Promises that do not hold for these counts.
    pub warnings: Vec<String>,
    /// Messages that took part.
    pub messages: usize,
    /// Byzantine workers assumed among them.
    pub tolerance: usize,
    /// Passes over the data beyond the planned ones, taken where distances alone would have cancelled.
    pub extra_passes: usize,
}

/// A pipeline of pre-aggregators and a rule, with the number of Byzantine workers it assumes.
pub struct Defense {
    steps: Vec<(&'static str, &'static str, Box<dyn PreAggregator>)>,
    rule: (&'static str, &'static str, Box<dyn Aggregator>),
    /// Byzantine workers assumed among all workers.
    pub tolerance: usize,
    /// Refuse where robustness is not promised, instead of warning.
    pub strict: bool,
}

impl Defense {
    /// Reads a pipeline such as `nnm+geometric_median` or `bucketing(size=2)+krum`.
    ///
    /// ```
    /// let defense = byz::Defense::new("nnm+krum", 1)?;
    /// let rows = [vec![1.0, 2.0], vec![1.1, 2.1], vec![0.9, 1.9], vec![1.0, 2.1], vec![9e9, f64::NAN]];
    /// let result = defense.aggregate(&byz::Messages::from_rows(&rows), &byz::Options::default())?;
    /// assert!((result.vector[0] - 1.0).abs() < 0.2);
    /// assert_eq!(result.verdicts[4].name(), "invalid");
    /// # Ok::<(), byz::Error>(())
    /// ```
    pub fn new(expression: &str, tolerance: usize) -> Result<Defense> {
        let mut calls = expression::parse(expression)?;
        let last = calls.pop().expect("a parsed pipeline is not empty");
        let entry = registry::find("aggregator", aggregators::TABLE, &last.name).map_err(|error| {
            let misplaced = registry::find("pre-aggregator", pre_aggregators::TABLE, &last.name);
            match misplaced {
                Ok(entry) => Error::Usage(format!(
                    "{} is a pre-aggregator; a rule must follow it, as in {}+geometric_median",
                    entry.name, last.name
                )),
                Err(_) => error,
            }
        })?;
        let rule = (entry.name, entry.requirement, registry::build(entry, &last)?);
        let step = |call: &expression::Call| {
            let entry = registry::find("pre-aggregator", pre_aggregators::TABLE, &call.name).map_err(
                |error| match registry::find("aggregator", aggregators::TABLE, &call.name) {
                    Ok(entry) => Error::Usage(format!(
                        "{} is a rule; only pre-aggregators may stand before '+', and the rule comes last",
                        entry.name
                    )),
                    Err(_) => error,
                },
            )?;
            Ok((entry.name, entry.requirement, registry::build(entry, call)?))
        };
        let steps = calls.iter().map(step).collect::<Result<_>>()?;
        Ok(Defense { steps, rule, tolerance, strict: false })
    }

    /// Refuses where robustness is not promised.
    pub fn strict(mut self, strict: bool) -> Defense {
        self.strict = strict;
        self
    }

    /// Aggregates one round.
    pub fn aggregate<T: Scalar>(
        &self,
        messages: &Messages<'_, T>,
        options: &Options<'_, T>,
    ) -> Result<Aggregate<T>> {
        let attempt = |rows: &Rows<'_, T>, workers: &[usize], tolerance| {
            self.attempt(rows, workers, tolerance, options)
        };
        let (mut result, admitted) = self.admitted(messages, options, attempt)?;
        result.warnings = admitted.warnings;
        result.spread_over(&admitted.workers, admitted.verdicts);
        Ok(result)
    }

    /// Runs `attempt` on the valid messages, again without those in which it finds an inadmissible value.
    fn admitted<T: Scalar, R>(
        &self,
        messages: &Messages<'_, T>,
        options: &Options<'_, T>,
        attempt: impl Fn(&Rows<'_, T>, &[usize], usize) -> Result<Option<R>>,
    ) -> Result<(R, Admitted)> {
        let (mut verdicts, dimension) = admit(messages, self.tolerance);
        let outcome = self.retry(messages, dimension, options, &mut verdicts, attempt);
        match outcome {
            Ok((result, workers, warnings)) => Ok((result, Admitted { workers, verdicts, warnings })),
            Err(Error::Refused { reason, .. }) => Err(Error::Refused { reason, verdicts }),
            Err(other) => Err(other),
        }
    }

    fn retry<T: Scalar, R>(
        &self,
        messages: &Messages<'_, T>,
        dimension: Option<usize>,
        options: &Options<'_, T>,
        verdicts: &mut [Verdict],
        attempt: impl Fn(&Rows<'_, T>, &[usize], usize) -> Result<Option<R>>,
    ) -> Result<(R, Vec<usize>, Vec<String>)> {
        let came = messages.workers.iter().any(|message| matches!(message, Message::Row(_)));
        let none = if came { Refusal::NoMajority } else { Refusal::NoMessages };
        let dimension = dimension.ok_or_else(|| Error::refused(none))?;
        if let Some(center) = options.center {
            check_center(center, dimension)?;
        }
        loop {
            let (workers, rows) = valid(messages, verdicts, dimension);
            let tolerance = self.remaining_tolerance(verdicts)?;
            // What stands in the way: counts that do not fit, or a pass that met an inadmissible value.
            let obstacle = match self.check_counts(workers.len(), tolerance) {
                Err(refusal) => refusal,
                Ok(warnings) => match attempt(&rows, &workers, tolerance)? {
                    Some(result) => return Ok((result, workers, warnings)),
                    // Every pass flags exactly what is looked for below, so this is a defect; better an error than a loop.
                    None => Error::Internal("a pass met an inadmissible value that no message holds".into()),
                },
            };
            // Without those who sent one the counts are others: start again.
            if !exclude_inadmissible(&rows, &workers, verdicts, options.engine) {
                return Err(obstacle);
            }
        }
    }

    /// The three stages on rows that are believed valid; none if a pass finds otherwise.
    fn attempt<T: Scalar>(
        &self,
        rows: &Rows<'_, T>,
        workers: &[usize],
        tolerance: usize,
        options: &Options<'_, T>,
    ) -> Result<Option<Aggregate<T>>> {
        let (references, vectors) = self.references(options.center);
        let points = Points::new(rows, vectors, options.engine);
        let Some(measured) = self.measure(&points, references) else { return Ok(None) };
        let (plan, notes) = self.plan(&measured, &points, workers, tolerance, options.round)?;
        let Some(vector) = execute(&points, &plan) else { return Ok(None) };
        let combined = matches!(plan, Plan::Combine { .. });
        let weights = (combined || options.explain).then(|| effective_weights(&points, &plan));
        let distances = options.explain.then(|| distances_to(rows, &vector, options.engine));
        Ok(Some(Aggregate {
            vector,
            verdicts: Vec::new(),
            weights,
            distances: distances.map(|distances| distances.into_iter().map(Some).collect()),
            notes,
            warnings: Vec::new(),
            messages: rows.count(),
            tolerance,
            extra_passes: points.extra_passes.load(Ordering::Relaxed),
        }))
    }

    /// Measure: the geometry of the points, or none if a row holds an inadmissible value.
    pub fn measure<'p, T: Scalar>(
        &self,
        points: &'p Points<'_, T>,
        references: Vec<Reference>,
    ) -> Option<Geometry<'p>> {
        if !self.requirements().distances {
            return Some(Geometry::unmeasured(points.rows.count(), points));
        }
        Some(Geometry::new(points.squared_distances()?, points.rows.count(), references, points))
    }

    /// Plan: pre-aggregators, then the rule, all in n × n space.
    fn plan<T: Scalar>(
        &self,
        measured: &Geometry<'_>,
        points: &Points<'_, T>,
        workers: &[usize],
        tolerance: usize,
        number: u64,
    ) -> Result<(Plan, Vec<(&'static str, Note)>)> {
        let mut round = Round { tolerance, number, workers: Some(workers) };
        let mixed = self.mix(measured, &mut round)?;
        let geometry = mixed.as_ref().unwrap_or(measured);
        let mut decision = self.rule.2.plan(geometry, &round)?;
        if let Some(workers) = round.workers {
            name_workers(&mut decision.notes, workers);
        } else {
            // What was selected are no workers but buckets of them.
            for (name, _) in decision.notes.iter_mut().filter(|(name, _)| *name == "selected") {
                *name = "selected_buckets";
            }
        }
        let center = || measured.central(points.rows.count() - tolerance);
        Ok((Plan::new(decision.finish, geometry, measured, center), decision.notes))
    }

    /// The geometry of the rows that reach the rule; none where they are the messages themselves.
    fn mix<'g>(&self, measured: &Geometry<'g>, round: &mut Round<'_>) -> Result<Option<Geometry<'g>>> {
        let mut mixed: Option<Geometry<'_>> = None;
        for (_, _, step) in &self.steps {
            let geometry = mixed.as_ref().unwrap_or(measured);
            let mixing = step.mix(geometry, round)?;
            round.workers = round.workers.filter(|_| step.keeps_workers());
            mixed = Some(geometry.mixed(mixing));
        }
        Ok(mixed)
    }

    /// What is known of the coefficient of robustness of the whole pipeline. What is proved in the squared definition may say more in the
    /// linear one than a proof of its own: (1/G) Σaᵢ² ≤ C·A² for distances aᵢ of mean A, none of them beyond C·A.
    pub fn robustness(&self, counts: &Counts) -> Constants {
        let known = self.composed_robustness(counts);
        let other = |definition| self.composed_robustness(&Counts { definition, ..*counts }).proved;
        let derived = match counts.definition {
            Definition::Linear => other(Definition::Squared).map(|value| (value * counts.leverage()).sqrt()),
            // The square of a mean is no more than the mean of squares. An exact value is not to suffer from rounding.
            Definition::Squared => {
                other(Definition::Linear).map(|value| value * value).filter(|_| known.exact.is_none())
            }
        };
        let proved = known.proved.into_iter().chain(derived).reduce(f64::min);
        Constants { proved, ..known }
    }

    /// Whether the order of the workers does not matter to the rule, ties aside: it names none of them.
    pub(crate) fn is_symmetric(&self) -> bool {
        aggregators::TABLE.iter().any(|entry| entry.name == self.rule.0 && entry.properties.symmetric)
    }

    fn composed_robustness(&self, counts: &Counts) -> Constants {
        // What reaches each step, first to last.
        let mut reach = vec![*counts];
        for (_, _, step) in &self.steps {
            let last = reach[reach.len() - 1];
            // What was promised of the messages' leverage says nothing of mixed rows.
            reach.push(Counts { messages: step.rows(last.messages), leverage: None, ..last });
        }
        let rule = self.rule.2.robustness(&reach[self.steps.len()]);
        let steps = self.steps.iter().zip(&reach).rev();
        steps.fold(rule, |constants, ((_, _, step), counts)| step.robustness(constants, counts))
    }

    fn requirements(&self) -> Requirements {
        let steps = self.steps.iter().map(|(_, _, step)| step.requirements());
        let all = steps.fold(self.rule.2.requirements(), Requirements::or);
        // Mixing needs a central row, and so distances.
        Requirements { distances: all.distances || !self.steps.is_empty(), ..all }
    }

    /// Whether the pipeline clips about a centre, the last aggregate in training.
    pub fn needs_center(&self) -> bool {
        self.requirements().center
    }

    fn references<'c, T: Scalar>(
        &self,
        center: Option<&'c [T]>,
    ) -> (Vec<Reference>, Vec<ReferencePoint<'c, T>>) {
        let required = self.requirements();
        let center = center.map_or(ReferencePoint::Origin, ReferencePoint::Vector);
        let known = [
            (required.origin, Reference::Origin, ReferencePoint::Origin),
            (required.center, Reference::Center, center),
        ];
        known.into_iter().filter(|(required, ..)| *required).map(|(_, name, vector)| (name, vector)).unzip()
    }

    /// Every invalid message is a faulty worker found.
    fn remaining_tolerance(&self, verdicts: &[Verdict]) -> Result<usize> {
        let invalid = verdicts.iter().filter(|verdict| matches!(verdict, Verdict::Invalid(_))).count();
        let tolerance = self.tolerance;
        tolerance
            .checked_sub(invalid)
            .ok_or_else(|| Error::refused(Refusal::TooManyInvalid { invalid, tolerance }))
    }

    /// Refuses what is undefined, and what is not guaranteed when strict; else returns the warnings.
    pub fn check_counts(&self, messages: usize, tolerance: usize) -> Result<Vec<String>> {
        if messages == 0 {
            return Err(Error::refused(Refusal::NoMessages));
        }
        if tolerance >= messages {
            // Nobody may be honest; and no rule's arithmetic below has to fear such numbers.
            let (rule, requirement) = (self.rule.0, self.rule.1);
            return Err(Error::refused(Refusal::Undefined { rule, requirement, messages, tolerance }));
        }
        let mut count = messages;
        for (rule, requirement, step) in &self.steps {
            if !step.defined(count, tolerance) {
                let (rule, requirement) = (*rule, *requirement);
                return Err(Error::refused(Refusal::Undefined {
                    rule,
                    requirement,
                    messages: count,
                    tolerance,
                }));
            }
            count = step.rows(count);
        }
        let (rule, requirement, aggregator) = (self.rule.0, self.rule.1, &self.rule.2);
        if !aggregator.defined(count, tolerance) {
            return Err(Error::refused(Refusal::Undefined { rule, requirement, messages: count, tolerance }));
        }
        if aggregator.guaranteed(count, tolerance) {
            return Ok(Vec::new());
        }
        let refusal = Refusal::NotGuaranteed { rule, requirement, messages: count, tolerance };
        if self.strict {
            return Err(Error::refused(refusal));
        }
        Ok(vec![format!(
            "{rule} promises robustness only for {requirement}, but {count} messages reach it with tolerance {tolerance}"
        )])
    }
}

/// Who took part in a round.
struct Admitted {
    /// The worker of each valid row.
    workers: Vec<usize>,
    verdicts: Vec<Verdict>,
    warnings: Vec<String>,
}

impl<T> Aggregate<T> {
    /// From valid rows to all workers.
    fn spread_over(&mut self, workers: &[usize], verdicts: Vec<Verdict>) {
        let count = verdicts.len();
        self.verdicts = verdicts;
        self.weights = self.weights.take().map(|of_rows| {
            let mut weights = vec![0.0; count];
            workers.iter().zip(of_rows).for_each(|(&worker, weight)| weights[worker] = weight);
            weights
        });
        self.distances = self.distances.take().map(|of_rows| {
            let mut distances = vec![None; count];
            workers.iter().zip(of_rows).for_each(|(&worker, distance)| distances[worker] = distance);
            distances
        });
    }
}

/// Gives a verdict on every row that holds an inadmissible value; whether there was one.
fn exclude_inadmissible<T: Scalar>(
    rows: &Rows<'_, T>,
    workers: &[usize],
    verdicts: &mut [Verdict],
    engine: Engine<'_>,
) -> bool {
    let bad = first_inadmissible(rows, engine);
    for (&worker, bad) in workers.iter().zip(&bad) {
        if let &Some((coordinate, value)) = bad {
            verdicts[worker] = Verdict::Invalid(match value.is_finite() {
                true => Reason::OutOfRange { coordinate, value },
                false => Reason::NonFinite { coordinate, value },
            });
        }
    }
    bad.iter().any(Option::is_some)
}

/// Notes speak of rows; users think of workers. A worker without a row has no number.
fn name_workers(notes: &mut [(&'static str, Note)], workers: &[usize]) {
    for (_, note) in notes {
        match note {
            Note::Rows(rows) => rows.iter_mut().for_each(|row| *row = workers[*row]),
            Note::Numbers(of_rows) => {
                let mut numbers = vec![f64::NAN; workers.last().map_or(0, |last| last + 1)];
                workers.iter().zip(&*of_rows).for_each(|(&worker, &number)| numbers[worker] = number);
                *of_rows = numbers;
            }
            _ => {}
        }
    }
}

/// The mixed rows of a pipeline without a rule; for tests and for looking at what a pre-aggregator does.
pub fn mixing_of(expression: &str, geometry: &Geometry<'_>, round: &Round<'_>) -> Result<Matrix> {
    let calls = expression::parse(expression)?;
    let mut mixed: Option<Geometry<'_>> = None;
    for call in &calls {
        let entry = registry::find("pre-aggregator", pre_aggregators::TABLE, &call.name)?;
        let current = mixed.as_ref().unwrap_or(geometry);
        let mixing = registry::build(entry, call)?.mix(current, round)?;
        mixed = Some(current.mixed(mixing));
    }
    let identity = || Matrix::identity(geometry.points());
    Ok(mixed.and_then(|geometry| geometry.mixing().cloned()).unwrap_or_else(identity))
}
