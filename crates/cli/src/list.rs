//! `byz list`: every algorithm, straight from the tables.

use crate::{
    exit::Outcome,
    text::{WIDTH, wrap},
};
use byz::catalogue::{Family, Item, families, family, to_json};
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

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let families = match &arguments.family {
        Some(wanted) => vec![family(wanted)?],
        None => families(),
    };
    let mut out = io::stdout().lock();
    if arguments.json {
        writeln!(out, "{}", to_json(&families))?;
    } else {
        let texts: Vec<String> = families.iter().map(section).collect();
        out.write_all(texts.join("\n").as_bytes())?;
    }
    out.flush()?;
    Ok(())
}

fn section(family: &Family) -> String {
    let title = family.name.replace('_', "-").to_uppercase();
    let body: Vec<String> = family.items.iter().map(|item| describe(item, family.promises)).collect();
    format!("{title}\n\n{}", body.join("\n"))
}

fn describe(item: &Item, promises: bool) -> String {
    let aliases = match item.aliases {
        [] => String::new(),
        aliases => format!(" ({})", aliases.join(", ")),
    };
    let mut text = wrap("", 2, &format!("{}{aliases}", item.name));
    text += &wrap("    ", 4, item.summary);
    if !promises && !item.requirement.is_empty() {
        text += &wrap("    ", 4, item.requirement);
    }
    let mut label = "    parameters  ";
    for parameter in item.parameters {
        let (name, default) = (parameter.name, parameter.default);
        let accepts = parameter.kind.describe();
        text += &wrap(label, 18, &format!("{name} = {default}: {}; {accepts}", parameter.summary));
        label = "                ";
    }
    if promises {
        text += &wrap("    needs       ", 16, item.requirement);
        let held = match item.held() {
            held if held.is_empty() => "none".to_string(),
            held => held.join(", "),
        };
        text += &wrap("    properties  ", 16, &held);
    }
    text += &wrap("    reference   ", 16, item.reference);
    debug_assert!(text.lines().all(|line| line.chars().count() <= WIDTH));
    text
}
