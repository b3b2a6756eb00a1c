//! A table as text for a terminal, Markdown, LaTeX or CSV.

use super::Table;
use crate::{
    error::{Error, Result},
    registry::nearest,
};

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Aligned columns.
    Text,
    /// GitHub's dialect.
    Markdown,
    /// A `tabular`.
    Latex,
    /// One number per field.
    Csv,
}

impl Format {
    /// By its name.
    pub fn find(name: &str) -> Result<Format> {
        let known = [
            ("text", Format::Text),
            ("markdown", Format::Markdown),
            ("latex", Format::Latex),
            ("csv", Format::Csv),
        ];
        known.iter().find(|(known, _)| *known == name).map(|(_, format)| *format).ok_or_else(|| {
            Error::UnknownName {
                family: "format",
                name: name.to_string(),
                nearest: nearest(name, known.iter().map(|(name, _)| *name)),
                known: known.iter().map(|(name, _)| name.to_string()).collect(),
            }
        })
    }

    /// The table.
    pub fn write(self, table: &Table) -> String {
        match self {
            Format::Csv => csv(table),
            Format::Text => text(table),
            Format::Markdown => markdown(table),
            Format::Latex => latex(table),
        }
    }
}

fn text(table: &Table) -> String {
    let lines = || std::iter::once(&table.heading).chain(&table.lines);
    let width = |column: usize| lines().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..table.heading.len()).map(width).collect();
    let mut out = String::new();
    for line in lines() {
        let padded = line.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
        out.push_str(padded.collect::<Vec<_>>().join("  ").trim_end());
        out.push('\n');
    }
    out
}

fn markdown(table: &Table) -> String {
    let line = |cells: &Vec<String>| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule = format!("|{}\n", "---|".repeat(table.heading.len()));
    std::iter::once(line(&table.heading)).chain([rule]).chain(table.lines.iter().map(line)).collect()
}

fn latex(table: &Table) -> String {
    let escape = |cell: &String| {
        let mut out = String::new();
        for c in cell.chars() {
            match c {
                '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
                '±' => out.push_str("$\\pm$"),
                '−' => out.push_str("$-$"),
                '‖' => out.push_str("$\\|$"),
                '∇' => out.push_str("$\\nabla$"),
                '\\' => out.push_str("\\textbackslash{}"),
                '~' => out.push_str("\\textasciitilde{}"),
                '^' => out.push_str("\\textasciicircum{}"),
                c => out.push(c),
            }
        }
        out
    };
    let line = |cells: &Vec<String>| cells.iter().map(escape).collect::<Vec<_>>().join(" & ") + " \\\\\n";
    let body: String = table.lines.iter().map(line).collect();
    format!(
        "\\begin{{tabular}}{{{}}}\n\\hline\n{}\\hline\n{body}\\hline\n\\end{{tabular}}\n",
        "l".repeat(table.heading.len()),
        line(&table.heading)
    )
}

fn csv(table: &Table) -> String {
    let quote = |cell: &String| match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.clone(),
    };
    let line = |cells: &Vec<String>| cells.iter().map(quote).collect::<Vec<_>>().join(",") + "\n";
    std::iter::once(&table.heading).chain(&table.lines).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_says_the_same() {
        let owned = |cells: &[&str]| cells.iter().map(|cell| cell.to_string()).collect::<Vec<_>>();
        let table = Table {
            heading: owned(&["defense", "accuracy", "runs"]),
            lines: vec![
                owned(&["nnm+krum(power=2,neighbors=3)", "98.50 ± 0.50", "2"]),
                owned(&["mean", "diverged", "2 (2 diverged)"]),
            ],
        };
        assert_eq!(
            Format::Text.write(&table),
            "defense                        accuracy      runs\n\
             nnm+krum(power=2,neighbors=3)  98.50 ± 0.50  2\n\
             mean                           diverged      2 (2 diverged)\n"
        );
        assert_eq!(
            Format::Csv.write(&table),
            "defense,accuracy,runs\n\"nnm+krum(power=2,neighbors=3)\",98.50 ± 0.50,2\nmean,diverged,2 (2 diverged)\n"
        );
        let markdown = Format::Markdown.write(&table);
        assert!(markdown.contains("|---|---|---|\n| nnm+krum(power=2,neighbors=3) | 98.50 ± 0.50 | 2 |"));
        assert!(Format::Latex.write(&table).contains("98.50 $\\pm$ 0.50 & 2 \\\\"));
    }
}
