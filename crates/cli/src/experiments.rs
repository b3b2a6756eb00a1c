//! The experiment files, embedded: `byz reproduce` needs nothing but the binary.

use byz::{Error, experiment::Grid};

/// One experiment file, with the published numbers that it names.
pub(crate) struct Experiment {
    pub(crate) name: &'static str,
    grid: &'static str,
    pub(crate) expected: Option<&'static str>,
}

macro_rules! experiment {
    ($name:literal) => {
        Experiment {
            name: $name,
            grid: include_str!(concat!("../../../experiments/", $name, ".toml")),
            expected: None,
        }
    };
    ($name:literal, $expected:literal) => {
        Experiment {
            expected: Some(include_str!(concat!("../../../experiments/expected/", $expected, ".csv"))),
            ..experiment!($name)
        }
    };
}

/// Every file of `experiments/`.
pub(crate) const ALL: &[Experiment] = &[
    experiment!("synthetic_released", "synthetic_released"),
    experiment!("synthetic_text", "synthetic_text"),
    experiment!("mnist_released", "mnist"),
    experiment!("mnist_text", "mnist"),
    experiment!("mnist_text_20", "mnist"),
    experiment!("lm_released", "lm"),
    experiment!("lm_text", "lm"),
    experiment!("ablation_released", "ablation"),
    experiment!("ablation_text"),
    experiment!("theory", "theory"),
    experiment!("beyond_aggregators"),
    experiment!("beyond_breakdown"),
    experiment!("beyond_damage"),
    experiment!("beyond_lmo"),
    experiment!("beyond_lmo_lm"),
    experiment!("beyond_price"),
    experiment!("beyond_worst"),
];

/// The blocks of the paper.
pub(crate) const BLOCKS: [&str; 4] = ["synthetic", "mnist", "lm", "ablation"];

impl Experiment {
    pub(crate) fn grid(&self) -> Result<Grid, Error> {
        Grid::from_toml(self.grid)
    }
}

/// The experiment of this name.
pub(crate) fn find(name: &str) -> Option<&'static Experiment> {
    ALL.iter().find(|experiment| experiment.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use byz::report::Expected;
    use std::fs;

    #[test]
    fn every_file_is_embedded_and_its_cells_are_those_of_the_published_numbers() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments");
        let files = fs::read_dir(folder).unwrap().flatten();
        let count = files.filter(|file| file.path().extension().is_some_and(|kind| kind == "toml")).count();
        assert_eq!(count, ALL.len());
        for experiment in ALL {
            let grid = experiment.grid().unwrap_or_else(|error| panic!("{}: {error}", experiment.name));
            assert_eq!(experiment.expected.is_some(), grid.report.expected.is_some(), "{}", experiment.name);
            let cells = grid.cells().unwrap();
            for row in
                experiment.expected.map_or(Vec::new(), |text| Expected::read(text, &grid.axes()).unwrap())
            {
                assert!(cells.iter().any(|cell| cell.name() == row.labels.join("/")), "{:?}", row.labels);
                assert!(row.agrees(row.mean) || experiment.name.starts_with("synthetic"), "{:?}", row.labels);
            }
        }
    }
}
