//! What to tell when the round is refused: the verdicts are most of the answer.

use super::{Arguments, explain, json};
use crate::{
    exit::{Failure, Outcome},
    text::clean,
};
use byz::{Error, Verdict, files::Inputs};
use std::io::{self, Write};

/// Verdicts listed on standard error at most.
const MOST: usize = 10;

/// Prints the verdicts where they were asked for, else those that are not `used`; the error itself is said last.
pub(super) fn tell(arguments: &Arguments, inputs: &Inputs, error: Error) -> Outcome {
    let Error::Refused { reason, verdicts } = &error else { return Err(error.into()) };
    if arguments.json || arguments.explain {
        let text = match arguments.json {
            true => format!("{}\n", json::refusal(arguments, inputs, reason, verdicts)),
            false => explain::verdicts(inputs, verdicts),
        };
        let mut out = io::stdout().lock();
        // A reader that has gone does not turn a refusal into a success.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    } else {
        let bad: Vec<(usize, &Verdict)> =
            verdicts.iter().enumerate().filter(|(_, verdict)| **verdict != Verdict::Used).collect();
        let mut out = io::stderr().lock();
        for (worker, verdict) in bad.iter().take(MOST) {
            let file = explain::label(&inputs.workers()[*worker]);
            let why = explain::reason(inputs, verdict).map_or(String::new(), |why| format!(": {why}"));
            let _ = writeln!(out, "byz: worker {worker} ({file}) is {}{}", verdict.name(), clean(&why));
        }
        if bad.len() > MOST {
            let _ = writeln!(out, "byz: and {} more; see --explain", bad.len() - MOST);
        }
    }
    Err(Failure::Byz(error))
}
