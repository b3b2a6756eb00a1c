//! `--figures DIR`: every figure as SVG and, where this build can, as PNG.

use crate::exit::Outcome;
use byz::{
    Error, files,
    report::{Study, figures},
};
use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    path::{Path, PathBuf},
};

/// Writes the files and then names them on `out`. The SVG files come first: they need nothing that may be missing.
pub(super) fn write(out: &mut impl Write, studies: &[Study], directory: &Path) -> Outcome {
    fs::create_dir_all(directory).map_err(|error| Error::File {
        path: directory.into(),
        problem: format!("cannot be made: {error}"),
    })?;
    let (mut written, mut taken): (Vec<(PathBuf, String)>, BTreeSet<String>) = Default::default();
    for study in studies {
        let study_name = if study.name.is_empty() { "runs" } else { &study.name };
        for figure in figures(study)? {
            let name = free(&mut taken, &file_name(&format!("{study_name}-{}", figure.name)));
            let path = directory.join(name + ".svg");
            files::write_whole(&path, figure.svg.as_bytes())?;
            written.push((path, figure.svg));
        }
    }
    let pictures = pictures(directory, &written)?;
    for path in written.iter().map(|(path, _)| path).chain(&pictures) {
        writeln!(out, "{}", path.display())?;
    }
    Ok(())
}

#[cfg(feature = "png")]
fn pictures(directory: &Path, figures: &[(PathBuf, String)]) -> byz::Result<Vec<PathBuf>> {
    let fonts = super::png::fonts(directory)?;
    let mut written = Vec::new();
    for (path, svg) in figures {
        written.push(path.with_extension("png"));
        files::write_whole(&path.with_extension("png"), &super::png::of(svg, &fonts)?)?;
    }
    Ok(written)
}

/// This build cannot.
#[cfg(not(feature = "png"))]
fn pictures(_: &Path, _: &[(PathBuf, String)]) -> byz::Result<Vec<PathBuf>> {
    Ok(Vec::new())
}

/// Letters, digits and what else is harmless in a file's name.
fn file_name(text: &str) -> String {
    let harmless = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = text.chars().map(harmless).take(80).collect();
    name.trim_start_matches('.').to_string()
}

/// The name, with a number where it was given before.
fn free(taken: &mut BTreeSet<String>, name: &str) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.to_string()).chain(numbered);
    names.find(|name| taken.insert(name.clone())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_directory_and_apart() {
        assert_eq!(file_name("../a b/krum(power=2)"), "_a_b_krum_power_2_");
        let mut taken = BTreeSet::new();
        assert_eq!(
            [free(&mut taken, "a"), free(&mut taken, "a"), free(&mut taken, "a")],
            ["a", "a-2", "a-3"]
        );
    }
}
