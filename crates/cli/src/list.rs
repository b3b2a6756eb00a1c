//! `byz list`: every algorithm, straight from the tables.

use crate::{
    exit::Outcome,
    text::{WIDTH, wrap},
};
use byz::{
    Error, aggregators, attacks, partitions, pre_aggregators,
    registry::{Entry, Properties, nearest},
    schedules, tasks, transforms,
};
use serde_json::{Value, json};
use std::io::{self, Write};

/// List every algorithm with its parameters and requirements.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only this family: aggregators, pre-aggregators, attacks, transforms, schedules, partitions, tasks
    family: Option<String>,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// What the list says of an algorithm, whatever its family.
struct Line {
    name: &'static str,
    aliases: &'static [&'static str],
    summary: &'static str,
    parameters: &'static [byz::registry::Parameter],
    requirement: &'static str,
    reference: &'static str,
    properties: Properties,
}

impl<T: ?Sized> From<&'static Entry<T>> for Line {
    fn from(entry: &'static Entry<T>) -> Line {
        let &Entry { name, aliases, summary, parameters, requirement, reference, properties, .. } = entry;
        Line { name, aliases, summary, parameters, requirement, reference, properties }
    }
}

/// The algorithms of one table.
struct Family {
    name: &'static str,
    /// Whether its members promise something for some n and f.
    promises: bool,
    lines: Vec<Line>,
}

impl Family {
    /// Rules, which promise something.
    fn rules<T: ?Sized>(name: &'static str, table: &'static [Entry<T>]) -> Family {
        Family { promises: true, ..Family::of(name, table) }
    }

    /// Anything else.
    fn of<T: ?Sized>(name: &'static str, table: &'static [Entry<T>]) -> Family {
        Family { name, promises: false, lines: table.iter().map(Line::from).collect() }
    }
}

fn families() -> Vec<Family> {
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

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let mut families = families();
    if let Some(wanted) = &arguments.family {
        let name = family(wanted)?;
        families.retain(|family| family.name == name);
    }
    let mut out = io::stdout().lock();
    if arguments.json {
        let all: serde_json::Map<String, Value> = families
            .iter()
            .map(|family| (family.name.to_string(), family.lines.iter().map(Line::to_json).collect()))
            .collect();
        writeln!(out, "{}", Value::Object(all))?;
    } else {
        let texts: Vec<String> = families.iter().map(section).collect();
        out.write_all(texts.join("\n").as_bytes())?;
    }
    out.flush()?;
    Ok(())
}

/// The family meant: singular or plural, with dashes or underscores.
fn family(wanted: &str) -> Result<&'static str, Error> {
    let plain = wanted.to_lowercase().replace(['-', ' '], "_");
    let plain = plain.trim_end_matches('s');
    let known: Vec<&'static str> = families().iter().map(|family| family.name).collect();
    let found = known.iter().find(|name| name.trim_end_matches('s') == plain);
    found.copied().ok_or_else(|| Error::UnknownName {
        family: "family",
        name: wanted.to_string(),
        nearest: nearest(plain, known.iter().map(|name| name.trim_end_matches('s'))).map(|name| name + "s"),
        known: known.iter().map(|name| name.to_string()).collect(),
    })
}

fn section(family: &Family) -> String {
    let title = family.name.replace('_', "-").to_uppercase();
    let body: Vec<String> = family.lines.iter().map(|line| line.to_text(family.promises)).collect();
    format!("{title}\n\n{}", body.join("\n"))
}

impl Line {
    fn held(&self) -> Vec<&'static str> {
        let Properties { translation, scale, bounded, symmetric } = self.properties;
        let all =
            [(translation, "translation"), (scale, "scale"), (bounded, "bounded"), (symmetric, "symmetric")];
        all.into_iter().filter(|(holds, _)| *holds).map(|(_, name)| name).collect()
    }

    fn to_text(&self, promises: bool) -> String {
        let aliases = match self.aliases {
            [] => String::new(),
            aliases => format!(" ({})", aliases.join(", ")),
        };
        let mut text = wrap("", 2, &format!("{}{aliases}", self.name));
        text += &wrap("    ", 4, self.summary);
        if !promises && !self.requirement.is_empty() {
            text += &wrap("    ", 4, self.requirement);
        }
        let mut label = "    parameters  ";
        for parameter in self.parameters {
            let (name, default) = (parameter.name, parameter.default);
            let accepts = parameter.kind.describe();
            text += &wrap(label, 18, &format!("{name} = {default}: {}; {accepts}", parameter.summary));
            label = "                ";
        }
        if promises {
            text += &wrap("    needs       ", 16, self.requirement);
            let held = match self.held() {
                held if held.is_empty() => "none".to_string(),
                held => held.join(", "),
            };
            text += &wrap("    properties  ", 16, &held);
        }
        text += &wrap("    reference   ", 16, self.reference);
        debug_assert!(text.lines().all(|line| line.chars().count() <= WIDTH));
        text
    }

    fn to_json(&self) -> Value {
        let parameters: Vec<Value> = self
            .parameters
            .iter()
            .map(|parameter| {
                json!({
                    "name": parameter.name, "default": parameter.default,
                    "accepts": parameter.kind.describe(), "summary": parameter.summary,
                })
            })
            .collect();
        json!({
            "name": self.name, "aliases": self.aliases, "summary": self.summary, "parameters": parameters,
            "requirement": self.requirement, "reference": self.reference, "properties": self.held(),
        })
    }
}
