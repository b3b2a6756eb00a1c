//! One table per family: names, aliases, summaries, parameters, requirements.
//!
//! A new algorithm is one file and its line in the family's table; `byz list`, the conformance tests, the
//! messages about unknown names and the Python package all read the tables.

use crate::{
    error::{Error, Result},
    expression::{self, Call, split_list},
};

/// One algorithm of a family whose members are `dyn T`.
pub struct Entry<T: ?Sized> {
    /// The name: also of its file, in configuration files and in Python.
    pub name: &'static str,
    /// What the field calls it.
    pub aliases: &'static [&'static str],
    /// One line.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// What it needs of n messages and tolerance f to be guaranteed, in words of n and f.
    pub requirement: &'static str,
    /// Where it was published.
    pub reference: &'static str,
    /// What holds for it, for the conformance tests and for users.
    pub properties: Properties,
    /// Makes one from checked arguments.
    pub build: fn(&Arguments) -> Result<Box<T>>,
}

/// What holds for an algorithm with its default parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// A(x + c) = A(x) + c.
    pub translation: bool,
    /// A(s·x) = s·A(x) for s > 0.
    pub scale: bool,
    /// f arbitrary messages move the result by no more than a multiple of the honest spread.
    pub bounded: bool,
    /// The order of the workers does not matter (ties aside).
    pub symmetric: bool,
}

impl Properties {
    /// All of them.
    pub const ALL: Properties = Properties { translation: true, scale: true, bounded: true, symmetric: true };
    /// For families that promise none.
    pub const NONE: Properties =
        Properties { translation: false, scale: false, bounded: false, symmetric: false };
}

/// A parameter of an algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// The default, as one would write it; says so in words where it depends on n and f.
    pub default: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// What values it takes.
    pub kind: Kind,
}

/// What values a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A whole number of at least `least`.
    Count {
        /// The smallest allowed.
        least: usize,
    },
    /// A whole number of at least `least`, or one of these words.
    CountOr {
        /// The smallest allowed.
        least: usize,
        /// The words allowed.
        words: &'static [&'static str],
    },
    /// A number above zero.
    Positive,
    /// A number of at least zero.
    NonNegative,
    /// Any finite number.
    Number,
    /// Any finite number, or one of these words.
    NumberOr(&'static [&'static str]),
    /// `[one,two(x=1)]`.
    List,
    /// One of these words.
    Choice(&'static [&'static str]),
}

impl Kind {
    /// In words.
    pub fn describe(&self) -> String {
        match self {
            Kind::Count { least: 0 } => "a whole number".into(),
            Kind::Count { least } => format!("a whole number of at least {least}"),
            Kind::CountOr { least, words } => {
                format!("a whole number of at least {least}, or one of {}", words.join(", "))
            }
            Kind::Positive => "a finite number above zero".into(),
            Kind::NonNegative => "a finite number of at least zero".into(),
            Kind::Number => "a finite number".into(),
            Kind::NumberOr(words) => format!("a finite number, or one of {}", words.join(", ")),
            Kind::List => "a list such as [one,two(x=1)]".into(),
            Kind::Choice(words) => format!("one of {}", words.join(", ")),
        }
    }

    fn accepts(&self, value: &str) -> bool {
        match self {
            Kind::Count { least } => value.parse::<usize>().is_ok_and(|value| value >= *least),
            Kind::CountOr { least, words } => {
                words.contains(&value) || Kind::Count { least: *least }.accepts(value)
            }
            Kind::Positive => number(value).is_some_and(|value| value > 0.0),
            Kind::NonNegative => number(value).is_some_and(|value| value >= 0.0),
            Kind::Number => number(value).is_some(),
            Kind::NumberOr(words) => words.contains(&value) || number(value).is_some(),
            Kind::List => value.starts_with('[') && value.ends_with(']'),
            Kind::Choice(words) => words.contains(&value),
        }
    }
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

/// Arguments whose names and values were checked against the table.
pub struct Arguments {
    algorithm: &'static str,
    values: Vec<(String, String)>,
}

impl Arguments {
    fn get(&self, parameter: &str) -> Option<&str> {
        self.values.iter().find(|(name, _)| name == parameter).map(|(_, value)| value.as_str())
    }

    /// A whole number, if given.
    pub fn count(&self, parameter: &str) -> Option<usize> {
        self.get(parameter).and_then(|value| value.parse().ok())
    }

    /// A number, if given.
    pub fn number(&self, parameter: &str) -> Option<f64> {
        self.get(parameter).and_then(|value| value.parse().ok())
    }

