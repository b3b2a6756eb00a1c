//! Differences between cells, seed by seed, with their intervals.

use super::table::framed;
use crate::report::{
    Measure, Pair, Study,
    figure::{escape, short},
    pairs,
};

/// The last label of the last axis less each of the others.
pub(super) fn of_study(study: &Study, measure: Measure) -> String {
    let mut heading = study.axes[..study.axes.len().saturating_sub(1)].to_vec();
    heading.extend(["difference", "mean", "95 % interval", "seeds", "verdict"].map(String::from));
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
    let (mean, interval) = numbers(pair.difference, pair.margin);
    let verdict = match pair.decided() {
        true => "<td class=\"agrees\">decided</td>",
        false => "<td class=\"soft\">undecided</td>",
    };
    format!(
        "<tr>{labels}<td>{} − {}</td><td class=\"number\">{mean}</td><td class=\"number\">{interval}</td>\
         <td class=\"number\">{}</td>{verdict}</tr>\n",
        escape(&pair.first),
        escape(&pair.second),
        pair.seeds
    )
}

/// The mean and its interval, with two digits of the margin.
fn numbers(mean: f64, margin: f64) -> (String, String) {
    let minus = |text: String| text.replace('-', "−");
    let decimals = (1.0 - margin.log10().floor()).max(0.0);
    match margin {
        infinite if infinite.is_infinite() => (minus(short(mean)), "needs two seeds".into()),
        margin if (0.0..=6.0).contains(&decimals) => {
            let decimals = decimals as usize;
            let shown = |value: f64| minus(format!("{value:.decimals$}"));
            (shown(mean), format!("{} to {}", shown(mean - margin), shown(mean + margin)))
        }
        margin => {
            let shown = |value: f64| short(value).replacen('-', "−", usize::from(value < 0.0));
            (shown(mean), format!("{} to {}", shown(mean - margin), shown(mean + margin)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_two_digits_of_their_margin() {
        let said = |mean, margin| numbers(mean, margin).1;
        assert_eq!(numbers(-5.1512, 3.0987), ("−5.2".into(), "−8.2 to −2.1".into()));
        assert_eq!(said(-89.9, 186.5), "−276 to 97");
        assert_eq!(said(2e-9, 1e-9), "1e-9 to 3e-9");
        assert_eq!(numbers(0.5, f64::INFINITY), ("0.5".into(), "needs two seeds".into()));
        assert_eq!(said(0.5, 0.0), "0.5 to 0.5");
    }
}
