//! Runs that differ only in their seeds, as one line: mean ± standard deviation.

use super::Run;
use crate::{
    error::{Error, Result},
    experiment::{Status, Summary},
    registry::nearest,
};

/// Which number of a summary.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    name: &'static str,
    of: fn(&Summary) -> Option<f64>,
}

const MEASURES: &[Measure] = &[
    Measure { name: "metric", of: |summary| summary.metric },
    Measure { name: "best_metric", of: |summary| summary.best_metric },
    Measure { name: "loss", of: |summary| summary.loss },
    Measure { name: "training_loss", of: |summary| summary.training_loss },
    Measure { name: "aggregate_norm", of: |summary| summary.aggregate_norm },
    Measure { name: "gradient_norm", of: |summary| summary.gradient_norm },
];

impl Measure {
    /// By its name in the summary.
    pub fn find(name: &str) -> Result<Measure> {
        MEASURES.iter().copied().find(|measure| measure.name == name).ok_or_else(|| Error::UnknownName {
            family: "measure",
            name: name.to_string(),
            nearest: nearest(name, MEASURES.iter().map(|measure| measure.name)),
            known: MEASURES.iter().map(|measure| measure.name.to_string()).collect(),
        })
    }
}

/// How a standard deviation is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deviation {
    /// Divided by the number of runs, as the paper's tables.
    Population,
    /// Divided by one less.
    Sample,
}

/// Runs that differ only in their seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Value of each key that differs between groups.
    pub labels: Vec<String>,
    /// Values of the runs that finished.
    pub values: Vec<f64>,
    /// Runs that diverged.
    pub diverged: usize,
}

impl Group {
    /// Mean and standard deviation of the finished runs.
    pub fn mean(&self, deviation: Deviation) -> Option<(f64, f64)> {
        let count = self.values.len() as f64;
        let mean = self.values.iter().sum::<f64>() / count;
        let squares: f64 = self.values.iter().map(|value| (value - mean).powi(2)).sum();
        let divisor = if deviation == Deviation::Sample { count - 1.0 } else { count };
        let spread = if divisor > 0.0 { (squares / divisor).sqrt() } else { 0.0 };
        (!self.values.is_empty()).then_some((mean, spread))
    }
}

/// Groups and what tells them apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The keys that differ.
    pub keys: Vec<String>,
    /// What the numbers are.
    pub measure: String,
    /// One line each.
    pub groups: Vec<Group>,
}

/// Keys that runs of one group may differ in.
const SEEDS: [&str; 2] = ["seed", "data_seed"];

/// Puts runs together that differ only in their seeds, in the order in which they come.
pub fn group(runs: &[Run], measure: Measure) -> Result<Table> {
    let mut tables = Vec::new();
    for run in runs {
        let mut table = toml::Table::try_from(&run.config)
            .map_err(|error| Error::Internal(format!("a configuration is no table: {error}")))?;
        SEEDS.iter().for_each(|key| drop(table.remove(*key)));
        tables.push(table);
    }
    let mut keys: Vec<String> = tables.iter().flat_map(|table| table.keys().cloned()).collect();
    keys.sort();
    keys.dedup();
    keys.retain(|key| tables.iter().any(|table| table.get(key) != tables[0].get(key)));
    let mut seen: Vec<&toml::Table> = Vec::new();
    let mut groups: Vec<Group> = Vec::new();
    for (run, table) in runs.iter().zip(&tables) {
        let index = seen.iter().position(|known| *known == table).unwrap_or_else(|| {
            seen.push(table);
            let labels = keys.iter().map(|key| table.get(key).map_or(String::new(), show)).collect();
            groups.push(Group { labels, values: Vec::new(), diverged: 0 });
            groups.len() - 1
        });
        match (run.summary.status, (measure.of)(&run.summary)) {
            (Status::Finished, Some(value)) => groups[index].values.push(value),
            _ => groups[index].diverged += 1,
        }
    }
    groups.sort_by(|a, b| a.labels.cmp(&b.labels));
    let named = runs.first().map(|run| run.summary.metric_name.clone()).filter(|_| measure.name == "metric");
    Ok(Table { keys, measure: named.unwrap_or_else(|| measure.name.to_string()), groups })
}

/// A value as one would write it; text without quotes.
fn show(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(items) => items.iter().map(show).collect::<Vec<_>>().join("+"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_comes_with_either_deviation() {
        let group = Group { labels: Vec::new(), values: vec![1.0, 3.0], diverged: 0 };
        assert_eq!(group.mean(Deviation::Population), Some((2.0, 1.0)));
        assert_eq!(group.mean(Deviation::Sample), Some((2.0, 2f64.sqrt())));
        let alone = Group { values: vec![5.0], ..group.clone() };
        assert_eq!(alone.mean(Deviation::Sample), Some((5.0, 0.0)));
        assert_eq!(Group { values: Vec::new(), ..group }.mean(Deviation::Sample), None);
    }
}