    /// A word, if given.
    pub fn choice(&self, parameter: &str) -> Option<&str> {
        self.get(parameter)
    }

    /// The items of a list, if given.
    pub fn list(&self, parameter: &str) -> Option<Vec<String>> {
        let list = self.get(parameter)?;
        Some(split_list(list.trim_start_matches('[').strip_suffix(']')?))
    }

    /// An error about one of these arguments.
    pub fn reject(&self, parameter: &str, expected: &str) -> Error {
        Error::BadValue {
            algorithm: self.algorithm,
            parameter: parameter.to_string(),
            value: self.get(parameter).unwrap_or_default().to_string(),
            expected: expected.to_string(),
        }
    }
}

/// The entry of this name or alias.
pub fn find<'t, T: ?Sized>(family: &'static str, table: &'t [Entry<T>], name: &str) -> Result<&'t Entry<T>> {
    let wanted = canonical(name);
    table.iter().find(|entry| entry.name == wanted || entry.aliases.contains(&wanted.as_str())).ok_or_else(
        || {
            let names = table.iter().flat_map(|entry| entry.aliases.iter().copied().chain([entry.name]));
            Error::UnknownName {
                family,
                name: name.to_string(),
                nearest: nearest(&wanted, names),
                known: table.iter().map(|entry| entry.name.to_string()).collect(),
            }
        },
    )
}

/// Builds an algorithm from a call, refusing what its table does not list.
pub fn build<T: ?Sized>(entry: &Entry<T>, call: &Call) -> Result<Box<T>> {
    for (index, (name, value)) in call.arguments.iter().enumerate() {
        let Some(parameter) = entry.parameters.iter().find(|parameter| parameter.name == name) else {
            return Err(Error::UnknownParameter {
                algorithm: entry.name,
                parameter: name.clone(),
                nearest: nearest(name, entry.parameters.iter().map(|parameter| parameter.name)),
                known: entry.parameters.iter().map(|parameter| parameter.name.to_string()).collect(),
            });
        };
        let twice = call.arguments[..index].iter().any(|(earlier, _)| earlier == name);
        if twice || !parameter.kind.accepts(value) {
            return Err(Error::BadValue {
                algorithm: entry.name,
                parameter: name.clone(),
                value: value.clone(),
                expected: if twice { "the parameter only once".into() } else { parameter.kind.describe() },
            });
        }
    }
    (entry.build)(&Arguments { algorithm: entry.name, values: call.arguments.clone() })
}

/// Builds the one algorithm that an expression names.
pub fn read<T: ?Sized>(family: &'static str, table: &[Entry<T>], expression: &str) -> Result<Box<T>> {
    let mut calls = expression::parse(expression)?;
    let call = calls.pop().expect("a parsed pipeline is not empty");
    if !calls.is_empty() {
        return Err(Error::Usage(format!(
            "'{expression}' joins several by '+', but only one {family} is expected"
        )));
    }
    build(find(family, table, &call.name)?, &call)
}

/// Names are written with underscores; dashes and capitals are forgiven.
fn canonical(name: &str) -> String {
    name.to_lowercase().replace('-', "_")
}

/// The candidate with the fewest edits, if it is near enough to be meant.
pub fn nearest<'n>(wanted: &str, candidates: impl Iterator<Item = &'n str>) -> Option<String> {
    candidates
        .map(|candidate| (edits(wanted, candidate), candidate))
        .filter(|(edits, candidate)| *edits <= 1 + candidate.len().min(wanted.len()) / 4)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate.to_string())
}

/// Letters to insert, delete, replace or swap with their neighbour.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = match (i, j) {
                (0, _) | (_, 0) => i + j,
                _ => {
                    let replaced = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let swapped = match i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                        true => table[i - 2][j - 2] + 1,
                        false => usize::MAX,
                    };
                    replaced.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1).min(swapped)
                }
            };
        }
    }
    table[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_what_was_probably_meant() {
        let names = ["krum", "multi_krum", "geometric_median"];
        assert_eq!(nearest("kurm", names.into_iter()).as_deref(), Some("krum"));
        assert_eq!(nearest("krumm", names.into_iter()).as_deref(), Some("krum"));
        assert_eq!(nearest("geometricmedian", names.into_iter()).as_deref(), Some("geometric_median"));
        assert_eq!(nearest("banana", names.into_iter()), None);
    }

    #[test]
    fn counts_edits() {
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("nmn", "nnm"), 1);
        assert_eq!(edits("", "abc"), 3);
    }
}
