//! The tables of algorithms, for the Python layer to build its classes from.

use crate::errors::raise;
use byz::{
    aggregators, attacks,
    catalogue::{families, family, to_json},
    partitions, pre_aggregators,
    registry::read,
    schedules, tasks, transforms,
};
use pyo3::{PyResult, Python, pyfunction};

/// All families as JSON: family → list of algorithms.
#[pyfunction]
pub(crate) fn catalogue() -> String {
    to_json(&families()).to_string()
}

/// The names of a family's members.
#[pyfunction]
pub(crate) fn names(py: Python<'_>, family_name: &str) -> PyResult<Vec<&'static str>> {
    let family = family(family_name).map_err(|error| raise(py, error))?;
    Ok(family.items.iter().map(|item| item.name).collect())
}

/// Raises what is wrong with the one algorithm that an expression names.
#[pyfunction]
pub(crate) fn check(py: Python<'_>, family: &str, expression: &str) -> PyResult<()> {
    let checked = match family {
        "aggregators" => read("aggregator", aggregators::TABLE, expression).map(drop),
        "pre_aggregators" => read("pre-aggregator", pre_aggregators::TABLE, expression).map(drop),
        "attacks" => read("attack", attacks::table::<f32>(), expression).map(drop),
        "transforms" => read("transform", transforms::table::<f32>(), expression).map(drop),
        "schedules" => read("schedule", schedules::TABLE, expression).map(drop),
        "partitions" => read("partition", partitions::TABLE, expression).map(drop),
        "tasks" => read("task", tasks::TABLE, expression).map(drop),
        other => Err(byz::Error::Usage(format!("no family is called '{other}'"))),
    };
    checked.map_err(|error| raise(py, error))
}
