//! What can go wrong, with the remedy in the text.

use crate::verdict::Verdict;
use std::{fmt, path::PathBuf};

/// The library's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong. The message says what to do about it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The expression is not of the form `name(parameter=value,…)+…`.
    Syntax {
        /// What was parsed.
        expression: String,
        /// Where, in characters from the start.
        position: usize,
        /// What would have been right there.
        expected: String,
    },
    /// No algorithm has this name.
    UnknownName {
        /// `aggregator`, `pre-aggregator`, …
        family: &'static str,
        /// What was asked for.
        name: String,
        /// The nearest spelling, if one is near.
        nearest: Option<String>,
        /// All names of the family.
        known: Vec<String>,
    },
    /// The algorithm has no such parameter.
    UnknownParameter {
        /// The algorithm.
        algorithm: &'static str,
        /// What was asked for.
        parameter: String,
        /// The nearest spelling, if one is near.
        nearest: Option<String>,
        /// All parameters of the algorithm.
        known: Vec<String>,
    },
    /// A parameter's value cannot be used.
    BadValue {
        /// The algorithm.
        algorithm: &'static str,
        /// Its parameter.
        parameter: String,
        /// What was given.
        value: String,
        /// What would do.
        expected: String,
    },
    /// The caller's numbers do not fit together.
    Usage(
        /// What, and what to do.
        String,
    ),
    /// The round cannot be aggregated; nothing was changed.
    Refused {
        /// Why.
        reason: Refusal,
        /// The verdict on every worker.
        verdicts: Vec<Verdict>,
    },
    /// Training left the finite numbers.
    Diverged {
        /// In which round.
        round: u64,
    },
    /// A run was asked to stop; the same call goes on from there.
    Interrupted {
        /// After which round.
        round: u64,
    },
    /// Others could not be reached, or not as asked.
    Network(
        /// What, and what to do.
        String,
    ),
    /// A defect of this library.
    Internal(
        /// What happened.
        String,
    ),
    /// A file could not be read or written.
    File {
        /// Which.
        path: PathBuf,
        /// What happened.
        problem: String,
    },
    /// A file of a data set is not there.
    MissingData {
        /// Where it should be.
        path: PathBuf,
        /// The command that fetches it.
        command: String,
    },
    /// A file of a data set is not what it should be.
    CorruptData {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// The command that fetches it.
        command: String,
    },
}

/// Why a round is refused.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// The rule's formula has no meaning for these counts.
    Undefined {
        /// The rule.
        rule: &'static str,
        /// What it needs, as `byz list` shows it.
        requirement: &'static str,
        /// Messages that reach it.
        messages: usize,
        /// Tolerance that remains.
        tolerance: usize,
    },
    /// Strict mode: the rule is defined but promises nothing for these counts.
    NotGuaranteed {
        /// The rule.
        rule: &'static str,
        /// What it needs, as `byz list` shows it.
        requirement: &'static str,
        /// Messages that reach it.
        messages: usize,
        /// Tolerance that remains.
        tolerance: usize,
    },
    /// More workers are certainly faulty than were assumed.
    TooManyInvalid {
        /// Invalid messages.
        invalid: usize,
        /// Tolerance assumed.
        tolerance: usize,
    },
    /// No length or layout is shared by more than half of the messages and by more than the tolerance.
    NoMajority,
    /// Nothing valid arrived.
    NoMessages,
    /// The trusted worker of `monna` sent nothing valid.
    TrustedWorker {
        /// Its index.
        worker: usize,
    },
    /// An exact search exceeded its budget.
    Budget {
        /// The rule.
        rule: &'static str,
        /// Steps allowed.
        steps: usize,
    },
    /// A filter left no message.
    NothingLeft {
        /// The rule.
        rule: &'static str,
    },
}

/// How a caller should treat an error; the command line's exit codes follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The caller's request is wrong.
    Usage,
    /// The messages do not allow an aggregate.
    Refused,
    /// The environment failed.
    Failure,
    /// Training left the finite numbers.
    Diverged,
    /// Stopped on request.
    Interrupted,
}

