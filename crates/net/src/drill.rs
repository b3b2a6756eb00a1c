//! Workers that are hostile on purpose, to see that a federation withstands them.

use byz::Scalar;

/// What a hostile worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drill {
    /// Sends the negative of its message.
    SignFlip,
    /// Sends numbers that are not finite.
    NonFinite,
    /// Sends twice the bytes that a chunk has, signed.
    Oversize,
    /// Says that it has one number more.
    WrongDimension,
    /// Sends what it sent in the round before.
    Stale,
    /// Sends everything three times.
    Duplicate,
    /// Sends nothing.
    Silent,
    /// Answers after two seconds.
    Slow,
    /// Sends in its neighbour's name, on its neighbour's subject and on its own.
    Impersonate,
    /// Sends everything ten thousand times.
    Flood,
}

impl Drill {
    /// Every drill by its name on the command line.
    pub const ALL: [(&'static str, Drill); 10] = [
        ("sign_flip", Drill::SignFlip),
        ("non_finite", Drill::NonFinite),
        ("oversize", Drill::Oversize),
        ("wrong_dimension", Drill::WrongDimension),
        ("stale", Drill::Stale),
        ("duplicate", Drill::Duplicate),
        ("silent", Drill::Silent),
        ("slow", Drill::Slow),
        ("impersonate", Drill::Impersonate),
        ("flood", Drill::Flood),
    ];

    /// What it does to the numbers themselves.
    pub(crate) fn corrupt<T: Scalar>(self, row: &mut [T]) {
        let by = match self {
            Drill::SignFlip => T::from_f64(-1.0),
            Drill::NonFinite => T::from_f64(f64::NAN),
            _ => return,
        };
        row.iter_mut().for_each(|number| *number = *number * by);
    }
}
