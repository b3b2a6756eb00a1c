//! Every algorithm of every family as plain data: what `byz list` and the Python package show.

use crate::{
    aggregators, attacks,
    error::{Error, Result},
    partitions, pre_aggregators,
    registry::{Entry, Parameter, Properties, nearest},
    schedules, tasks, transforms,
};
use serde_json::{Map, Value, json};

/// The algorithms of one table.
pub struct Family {
    /// Plural, as in `byz list`: `aggregators`.
    pub name: &'static str,
    /// Whether its members promise something for some n and f.
    pub promises: bool,
    /// Its members, in the order of the table.
    pub items: Vec<Item>,
}

/// What the table says of an algorithm, whatever its family.
pub struct Item {
    /// The name.
    pub name: &'static str,
    /// What the field calls it.
    pub aliases: &'static [&'static str],
    /// One line.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// What it needs of n and f.
    pub requirement: &'static str,
    /// Where it was published.
    pub reference: &'static str,
    properties: Properties,
}

impl<T: ?Sized> From<&'static Entry<T>> for Item {
    fn from(entry: &'static Entry<T>) -> Item {
        let &Entry { name, aliases, summary, parameters, requirement, reference, properties, .. } = entry;
        Item { name, aliases, summary, parameters, requirement, reference, properties }
    }
}

impl Family {
    /// Rules, which promise something.
    fn rules<T: ?Sized>(name: &'static str, table: &'static [Entry<T>]) -> Family {
        Family { promises: true, ..Family::of(name, table) }
    }

    /// Anything else.
    fn of<T: ?Sized>(name: &'static str, table: &'static [Entry<T>]) -> Family {
        Family { name, promises: false, items: table.iter().map(Item::from).collect() }
    }
}

/// All families.
pub fn families() -> Vec<Family> {
    vec![
        Family::rules("aggregators", aggregators::TABLE),
        Family::rules("pre_aggregators", pre_aggregators::TABLE),
        Family::of("attacks", attacks::table::<f32>()),
        Family::of("transforms", transforms::table::<f32>()),
        Family::of("schedules", schedules::TABLE),
        Family::of("partitions", partitions::TABLE),
        Family::of("tasks", tasks::TABLE),
    ]
}

/// The family meant: singular or plural, with dashes or underscores.
pub fn family(wanted: &str) -> Result<Family> {
    let plain = wanted.to_lowercase().replace(['-', ' '], "_");
    let plain = plain.trim_end_matches('s');
    let known: Vec<&'static str> = families().iter().map(|family| family.name).collect();
    families().into_iter().find(|family| family.name.trim_end_matches('s') == plain).ok_or_else(|| {
        Error::UnknownName {
            family: "family",
            name: wanted.to_string(),
            nearest: nearest(plain, known.iter().map(|name| name.trim_end_matches('s')))
                .map(|name| name + "s"),
            known: known.iter().map(|name| name.to_string()).collect(),
        }
    })
}

/// Families as one JSON object: name → list of algorithms.
pub fn to_json(families: &[Family]) -> Value {
    let items = |family: &Family| family.items.iter().map(Item::to_json).collect::<Vec<_>>();
    Value::Object(
        families.iter().map(|family| (family.name.into(), items(family).into())).collect::<Map<_, _>>(),
    )
}

impl Item {
    /// The names of the properties that hold.
    pub fn held(&self) -> Vec<&'static str> {
        let Properties { translation, scale, bounded, symmetric } = self.properties;
        let all =
            [(translation, "translation"), (scale, "scale"), (bounded, "bounded"), (symmetric, "symmetric")];
        all.into_iter().filter(|(holds, _)| *holds).map(|(_, name)| name).collect()
    }

    fn to_json(&self) -> Value {
        let parameter = |parameter: &Parameter| {
            json!({
                "name": parameter.name, "default": parameter.default,
                "accepts": parameter.kind.describe(), "summary": parameter.summary,
            })
        };
        let parameters: Vec<Value> = self.parameters.iter().map(parameter).collect();
        json!({
            "name": self.name, "aliases": self.aliases, "summary": self.summary, "parameters": parameters,
            "requirement": self.requirement, "reference": self.reference, "properties": self.held(),
        })
    }
}
