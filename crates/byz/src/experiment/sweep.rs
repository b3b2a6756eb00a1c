//! Many runs: tune, then run every cell with every seed. Finished runs are skipped, failed ones do not stop the others.
//!
//! Candidates live in `tuning/KEY`, results in `runs/KEY`, so that the same call goes on where it was cut off; `index.json`
//! tells which is which.

use super::{
    config::Config,
    grid::{Cell, Grid},
    index::{Index, Indexed},
    record::{Record, Summary},
    runner::{Ended, Watch, run},
    tuning::{Tuning, best, problem, rungs, told},
};
use crate::{
    data::Directory,
    error::{Error, Result},
    files,
    sharing::share_out,
};
use std::{
    collections::{HashMap, HashSet},
    fs,
    io::Write,
    path::{Path, PathBuf},
};

/// Cells and their places in the grid.
type Placed = Vec<(usize, Cell)>;
/// The same of cells whose counts their rule refuses, and why.
type Refused = Vec<(usize, Cell, Error)>;

/// One run of a sweep.
#[derive(Clone, Debug)]
pub struct Job {
    /// Which cell.
    pub cell: usize,
    /// What to run.
    pub config: Config,
    /// Where.
    pub directory: PathBuf,
}

/// One run of a sweep, done or failed.
#[derive(Clone, Debug)]
pub struct Settled {
    /// Which cell.
    pub cell: usize,
    /// What was run.
    pub config: Config,
    /// How it went.
    pub outcome: Result<Summary>,
}

/// A sweep in a directory.
pub struct Sweep<'a> {
    /// What it is called.
    pub name: &'a str,
    /// What to run.
    pub grid: &'a Grid,
    /// Which cells, such as `BF/RFA/*`; all if there is none.
    pub select: &'a [String],
    /// The published numbers, which are kept with the results.
    pub expected: Option<&'a str>,
    /// Where.
    pub directory: &'a Path,
    /// Where data sets are.
    pub data: &'a Directory,
    /// Runs at a time.
    pub jobs: usize,
    /// What each run is given; called once per run.
    pub watch: &'a (dyn Fn(&Job) -> Watch<'a> + Sync),
    /// Hears of every finished run.
    pub settled: &'a (dyn Fn(&Settled) + Sync),
}

