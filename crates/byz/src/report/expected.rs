//! Published numbers, to stand beside ours: a CSV file with a column per axis, then `mean`, `std`, `low`, `high`.
//!
//! A result between `low` and `high` agrees. The bounds are part of the file, so that nobody chooses them after the fact.

use crate::error::{Error, Result};

/// What was published of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// The label on every axis.
    pub labels: Vec<String>,
    /// The published mean, in the table's unit.
    pub mean: f64,
    /// The published standard deviation, where there is one.
    pub std: Option<f64>,
    /// The least result that agrees.
    pub low: f64,
    /// The largest.
    pub high: f64,
}

impl Expected {
    /// Whether a result agrees.
    pub fn agrees(&self, mean: f64) -> bool {
        (self.low..=self.high).contains(&mean)
    }

    /// Reads a file for these axes; lines that start with `#` are comments.
    pub fn read(text: &str, axes: &[String]) -> Result<Vec<Expected>> {
        let mut lines =
            text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
        let wrong = |line: usize, problem: &str| {
            Error::Usage(format!("the expected values are not usable: line {}: {problem}", line + 1))
        };
        let wanted: Vec<&str> =
            axes.iter().map(String::as_str).chain(["mean", "std", "low", "high"]).collect();
        let heading = lines.next().map_or(Vec::new(), |(_, line)| line.split(',').map(str::trim).collect());
        if heading != wanted {
            return Err(wrong(0, &format!("expected the columns {}", wanted.join(","))));
        }
        let mut rows = Vec::new();
        for (number, line) in lines {
            let fields: Vec<&str> = line.split(',').map(str::trim).collect();
            if fields.len() != wanted.len() {
                return Err(wrong(number, &format!("expected {} fields", wanted.len())));
            }
            let (labels, numbers) = fields.split_at(axes.len());
            let read =
                |text: &str| text.parse::<f64>().map_err(|_| wrong(number, &format!("{text} is no number")));
            rows.push(Expected {
                labels: labels.iter().map(|label| label.to_string()).collect(),
                mean: read(numbers[0])?,
                std: if numbers[1].is_empty() { None } else { Some(read(numbers[1])?) },
                low: read(numbers[2])?,
                high: read(numbers[3])?,
            });
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_file_and_says_what_is_wrong_with_it() {
        let axes = ["attack".to_string()];
        let read = |text: &str| Expected::read(text, &axes);
        let rows = read("# source\nattack,mean,std,low,high\nBF, 7.3,0.4,5,8\nLF,9,,8,10\n").unwrap();
        assert_eq!((rows[0].mean, rows[0].std, rows[1].std), (7.3, Some(0.4), None));
        assert!(rows[0].agrees(5.0) && !rows[0].agrees(8.1) && !rows[0].agrees(f64::NAN));
        for (text, problem) in [
            ("attack,mean\n", "expected the columns attack,mean,std,low,high"),
            ("attack,mean,std,low,high\nBF,1,2,3\n", "line 2: expected 5 fields"),
            ("attack,mean,std,low,high\nBF,x,2,3,4\n", "x is no number"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }
}
