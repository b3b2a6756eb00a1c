//! What may take part in a round, before anyone looks at the numbers.

use crate::{
    error::{Error, Result},
    kernels::Scalar,
    majority::majority,
    messages::{Message, Messages, Rows},
    verdict::{Reason, Verdict},
};

/// Verdicts that need no look at the numbers, and the dimension of the round if there is one.
pub(crate) fn admit<T: Scalar>(
    messages: &Messages<'_, T>,
    tolerance: usize,
) -> (Vec<Verdict>, Option<usize>) {
    let lengths: Vec<Option<usize>> = messages
        .workers
        .iter()
        .map(|message| match message {
            Message::Row(row) => Some(row.len()),
            _ => None,
        })
        .collect();
    let voted = || {
        let votes: Vec<&usize> = lengths.iter().flatten().collect();
        majority(&votes, tolerance).copied()
    };
    let dimension = messages.dimension.or_else(voted);
    let verdict = |(message, length): (&Message<'_, T>, &Option<usize>)| match (message, length, dimension) {
        (Message::Missing, ..) => Verdict::Missing,
        (Message::Malformed(why), ..) => Verdict::Invalid(Reason::Malformed(why.clone())),
        (_, &Some(found), Some(expected)) if found != expected => {
            Verdict::Invalid(Reason::WrongLength { found, expected })
        }
        _ => Verdict::Used,
    };
    (messages.workers.iter().zip(&lengths).map(verdict).collect(), dimension)
}

pub(crate) fn check_center<T: Scalar>(center: &[T], dimension: usize) -> Result<()> {
    if center.len() != dimension {
        let found = center.len();
        return Err(Error::Usage(format!("the centre has length {found}, the messages {dimension}")));
    }
    match center.iter().position(|value| !value.is_admissible()) {
        Some(k) => Err(Error::Usage(format!("the centre holds {:?} at coordinate {k}", center[k]))),
        None => Ok(()),
    }
}

/// The rows that no verdict excludes, and whose they are.
pub(crate) fn valid<'a, T: Scalar>(
    messages: &Messages<'a, T>,
    verdicts: &[Verdict],
    dimension: usize,
) -> (Vec<usize>, Rows<'a, T>) {
    let count = messages.workers.len();
    let (mut workers, mut rows) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for (worker, (message, verdict)) in messages.workers.iter().zip(verdicts).enumerate() {
        if let (Message::Row(row), Verdict::Used) = (message, verdict) {
            workers.push(worker);
            rows.push(*row);
        }
    }
    (workers, Rows { rows, dimension })
}
