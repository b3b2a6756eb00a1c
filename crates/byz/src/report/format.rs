//! A table as text for a terminal, Markdown, LaTeX or CSV.

use super::{Deviation, Table};
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
    pub fn write(self, table: &Table, deviation: Deviation) -> String {
        match self {
            Format::Csv => csv(table, deviation),
            Format::Text => text(&cells(table, deviation, '±')),
            Format::Markdown => markdown(&cells(table, deviation, '±')),
            Format::Latex => latex(&cells(table, deviation, '±')),
        }
    }
}

/// Heading and lines, with mean and deviation in one cell.
fn cells(table: &Table, deviation: Deviation, sign: char) -> Vec<Vec<String>> {
    let mut heading = table.keys.clone();
    heading.extend([table.measure.clone(), "runs".into()]);
    let mut lines = vec![heading];
    for group in &table.groups {
        let mut line = group.labels.clone();
        line.push(match group.mean(deviation) {
            Some((mean, spread)) => format!("{} {sign} {}", digits(mean), digits(spread)),
            None => "diverged".into(),
        });
        let runs = group.values.len() + group.diverged;
        line.push(match group.diverged {
            0 => runs.to_string(),
            diverged => format!("{runs} ({diverged} diverged)"),
        });
        lines.push(line);
    }
    lines
}

/// Four digits.
fn digits(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let exponent = value.abs().log10().floor() as i32;
    match exponent {
        -3..=4 => format!("{value:.*}", (3 - exponent).max(0) as usize),
        _ => format!("{value:.3e}"),
    }
}

fn text(lines: &[Vec<String>]) -> String {
    let columns = lines[0].len();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for line in lines {
        let padded = line.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
        out.push_str(padded.collect::<Vec<_>>().join("  ").trim_end());
        out.push('\n');
    }
    out
}

fn markdown(lines: &[Vec<String>]) -> String {
    let line = |cells: &Vec<String>| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule = format!("|{}\n", "---|".repeat(lines[0].len()));
    std::iter::once(line(&lines[0])).chain([rule]).chain(lines[1..].iter().map(line)).collect()
}

fn latex(lines: &[Vec<String>]) -> String {
    let escape = |cell: &String| {
        let mut out = String::new();
        for c in cell.chars() {
            match c {
                '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
                '±' => out.push_str("$\\pm$"),
                '\\' => out.push_str("\\textbackslash{}"),
                '~' => out.push_str("\\textasciitilde{}"),
                '^' => out.push_str("\\textasciicircum{}"),
                c => out.push(c),
            }
        }
        out
    };
    let line = |cells: &Vec<String>| cells.iter().map(escape).collect::<Vec<_>>().join(" & ") + " \\\\\n";
    let body: String = lines[1..].iter().map(line).collect();
    format!(
        "\\begin{{tabular}}{{{}}}\n\\hline\n{}\\hline\n{body}\\hline\n\\end{{tabular}}\n",
        "l".repeat(lines[0].len()),
        line(&lines[0])
    )
}

fn csv(table: &Table, deviation: Deviation) -> String {
    let quote = |cell: &str| match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_string(),
    };
    let heading = table.keys.iter().map(String::as_str).chain(["mean", "std", "runs", "diverged"]);
    let mut out = heading.map(quote).collect::<Vec<_>>().join(",") + "\n";
    for group in &table.groups {
        let (mean, spread) = group
            .mean(deviation)
            .map_or_else(Default::default, |(mean, spread)| (mean.to_string(), spread.to_string()));
        let runs = (group.values.len() + group.diverged).to_string();
        let diverged = group.diverged.to_string();
        let cells = group.labels.iter().map(String::as_str).chain([&*mean, &*spread, &*runs, &*diverged]);
        out.push_str(&(cells.map(quote).collect::<Vec<_>>().join(",") + "\n"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Group;

    fn table() -> Table {
        let group = |label: &str, values: &[f64], diverged| Group {
            labels: vec![label.to_string()],
            values: values.to_vec(),
            diverged,
        };
        Table {
            keys: vec!["defense".into()],
            measure: "accuracy".into(),
            groups: vec![group("nnm+krum(power=2,neighbors=3)", &[98.0, 99.0], 0), group("mean", &[], 2)],
        }
    }

    #[test]
    fn every_format_says_the_same() {
        let write = |format: Format| format.write(&table(), Deviation::Population);
        assert_eq!(
            write(Format::Text),
            "defense                        accuracy        runs\n\
             nnm+krum(power=2,neighbors=3)  98.50 ± 0.5000  2\n\
             mean                           diverged        2 (2 diverged)\n"
        );
        assert_eq!(
            write(Format::Csv),
            "defense,mean,std,runs,diverged\n\"nnm+krum(power=2,neighbors=3)\",98.5,0.5,2,0\nmean,,,2,2\n"
        );
        assert!(
            write(Format::Markdown)
                .contains("|---|---|---|\n| nnm+krum(power=2,neighbors=3) | 98.50 ± 0.5000 | 2 |")
        );
        assert!(write(Format::Latex).contains("98.50 $\\pm$ 0.5000 & 2 \\\\"));
    }
}