impl Error {
    /// How to treat it.
    pub fn kind(&self) -> Kind {
        match self {
            Error::Refused { .. } => Kind::Refused,
            Error::File { .. } | Error::MissingData { .. } | Error::CorruptData { .. } => Kind::Failure,
            Error::Internal(_) | Error::Network(_) => Kind::Failure,
            Error::Diverged { .. } => Kind::Diverged,
            Error::Interrupted { .. } => Kind::Interrupted,
            _ => Kind::Usage,
        }
    }

    /// A refusal whose verdicts are filled in by the defence.
    pub(crate) fn refused(reason: Refusal) -> Error {
        Error::Refused { reason, verdicts: Vec::new() }
    }

    /// A file error.
    pub(crate) fn file(path: impl Into<PathBuf>, problem: impl fmt::Display) -> Error {
        Error::File { path: path.into(), problem: problem.to_string() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Syntax { expression, position, expected } => {
                write!(f, "cannot read '{expression}' at character {}: expected {expected}", position + 1)
            }
            Error::UnknownName { family, name, nearest, known } => {
                write!(f, "no {family} is called '{name}'{}; known: {}", hint(nearest), known.join(", "))
            }
            Error::UnknownParameter { algorithm, parameter, known, .. } if known.is_empty() => {
                write!(f, "{algorithm} takes no parameters, so not '{parameter}'")
            }
            Error::UnknownParameter { algorithm, parameter, nearest, known } => {
                let known = known.join(", ");
                write!(f, "{algorithm} has no parameter '{parameter}'{}; known: {known}", hint(nearest))
            }
            Error::BadValue { algorithm, parameter, value, expected } => {
                write!(f, "{algorithm}({parameter}={value}): expected {expected}")
            }
            Error::Usage(problem) | Error::Network(problem) => f.write_str(problem),
            Error::Diverged { round } => {
                write!(f, "training diverged in round {round}; lower the rate or normalise the update")
            }
            Error::Interrupted { round } => {
                write!(f, "interrupted after round {round}; the same call goes on from there")
            }
            Error::Internal(problem) => write!(f, "internal error, please report it: {problem}"),
            Error::Refused { reason, .. } => write!(f, "refused: {reason}"),
            Error::File { path, problem } => write!(f, "{}: {problem}", path.display()),
            Error::MissingData { path, command } => {
                write!(f, "{}: no such file; this fetches it: {command}", path.display())
            }
            Error::CorruptData { path, problem, command } => {
                write!(f, "{}: {problem}; this fetches it anew: {command}", path.display())
            }
        }
    }
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or(String::new(), |nearest| format!(" (did you mean '{nearest}'?)"))
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Undefined { rule, requirement, messages, tolerance } => write!(
                f,
                "{rule} is not defined for {messages} messages, tolerance {tolerance} and these parameters (it promises \
                 robustness for {requirement}); lower the tolerance, gather more messages or change the parameters"
            ),
            Refusal::NotGuaranteed { rule, requirement, messages, tolerance } => write!(
                f,
                "{rule} promises robustness only for {requirement}, but {messages} messages reach it with \
                 tolerance {tolerance}; lower the tolerance, gather more messages, or do without strict"
            ),
            Refusal::TooManyInvalid { invalid, tolerance } => write!(
                f,
                "{invalid} invalid message(s), more than the tolerance of {tolerance}: more workers are \
                 faulty than was assumed"
            ),
            Refusal::NoMajority => f.write_str(
                "no length or layout is shared by more than half of the messages, and by more than the tolerance; \
                 state the expected length (--dimension), and give all messages one number type",
            ),
            Refusal::NoMessages => f.write_str("no valid message arrived"),
            Refusal::TrustedWorker { worker } => write!(
                f,
                "worker {worker}, which monna trusts, does not exist or sent no valid message; name another with \
                 monna(trusted=…), counting from 0"
            ),
            Refusal::Budget { rule, steps } => write!(
                f,
                "{rule} did not find the exact subset within {steps} search steps; use a smaller tolerance or \
                 a rule without a search, such as nnm+geometric_median"
            ),
            Refusal::NothingLeft { rule } => {
                write!(f, "{rule} filtered out every message; use fewer iterations or a smaller factor")
            }
        }
    }
}

impl std::error::Error for Error {}
