//! How a sweep wants to be shown; nothing here changes a number.

use crate::{
    error::{Error, Result},
    registry::nearest,
};
use serde::{Deserialize, Serialize};

/// The `[report]` of a grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Presentation {
    /// One line.
    pub title: String,
    /// What the table tells: `metric`, `best_metric`, `mean_metric`, `loss`, `training_loss`, `aggregate_norm`, `gradient_norm`.
    pub measure: String,
    /// What stands beside it, if anything.
    pub beside: Option<String>,
    /// What the numbers are called; the measure's own name if empty.
    pub name: String,
    /// Numbers are shown in this unit.
    pub unit: f64,
    /// Whether curves have a logarithmic axis.
    pub log: bool,
    /// What is drawn: `curves`, `heat_map`, `breakdown`, `trust`, `slope`.
    pub figures: Vec<String>,
    /// The numbers to compare with: a CSV file with a column per axis, then `mean`, `std`, `low`, `high`; a result between `low`
    /// and `high` agrees.
    pub expected: Option<String>,
    /// What those are called over their column.
    pub expected_name: String,
}

impl Presentation {
    /// What can be drawn.
    pub const FIGURES: [&str; 5] = ["curves", "heat_map", "breakdown", "trust", "slope"];

    /// Whether everything that is to be drawn is known.
    pub(super) fn check(&self) -> Result<()> {
        let unknown = self.figures.iter().find(|name| !Self::FIGURES.contains(&name.as_str()));
        unknown.map_or(Ok(()), |name| Err(Presentation::unknown_figure(name)))
    }

    pub(crate) fn unknown_figure(name: &str) -> Error {
        Error::UnknownName {
            family: "figure",
            name: name.to_string(),
            nearest: nearest(name, Self::FIGURES.into_iter()),
            known: Self::FIGURES.map(String::from).to_vec(),
        }
    }
}

impl Default for Presentation {
    fn default() -> Self {
        Presentation {
            title: String::new(),
            measure: "metric".into(),
            beside: None,
            name: String::new(),
            unit: 1.0,
            log: false,
            figures: vec!["curves".into(), "trust".into()],
            expected: None,
            expected_name: "published".into(),
        }
    }
}
