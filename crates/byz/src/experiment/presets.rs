//! Named optimisers: each is a pair of chains and a schedule, nothing more.

use crate::{error::Error, registry::nearest};

/// A named pair of chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// What each worker does to its gradient.
    pub worker: &'static [&'static str],
    /// What the server does to the aggregate.
    pub server: &'static [&'static str],
    /// How the rate changes.
    pub schedule: &'static str,
}

/// Every preset.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "byz_nsgdm",
        summary: "momentum at the worker, a normalised step, rate γ₀/√k: Algorithm 1",
        worker: &["momentum"],
        server: &["normalize"],
        schedule: "inverse_sqrt",
    },
    Preset {
        name: "baseline",
        summary: "momentum at the worker, plain steps, constant rate",
        worker: &["momentum"],
        server: &[],
        schedule: "constant",
    },
    Preset {
        name: "baseline_decay",
        summary: "momentum at the worker, plain steps, rate γ₀/√k",
        worker: &["momentum"],
        server: &[],
        schedule: "inverse_sqrt",
    },
    Preset {
        name: "byz_muon",
        summary: "momentum at the worker, orthogonalised matrices (Muon), rate γ₀/√k",
        worker: &["momentum"],
        server: &["lmo(norm=spectral,method=newton_schulz)"],
        schedule: "inverse_sqrt",
    },
    Preset {
        name: "byz_sign",
        summary: "momentum at the worker, the sign of the aggregate, rate γ₀/√k",
        worker: &["momentum"],
        server: &["lmo(norm=linf)"],
        schedule: "inverse_sqrt",
    },
];

/// The preset of this name.
pub(super) fn find(name: &str) -> Result<&'static Preset, Error> {
    let wanted = name.to_lowercase().replace('-', "_");
    PRESETS.iter().find(|preset| preset.name == wanted).ok_or_else(|| Error::UnknownName {
        family: "optimizer",
        name: name.to_string(),
        nearest: nearest(&wanted, PRESETS.iter().map(|preset| preset.name)),
        known: PRESETS.iter().map(|preset| preset.name.to_string()).collect(),
    })
}
