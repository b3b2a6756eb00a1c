//! What a worker remembers between rounds, where the run lets it keep its momentum itself.
//!
//! Two files: the state after the last round that it answered, and the state before that round, from which it can be answered
//! again. A kill at any moment leaves one of them whole, and either is enough to go on with the bits of a worker that was
//! never killed.
//!
//! Their names hold the run's: a broker that repeats an invitation to an earlier run leads a worker there and back, and it finds
//! what it remembered.

use byz::{Error, Result, Scalar, experiment::Member};
use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

/// Where the memory of one worker is, and how far it goes.
pub(crate) struct Memory {
    run: String,
    /// The last round that the momentum has taken in.
    round: u64,
    after: PathBuf,
    before: PathBuf,
}

impl Memory {
    /// Takes up what is there of this run; `None` for a member that remembers nothing.
    pub(crate) fn open<T: Scalar>(
        member: &mut Member<T>,
        run: String,
        directory: &Path,
        worker: usize,
    ) -> Result<Option<Memory>> {
        if !member.remembers() {
            return Ok(None);
        }
        let after = directory.join(format!("worker-{worker}-{run}.momentum"));
        let before = after.with_extension("momentum-before");
        byz::files::discard_abandoned(&after);
        // Another worker's is no use: what it holds is that one's momentum.
        let mut memory = Memory { run: format!("{run} {worker}"), round: 0, after, before };
        memory.round = memory.load(member)?;
        Ok(Some(memory))
    }

    /// The round after which it goes on; 0 if there was nothing of this run.
    pub(crate) fn round(&self) -> u64 {
        self.round
    }

    /// Makes a member that is asked for its last round again forget that round; says whether it could.
    pub(crate) fn rewind<T: Scalar>(&self, member: &mut Member<T>, round: u64) -> Result<bool> {
        Ok(round != self.round || member.step_back(&self.before, &self.run, round)?)
    }

    /// Keeps the state after an answer. Momentum goes forward only: a round of the past, resent or told again, leaves nothing.
    pub(crate) fn keep<T: Scalar>(&mut self, member: &mut Member<T>, round: u64) -> Result<()> {
        if round < self.round {
            self.load(member)?;
            return Ok(());
        }
        if round > self.round && self.after.exists() {
            fs::rename(&self.after, &self.before).map_err(|error| Error::File {
                path: self.after.clone(),
                problem: match error.kind() {
                    ErrorKind::NotFound => {
                        "was moved by another process of this worker; run one, or give each a --state".into()
                    }
                    _ => format!("cannot be renamed: {error}"),
                },
            })?;
        }
        member.save(&self.after, &self.run, round)?;
        self.round = round;
        Ok(())
    }

    /// Killed between the renaming and the saving, a worker has only the state before.
    fn load<T: Scalar>(&self, member: &mut Member<T>) -> Result<u64> {
        for file in [&self.after, &self.before] {
            if let Some(round) = member.load(file, &self.run)? {
                return Ok(round);
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use byz::{
        data::Directory,
        experiment::{AnyMember, Draft, open_member},
    };

    const PARAMETERS: [f64; 3] = [1.0, -2.0, 0.5];

    fn member() -> Member<f64> {
        let mut draft = Draft::default();
        let chosen = ["task=quartic(dimension=3)", "workers=4", "rate=0.1", "rounds=9"];
        chosen
            .iter()
            .for_each(|assignment| draft.choose(&Draft::assignment(assignment).expect("a known key")));
        let config = draft.resolve().expect("a configuration");
        match open_member(&config, 2, true, &Directory::at("nowhere")).expect("a member") {
            AnyMember::F64(member) => member,
            AnyMember::F32(_) => unreachable!("the quartic is f64"),
        }
    }

    fn open(member: &mut Member<f64>, directory: &Path) -> Memory {
        Memory::open(member, "run".into(), directory, 2).expect("readable").expect("a member with momentum")
    }

    fn answer(memory: &mut Memory, member: &mut Member<f64>, round: u64) -> Vec<f64> {
        let mut row = vec![0.0; 3];
        assert!(memory.rewind(member, round).expect("readable"));
        member.answer(round, &PARAMETERS, &mut row, 1).expect("an answer");
        memory.keep(member, round).expect("kept");
        row
    }

    #[test]
    fn a_kill_between_the_two_files_costs_no_momentum() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut member_here = member();
        let mut memory = open(&mut member_here, directory.path());
        let told: Vec<_> = (1..=3).map(|round| answer(&mut memory, &mut member_here, round)).collect();
        // What a kill after the renaming of round 4 leaves.
        fs::rename(&memory.after, &memory.before).expect("renamed");
        let unkilled = answer(&mut memory, &mut member_here, 4);

        fs::remove_file(&memory.after).expect("removed");
        let mut back = member();
        let mut memory = open(&mut back, directory.path());
        assert_eq!(memory.round(), 3);
        assert_eq!(answer(&mut memory, &mut back, 4), unkilled);
        assert_ne!(told[2], unkilled);
    }

    #[test]
    fn another_run_in_between_costs_no_momentum() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut here = member();
        let mut memory = open(&mut here, directory.path());
        (1..=2).for_each(|round| drop(answer(&mut memory, &mut here, round)));
        let mut elsewhere = member();
        let mut other = Memory::open(&mut elsewhere, "another".into(), directory.path(), 2)
            .expect("readable")
            .expect("a member with momentum");
        (1..=3).for_each(|round| drop(answer(&mut other, &mut elsewhere, round)));

        let mut back = member();
        let mut again = open(&mut back, directory.path());
        assert_eq!(again.round(), 2);
        assert_eq!(answer(&mut again, &mut back, 3), answer(&mut memory, &mut here, 3));
    }

    #[test]
    fn the_last_round_can_be_asked_again_and_older_ones_leave_nothing() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut member_here = member();
        let mut memory = open(&mut member_here, directory.path());
        (1..=2).for_each(|round| drop(answer(&mut memory, &mut member_here, round)));
        let third = answer(&mut memory, &mut member_here, 3);
        assert_eq!(answer(&mut memory, &mut member_here, 3), third);
        answer(&mut memory, &mut member_here, 1);
        let fourth = answer(&mut memory, &mut member_here, 4);

        let mut plain = member();
        let mut row = vec![0.0; 3];
        for round in 1..=4 {
            plain.answer(round, &PARAMETERS, &mut row, 1).expect("an answer");
        }
        assert_eq!(fourth, row);
    }
}
