//! What became of each worker's message. Bad input is a verdict, never a number.

use std::fmt;

/// What became of one worker's message.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It took part; its weight may still be zero.
    Used,
    /// It cannot be a message of this round, so its worker is certainly faulty.
    Invalid(Reason),
    /// Nothing came.
    Missing,
}

/// Why a message is invalid.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// A coordinate is NaN or infinite.
    NonFinite {
        /// The first such coordinate.
        coordinate: usize,
        /// What it holds.
        value: f64,
    },
    /// A coordinate is finite but its square would not be: |x| > 1.7e146.
    OutOfRange {
        /// The first such coordinate.
        coordinate: usize,
        /// What it holds.
        value: f64,
    },
    /// It has the wrong number of coordinates.
    WrongLength {
        /// Its length.
        found: usize,
        /// The length of the round.
        expected: usize,
    },
    /// It could not be read as a vector; says why.
    Malformed(String),
}

impl Verdict {
    /// `used`, `invalid` or `missing`.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Used => "used",
            Verdict::Invalid(_) => "invalid",
            Verdict::Missing => "missing",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Invalid(reason) => write!(f, "invalid: {reason}"),
            other => f.write_str(other.name()),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::NonFinite { coordinate, value } => write!(f, "{value} at coordinate {coordinate}"),
            Reason::OutOfRange { coordinate, value } => {
                write!(f, "{value:e} at coordinate {coordinate} is out of range")
            }
            Reason::WrongLength { found, expected } => write!(f, "length {found}, expected {expected}"),
            Reason::Malformed(why) => f.write_str(why),
        }
    }
}
