//! Differences between cells, seed by seed, with their intervals.

use super::table::framed;
use crate::report::{Measure, Pair, Study, figure::escape, pairs};

/// The last label of the last axis less each of the others.
pub(super) fn of_study(study: &Study, measure: Measure) -> String {
    let heading = study.pair_heading(&["difference", "mean", "95 % interval", "seeds", "verdict"]);
    let pairs = pairs(study, measure);
    if pairs.is_empty() {
        return String::new();
    }
    let lines: String = pairs.iter().map(line).collect();
    let name = format!("{} {}", study.measure_name(measure), study.unit());
    let note =
        format!("Differences of {}, seed by seed; an interval that holds zero decides nothing", name.trim());
    format!(
        "<details class=\"comparisons\"><summary>Comparisons seed by seed</summary>\n{}</details>\n",
        framed(&note, &heading, &lines)
    )
}

fn line(pair: &Pair) -> String {
    let label = |label: &String| format!("<th scope=\"row\">{}</th>", escape(label));
    let labels: String = pair.labels.iter().map(label).collect();
    let (mean, interval) = pair.shown();
    let (mean, interval) = (minus(&mean), minus(&interval));
    let class = if pair.decided() { "agrees" } else { "soft" };
    format!(
        "<tr>{labels}<td>{} − {}</td><td class=\"number\">{mean}</td><td class=\"number\">{interval}</td>\
         <td class=\"number\">{}</td><td class=\"{class}\">{}</td></tr>\n",
        escape(&pair.first),
        escape(&pair.second),
        pair.seeds,
        pair.verdict()
    )
}

/// Signs as print has them; exponents stay.
fn minus(text: &str) -> String {
    let word = |word: &str| word.strip_prefix('-').map_or(word.into(), |rest| format!("−{rest}"));
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_printed_and_exponents_stay() {
        assert_eq!(minus("-8.2 to -2.1e-9"), "−8.2 to −2.1e-9");
        assert_eq!(minus("needs two seeds"), "needs two seeds");
    }
}
