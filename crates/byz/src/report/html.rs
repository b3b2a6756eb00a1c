//! One page for several studies: tables beside what was published, figures to point at, who was trusted, how it was run.
//!
//! The page is one file without any reference to another. It can be read without its script, which adds two things:
//! pointing at a figure (or tapping, or moving through it with the arrow keys) reads its numbers, and a click on a legend's entry
//! switches a curve off. Every word that comes from a record is escaped.

mod comparisons;
mod configuration;
mod figures;
mod study;
mod table;

use super::{Study, figure::escape};
use crate::error::Result;

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");
/// Before all else, so that a test of the page can see what went wrong in it.
const WATCH: &str = include_str!("html/watch.js");

/// The page.
pub fn html(studies: &[Study], title: &str) -> Result<String> {
    let mut body = String::new();
    for (index, study) in studies.iter().enumerate() {
        body += &study::section(study, index)?;
    }
    let title = escape(title);
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n<script>\n{WATCH}</script>\n</head>\n<body>\n\
         <header><h1>{title}</h1>{}</header>\n<main>\n{body}</main>\n\
         <footer>Written by byz from the records of its runs.</footer>\n\
         <div id=\"reading\" role=\"status\" hidden></div>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        contents(studies)
    ))
}

/// Where to find each study, if there are several.
fn contents(studies: &[Study]) -> String {
    if studies.len() < 2 {
        return String::new();
    }
    let entry =
        |(index, study)| format!("<li><a href=\"#study-{index}\">{}</a></li>", escape(&study::title(study)));
    let entries: String = studies.iter().enumerate().map(entry).collect();
    format!("<nav aria-label=\"Studies\"><ul>{entries}</ul></nav>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_refers_to_nothing_outside_of_itself() {
        let page = html(&[], "a <b> & c").unwrap();
        assert!(page.contains("<title>a &lt;b&gt; &amp; c</title>"));
        // A namespace is a name.
        let page = page.replace("http://www.w3.org/2000/svg", "");
        for outside in ["http://", "https://", "@import", "url(", "src="] {
            assert!(!page.contains(outside), "{outside}");
        }
    }
}