impl Sweep<'_> {
    /// Rounds that tuning and the runs take in all, done or not.
    pub fn total_rounds(&self) -> Result<u64> {
        let mut total = 0;
        for (_, cell) in self.able()?.0 {
            let rounds = cell.config(self.grid.seeds[0], cell.rates.first().copied())?.rounds;
            total += rounds * self.grid.seeds.len() as u64;
            if let Some(tuning) = self.grid.tuning.as_ref().filter(|_| !cell.rates.is_empty()) {
                let rungs = rungs(tuning, cell.rates.len(), rounds);
                let candidates: u64 = rungs.iter().map(|(count, rounds)| *count as u64 * rounds).sum();
                total += candidates * tuning.seeds.len() as u64;
            }
        }
        Ok(total)
    }

    /// Tunes and runs everything that is missing.
    pub fn run(&self) -> Result<Vec<Settled>> {
        if self.directory.join("config.toml").exists() {
            let place = self.directory.display();
            return Err(Error::Usage(format!("{place} holds a run, not a sweep; choose another --out")));
        }
        let (cells, refused) = self.able()?;
        let chosen = match &self.grid.tuning {
            Some(tuning) => self.tune(&cells, tuning)?,
            None => cells.iter().map(|_| Chosen { rate: Ok(None), scores: Vec::new() }).collect(),
        };
        let (mut jobs, mut indexed, mut failed) = (Vec::new(), Vec::new(), Vec::new());
        for ((index, cell), chosen) in cells.iter().zip(chosen) {
            let mut entry = Indexed { scores: chosen.scores, ..Indexed::idle(cell) };
            for &seed in &self.grid.seeds {
                let rate = match &chosen.rate {
                    Ok(rate) => *rate,
                    Err(error) => {
                        let config = cell.config(seed, cell.rates.first().copied())?;
                        failed.push(Settled { cell: *index, config, outcome: Err(error.clone()) });
                        continue;
                    }
                };
                let job = self.job("runs", *index, cell.config(seed, rate)?);
                entry.rate = Some(job.config.rate);
                entry.runs.push(job.config.key());
                jobs.push(job);
            }
            indexed.push((*index, entry));
        }
        for (index, cell, error) in &refused {
            for &seed in &self.grid.seeds {
                let config = cell.unchecked(seed)?;
                failed.push(Settled { cell: *index, config, outcome: Err(error.clone()) });
            }
        }
        Record::at(self.directory)?;
        let expected = self.directory.join("expected.csv");
        match self.expected {
            Some(text) => files::replace(&expected, |out| out.write_all(text.as_bytes()))?,
            None if expected.exists() => fs::remove_file(&expected)
                .map_err(|error| Error::file(&expected, format_args!("cannot be removed: {error}")))?,
            None => {}
        }
        let (grid, selected) = (self.grid.cells()?, self.grid.select(self.select)?);
        let stands =
            |place: usize, before: &Indexed| Ok(!selected[place] && self.is_of(&grid[place], before));
        self.index(indexed)?.save(self.directory, stands)?;
        failed.iter().for_each(|settled| (self.settled)(settled));
        failed.extend(self.settle(jobs));
        failed.sort_by_key(|settled| settled.cell);
        Ok(failed)
    }

    /// Whether these runs are ones that the cell asks for.
    fn is_of(&self, cell: &Cell, entry: &Indexed) -> bool {
        let key = |&seed: &u64| cell.config(seed, entry.rate).ok().map(|config| config.key());
        let keys: Vec<String> = self.grid.seeds.iter().filter_map(key).collect();
        entry.runs.iter().all(|run| keys.contains(run))
    }

    /// The chosen cells that can be run, and the others.
    fn able(&self) -> Result<(Placed, Refused)> {
        let (mut able, mut refused) = (Vec::new(), Vec::new());
        for (place, cell) in self.cells()? {
            match cell.config(self.grid.seeds[0], cell.rates.first().copied()) {
                Err(error @ Error::Refused { .. }) => refused.push((place, cell, error)),
                _ => able.push((place, cell)),
            }
        }
        Ok((able, refused))
    }

    /// The chosen cells and their places in the grid.
    fn cells(&self) -> Result<Placed> {
        let chosen = self.grid.select(self.select)?;
        let cells = self.grid.cells()?.into_iter().enumerate();
        Ok(cells.filter(|(index, _)| chosen[*index]).collect())
    }

    fn index(&self, indexed: Vec<(usize, Indexed)>) -> Result<Index> {
        let mut cells: Vec<Indexed> = self.grid.cells()?.iter().map(Indexed::idle).collect();
        indexed.into_iter().for_each(|(index, entry)| cells[index] = entry);
        let (name, report) = (self.name.to_string(), self.grid.report.clone());
        Ok(Index { name, report, axes: self.grid.axes(), cells })
    }

    fn job(&self, folder: &str, cell: usize, config: Config) -> Job {
        let directory = self.directory.join(folder).join(config.key());
        Job { cell, config, directory }
    }

    /// The chosen rate of every cell that has candidates.
    fn tune(&self, cells: &[(usize, Cell)], tuning: &Tuning) -> Result<Vec<Chosen>> {
        let mut remaining: Vec<Vec<f64>> = cells.iter().map(|(_, cell)| cell.rates.clone()).collect();
        let mut scores = vec![Vec::new(); cells.len()];
        let mut problems: Vec<Option<Error>> = vec![None; cells.len()];
        let most = remaining.iter().map(Vec::len).max().unwrap_or(0);
        for rung in 0..rungs(tuning, most, 1).len() {
            let mut jobs = Vec::new();
            for (index, (place, cell)) in cells.iter().enumerate() {
                let rounds = cell.config(0, cell.rates.first().copied())?.rounds;
                let Some(&(_, rounds)) = rungs(tuning, cell.rates.len(), rounds).get(rung) else { continue };
                let cell = tuning.candidate(cell.clone());
                for &rate in &remaining[index] {
                    for &seed in &tuning.seeds {
                        let mut config = cell.config(seed, Some(rate))?;
                        config.rounds = rounds;
                        config.evaluate_on = tuning.on.clone();
                        jobs.push(self.job("tuning", *place, config));
                    }
                }
            }
            let settled = self.settle(jobs);
            for (index, candidates) in remaining.iter_mut().enumerate() {
                let own: Vec<&Settled> =
                    settled.iter().filter(|settled| settled.cell == cells[index].0).collect();
                let last = rungs(tuning, cells[index].1.rates.len(), 1).len();
                if rung < last {
                    let keep = if rung + 1 == last { 1 } else { candidates.len().div_ceil(2) };
                    scores[index].extend(told(candidates, &own, tuning));
                    problems[index] = problems[index].take().or_else(|| problem(&own, tuning));
                    *candidates = best(candidates, &own, tuning, keep);
                }
            }
        }
        let chosen = |((rates, scores), problem): ((Vec<f64>, _), Option<Error>)| Chosen {
            rate: problem.map_or(Ok(rates.first().copied()), Err),
            scores,
        };
        Ok(remaining.into_iter().zip(scores).zip(problems).map(chosen).collect())
    }

    /// Runs all jobs, `jobs` at a time; what fails is tried once more at the end.
    fn settle(&self, jobs: Vec<Job>) -> Vec<Settled> {
        // Cells may share a run: it is done once.
        let mut places = HashSet::new();
        let once = jobs.iter().filter(|job| places.insert(&job.directory)).cloned().collect();
        let mut settled = self.attempt(once);
        let failed = |settled: &Settled| matches!(&settled.outcome, Err(error) if is_transient(error));
        let again: Vec<usize> = (0..settled.len()).filter(|&index| failed(&settled[index].1)).collect();
        let retries = again.iter().map(|&index| settled[index].0.clone()).collect();
        for (index, retried) in again.into_iter().zip(self.attempt(retries)) {
            settled[index] = retried;
        }
        let outcomes: HashMap<PathBuf, Result<Summary>> =
            settled.into_iter().map(|(job, settled)| (job.directory, settled.outcome)).collect();
        let tell = |Job { cell, config, directory }| {
            let outcome = outcomes[&directory].clone();
            Settled { cell, config, outcome }
        };
        jobs.into_iter().map(tell).collect()
    }

    fn attempt(&self, jobs: Vec<Job>) -> Vec<(Job, Settled)> {
        let one = |job: Job, (): &mut ()| {
            let watch = (self.watch)(&job);
            let outcome = run(&job.config, &job.directory, self.data, &watch);
            let outcome = outcome.map(|Ended { summary, .. }| summary);
            let settled = Settled { cell: job.cell, config: job.config.clone(), outcome };
            (self.settled)(&settled);
            (job, settled)
        };
        share_out(jobs, self.jobs, || (), one)
    }
}

/// What tuning found for one cell.
struct Chosen {
    rate: Result<Option<f64>>,
    scores: Vec<(f64, Option<f64>)>,
}

/// Whether trying again could help.
fn is_transient(error: &Error) -> bool {
    matches!(error, Error::File { .. })
}
