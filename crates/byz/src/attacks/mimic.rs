//! Mimic: two attacks that look like honest workers.
//!
//! - `variant` = copy (the default): all Byzantine workers copy one honest worker, so that its data count f + 1
//!   times (see `copy`). `warmup` = 1 round, as in the released code of Byz-NSGDM on MNIST.
//! - `variant` = reverse: the text of the Byz-NSGDM paper; honest for `warmup` = 50 rounds, then
//!   y = −`factor`·mean(honest), factor 2 (see `reverse`).
//!
//! Reference: Karimireddy, He, Jaggi: "Byzantine-robust learning on heterogeneous datasets via bucketing", ICLR
//! 2022.

mod copy;
mod reverse;

use super::Attack;
use crate::{
    kernels::Scalar,
    registry::{Entry, Kind, Parameter, Properties},
};

pub(super) const fn entry<T: Scalar>() -> Entry<dyn Attack<T>> {
    Entry {
        name: "mimic",
        aliases: &[],
        summary: "copies one honest worker for ever, or is honest at first and then reverses the mean",
        parameters: &[
            Parameter {
                name: "variant",
                default: "copy",
                summary: "copy one worker, or reverse the mean after the warm-up",
                kind: Kind::Choice(&["copy", "reverse"]),
            },
            Parameter {
                name: "warmup",
                default: "1 to copy, 50 to reverse",
                summary: "rounds in which the worker to copy is chosen, or in which everyone is honest",
                kind: Kind::Count { least: 0 },
            },
            Parameter {
                name: "factor",
                default: "2",
                summary: "length of the reversed mean, for variant=reverse",
                kind: Kind::Number,
            },
        ],
        requirement: "acts on messages",
        reference: "Karimireddy et al., Byzantine-robust learning via bucketing, ICLR 2022",
        properties: Properties::NONE,
        build: |arguments| {
            let warmup = arguments.count("warmup").map(|rounds| rounds as u64);
            let factor = arguments.number("factor");
            match (arguments.choice("variant"), factor) {
                (Some("reverse"), _) => {
                    Ok(Box::new(reverse::Reverse::new(warmup.unwrap_or(50), factor.unwrap_or(2.0))))
                }
                (_, None) => Ok(Box::new(copy::Copy::new(warmup.unwrap_or(1)))),
                _ => Err(arguments.reject("factor", "variant=reverse beside it")),
            }
        },
    }
}
