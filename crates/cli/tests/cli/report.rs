//! The page and the figures of a sweep.

use crate::support::{Files, Ran, command, names, run};

pub(crate) const GRID: &str = r#"
seeds = [0, 1]
[base]
task = "quartic"
byzantine = 3
rounds = 60
evaluate_every = 10
[axes]
attack = ["sign_flip", { label = "<i>zero</i> & co", attack = "zero" }]
aggregator = [{ label = "RFA", defense = "nnm+geometric_median" }, { label = "Krum", defense = "nnm+krum" }]
optimizer = [{ label = "Base", optimizer = "baseline", rate = 0.001 }, { label = "Ours", optimizer = "byz_nsgdm" }]
[report]
title = "A <small> study"
measure = "aggregate_norm"
log = true
"#;

fn byz(files: &Files, arguments: &str) -> Ran {
    let mut command = command();
    command.current_dir(files.0.path()).args(arguments.split_whitespace());
    run(command)
}

/// A sweep in `s` and its page.
pub(crate) fn page(files: &Files) -> String {
    files.write("small.toml", GRID.as_bytes());
    byz(files, "sweep small.toml --quiet --out s").expect(0);
    let said = byz(files, "report s --html page.html").expect(0).out;
    assert_eq!(said, "page.html\n");
    String::from_utf8(files.read("page.html")).unwrap()
}

#[test]
fn a_page_has_the_table_the_figures_and_the_configurations() {
    let files = Files::new();
    let html = page(&files);
    for words in [
        "A &lt;small&gt; study",
        "&lt;i&gt;zero&lt;/i&gt; &amp; co",
        "8 cells, 16 of 16 runs.",
        "data-label=\"Ours\"",
        "Who was trusted",
        "defense = &quot;nnm+krum&quot;",
        "<td>Ours − Base</td>",
    ] {
        assert!(html.contains(words), "{words}");
    }
    assert!(!html.contains("<i>zero") && !html.contains("<small>"));
    let again = byz(&files, "report s --html again.html --csv").expect(0).out;
    assert!(again.starts_with("again.html\nattack,aggregator,optimizer,"), "{again}");
    assert_eq!(html.as_bytes(), files.read("again.html"));
}

#[test]
fn figures_are_files_named_after_study_and_figure() {
    let files = Files::new();
    page(&files);
    let ran = byz(&files, "report s --figures f");
    let mut wanted = vec!["small-curves".to_string()];
    for attack in ["_i_zero__i____co", "sign_flip"] {
        for rule in ["Krum", "RFA"] {
            wanted
                .extend(["Base", "Ours"].map(|optimizer| format!("small-trust-{attack}-{rule}-{optimizer}")));
        }
    }
    let found = names(&files.path("f"));
    let svg: Vec<_> = found.iter().filter_map(|name| name.strip_suffix(".svg")).collect();
    assert_eq!(svg, wanted, "{found:?}");
    if ran.err.contains("fonts-dejavu-core") {
        // The machine has no fonts: that was said, and the SVG files are there.
        ran.expect(1);
        return;
    }
    ran.expect(0);
    let png: Vec<_> = found.iter().filter_map(|name| name.strip_suffix(".png")).collect();
    assert_eq!(png, if cfg!(feature = "png") { svg } else { vec![] });
}

#[test]
fn one_table_at_a_time_and_nothing_half_written() {
    let files = Files::new();
    page(&files);
    assert!(byz(&files, "report s --markdown").expect(0).out.contains("| attack | aggregator |"));
    assert!(byz(&files, "report s --latex").expect(0).out.contains("\\begin{tabular}"));
    byz(&files, "report s --latex --csv").expect(2).says("cannot be used with");
    byz(&files, "report s --format text --csv").expect(2).says("cannot be used with");
    byz(&files, "report s --html nowhere/page.html").expect(1).says("nowhere/page.html");
    byz(&files, "report s --html s").expect(1).says("not a regular file");
    byz(&files, "report s --figures page.html").expect(1).says("page.html");
    assert_eq!(files.names(), ["page.html", "s", "small.toml"]);
}
