//! Two cells compared seed by seed: the mean difference with its 95 % interval.
//!
//! Runs of the same seed share their start and their data, so the differences per seed vary less than the results. With few
//! seeds Student's t makes the interval honest: three of them need a difference of 4.3 standard errors.

use super::{Measure, Study, StudyCell, Table, figure::short, table::six};

/// One cell less another.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The labels that both share, on all axes but the last.
    pub labels: Vec<String>,
    /// The label of the first on the last axis.
    pub first: String,
    /// That of the second.
    pub second: String,
    /// Seeds that both finished.
    pub seeds: usize,
    /// Mean of first − second, in the study's unit.
    pub difference: f64,
    /// Half the width of the 95 % interval; infinite with one seed.
    pub margin: f64,
}

impl Pair {
    /// Whether the interval leaves out zero.
    pub fn decided(&self) -> bool {
        self.difference.abs() > self.margin
    }

    /// The same in a word.
    pub fn verdict(&self) -> &'static str {
        if self.decided() { "decided" } else { "undecided" }
    }

    /// The ends of the interval.
    pub fn interval(&self) -> (f64, f64) {
        (self.difference - self.margin, self.difference + self.margin)
    }

    /// The mean and its interval, with two digits of the margin.
    pub fn shown(&self) -> (String, String) {
        let decimals = (1.0 - self.margin.log10().floor()).max(0.0);
        let shown = |value: f64| match decimals {
            decimals if decimals <= 6.0 => format!("{value:.0$}", decimals as usize),
            _ => short(value),
        };
        match (self.margin.is_finite(), self.interval()) {
            (true, (low, high)) => (shown(self.difference), format!("{} to {}", shown(low), shown(high))),
            (false, _) => (short(self.difference), "needs two seeds".into()),
        }
    }
}

impl Study {
    /// What pairs are told as.
    pub(super) fn pair_heading(&self, columns: &[&str]) -> Vec<String> {
        let shared = &self.axes[..self.axes.len().saturating_sub(1)];
        shared.iter().map(String::as_str).chain(columns.iter().copied()).map(String::from).collect()
    }

    /// A table of pairs for people.
    pub fn comparisons(&self, measure: Measure) -> Table {
        let line = |pair: Pair| {
            let ((mean, interval), verdict) = (pair.shown(), pair.verdict().to_string());
            let of = format!("{} − {}", pair.first, pair.second);
            [pair.labels, vec![of, mean, interval, pair.seeds.to_string(), verdict]].concat()
        };
        Table {
            heading: self.pair_heading(&["difference", "mean", "95 % interval", "seeds", ""]),
            lines: pairs(self, measure).into_iter().map(line).collect(),
        }
    }

    /// A table of pairs for machines: one number per field.
    pub fn comparison_numbers(&self, measure: Measure) -> Table {
        let line = |pair: Pair| {
            let (low, high) = pair.interval();
            let ends = [low, high].map(|end| if end.is_finite() { six(end) } else { String::new() });
            let (seeds, verdict) = (pair.seeds.to_string(), pair.verdict().to_string());
            let names = vec![pair.first, pair.second, six(pair.difference)];
            [pair.labels, names, ends.to_vec(), vec![seeds, verdict]].concat()
        };
        Table {
            heading: self.pair_heading(&["cell", "less", "mean", "low", "high", "seeds", "verdict"]),
            lines: pairs(self, measure).into_iter().map(line).collect(),
        }
    }
}

/// The cells of the last label on the last axis against all others that share the labels before it.
pub fn pairs(study: &Study, measure: Measure) -> Vec<Pair> {
    let Some(last) = study.cells.iter().filter_map(|cell| cell.labels.last()).next_back() else {
        return Vec::new();
    };
    let mut pairs = Vec::new();
    for other in &study.cells {
        let (Some(second), shared) = (other.labels.last(), other.labels.len().saturating_sub(1)) else {
            continue;
        };
        let first = study
            .cells
            .iter()
            .find(|cell| cell.labels.last() == Some(last) && cell.labels[..shared] == other.labels[..shared]);
        let Some(first) = first.filter(|_| second != last) else { continue };
        let differences = differences(first, other, measure, study.report.unit);
        if differences.is_empty() {
            continue;
        }
        let (difference, margin) = interval(&differences);
        pairs.push(Pair {
            labels: other.labels[..shared].to_vec(),
            first: last.clone(),
            second: second.clone(),
            seeds: differences.len(),
            difference,
            margin,
        });
    }
    pairs
}

fn differences(first: &StudyCell, second: &StudyCell, measure: Measure, unit: f64) -> Vec<f64> {
    let mut differences = Vec::new();
    for run in &first.runs {
        let partner = second.runs.iter().find(|other| other.config.seed == run.config.seed);
        let values = partner.and_then(|other| measure.of(&run.summary).zip(measure.of(&other.summary)));
        differences.extend(values.map(|(a, b)| (a - b) / unit));
    }
    differences
}

/// Mean, and half the width of its 95 % interval.
fn interval(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let margin = match values.len() {
        0 | 1 => f64::INFINITY,
        _ => student(values.len() - 1) * (squares / (count - 1.0) / count).sqrt(),
    };
    (mean, margin)
}

/// The 97.5 % quantile of Student's t: from a table, then by Cornish and Fisher's expansion about the normal one.
fn student(degrees: usize) -> f64 {
    const TABLE: [f64; 10] =
        [12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.30600, 2.26216, 2.22814];
    if let Some(&quantile) = TABLE.get(degrees.wrapping_sub(1)) {
        return quantile;
    }
    let (z, n): (f64, f64) = (1.959_964, degrees as f64);
    let (z3, z5, z7) = (z.powi(3), z.powi(5), z.powi(7));
    let second = (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n);
    let third = (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * n * n * n);
    z + (z3 + z) / (4.0 * n) + second + third
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        for (degrees, wanted) in
            [(1, 12.7062), (2, 4.3027), (10, 2.2281), (11, 2.2010), (29, 2.0452), (1000, 1.9623)]
        {
            assert!((student(degrees) - wanted).abs() < 5e-4, "{degrees}: {}", student(degrees));
        }
    }

    #[test]
    fn numbers_have_two_digits_of_their_margin() {
        let pair = |difference, margin| Pair {
            labels: Vec::new(),
            first: "Ours".into(),
            second: "Base".into(),
            seeds: 3,
            difference,
            margin,
        };
        let said = |mean, margin| pair(mean, margin).shown().1;
        assert_eq!(pair(-5.1512, 3.0987).shown(), ("-5.2".into(), "-8.2 to -2.1".into()));
        assert_eq!(said(-89.9, 186.5), "-276 to 97");
        assert_eq!(said(2e-9, 1e-9), "1e-9 to 3e-9");
        assert_eq!(pair(0.5, f64::INFINITY).shown(), ("0.5".into(), "needs two seeds".into()));
        assert_eq!(said(0.5, 0.0), "0.5 to 0.5");
        assert!(!pair(0.0, 0.0).decided() && pair(-5.0, 3.0).decided());
    }

    #[test]
    fn three_seeds_need_four_standard_errors() {
        let (mean, margin) = interval(&[1.0, 2.0, 3.0]);
        assert_eq!(mean, 2.0);
        assert!((margin - 4.30265 / 3f64.sqrt()).abs() < 1e-5);
        assert_eq!(interval(&[5.0]), (5.0, f64::INFINITY));
    }
}
