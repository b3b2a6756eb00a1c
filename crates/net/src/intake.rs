//! What the coordinator makes of the frames of one round: accepted, invalid or ignored.
//!
//! *Invalid* needs proof: a header signed by the member, for this round and this model, that is no part of an answer, or numbers
//! signed for that are not finite. Everything else is *ignored* and counted by kind, because a broker, a replay or another
//! member may be behind it:
//!
//! | kind      | what                                                       |
//! |-----------|------------------------------------------------------------|
//! | foreign   | no frame of ours, of another run, or in another's name       |
//! | forged    | not signed by the member whose subject it came on            |
//! | late      | for the round before                                        |
//! | stale     | for an older round, or for another model                    |
//! | early     | for a round to come                                         |
//! | duplicate | of a chunk that is there, or of a member already judged      |
//! | damaged   | another payload than was signed for                         |
//! | flood     | more than any honest member sends per attempt; not even looked at |
//!
//! No network here, so that anything can be thrown at it.

use crate::{
    cut::Cut,
    frame::{Digest, Frame, Kind, Number, Run},
    keys::PublicKey,
};
use byz::{Arrival, Collected, RowsMut, Scalar};
use std::collections::BTreeMap;

/// What an update of this round must say.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// The run.
    pub run: Run,
    /// The round.
    pub round: u64,
    /// The model that was sent.
    pub model: Digest,
    /// Its numbers.
    pub number: Number,
    /// How it was cut.
    pub cut: Cut,
}

/// One round's frames.
pub struct Intake<'a> {
    expected: Expected,
    keys: &'a [PublicKey],
    members: Vec<Member>,
    ignored: BTreeMap<&'static str, u64>,
}

struct Member {
    standing: Standing,
    /// Which chunks are there; empty before the first.
    chunks: Vec<bool>,
    left: usize,
    loss: f64,
    /// Hellos of this attempt.
    hellos: u64,
    /// Frames of this attempt looked at in vain.
    wasted: usize,
}

enum Standing {
    Waiting,
    Answered,
    Invalid(String),
}

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It was ignored.
    Ignored,
    /// The same, and the member has signed it for another run.
    Elsewhere,
    /// The member is there and has nothing to do; told ever more rarely in one attempt.
    Hello,
    /// A chunk went to its place.
    Chunk,
    /// The member has answered, or was found invalid.
    Settled,
}

/// Losses beyond are no losses, and could make their mean infinite.
const LARGEST_LOSS: f64 = 1e100;

impl<'a> Intake<'a> {
    /// Expects one answer of each member.
    pub fn new(expected: Expected, keys: &'a [PublicKey]) -> Intake<'a> {
        let left = expected.cut.chunks();
        let member = || Member {
            standing: Standing::Waiting,
            chunks: Vec::new(),
            left,
            loss: 0.0,
            hellos: 0,
            wasted: 0,
        };
        Intake { expected, keys, members: keys.iter().map(|_| member()).collect(), ignored: BTreeMap::new() }
    }

    /// Members with a whole answer, and members found invalid.
    pub fn counts(&self) -> (usize, usize) {
        let count = |wanted: fn(&Standing) -> bool| {
            self.members.iter().filter(|member| wanted(&member.standing)).count()
        };
        (
            count(|standing| matches!(standing, Standing::Answered)),
            count(|standing| matches!(standing, Standing::Invalid(_))),
        )
    }

    /// Whether this member's answer is still to come.
    pub fn awaits(&self, worker: usize) -> bool {
        matches!(self.members[worker].standing, Standing::Waiting)
    }

    /// The model is sent once more, and everybody may say hello, and err, once more: a run can be paused for days.
    pub fn try_again(&mut self) {
        for member in &mut self.members {
            (member.hellos, member.wasted) = (0, 0);
        }
    }

    /// Takes what came on this member's subject.
    pub fn take<T: Scalar>(&mut self, worker: usize, bytes: &[u8], rows: &mut RowsMut<'_, T>) -> Taken {
        // An honest member sends its chunks a few times at most.
        if self.members[worker].wasted > 64 + 4 * self.expected.cut.chunks() {
            return self.ignore(worker, "flood");
        }
        match self.judge(worker, bytes, rows) {
            Ok(taken) => taken,
            Err(Fault::Ignored(kind)) => self.ignore(worker, kind),
            Err(Fault::Elsewhere) => {
                self.ignore(worker, "foreign");
                Taken::Elsewhere
            }
            Err(Fault::Invalid(why)) => {
                self.members[worker].standing = Standing::Invalid(why);
                Taken::Settled
            }
        }
    }

    fn ignore(&mut self, worker: usize, kind: &'static str) -> Taken {
        self.members[worker].wasted += 1;
        *self.ignored.entry(kind).or_default() += 1;
        Taken::Ignored
    }

    fn judge<T: Scalar>(
        &mut self,
        worker: usize,
        bytes: &[u8],
        rows: &mut RowsMut<'_, T>,
    ) -> Result<Taken, Fault> {
        let frame = Frame::read(bytes).ok_or(Fault::Ignored("foreign"))?;
        let key = &self.keys[worker];
        if frame.header.worker as usize != worker {
            return Err(Fault::Ignored("foreign"));
        }
        if frame.header.kind == Kind::Hello {
            // It says so every two seconds, however long the attempt, and once more whenever it is started again. The first is
            // answered, the second, the fourth and so on; the others cost nothing and prove nothing.
            let hellos = self.members[worker].hellos + 1;
            if hellos.is_power_of_two() && !frame.is_signed_by(key) {
                return Err(Fault::Ignored("forged"));
            }
            self.members[worker].hellos = hellos;
            return Ok(if hellos.is_power_of_two() { Taken::Hello } else { Taken::Ignored });
        }
        let elsewhere = frame.header.kind == Kind::Update && frame.header.run != self.expected.run;
        if elsewhere && frame.is_signed_by(key) {
            return Err(Fault::Elsewhere);
        }
        self.expected.check_belonging(&frame)?;
        let member = &mut self.members[worker];
        if !matches!(member.standing, Standing::Waiting) {
            return Err(Fault::Ignored("duplicate"));
        }
        if !frame.is_signed_by(key) {
            return Err(Fault::Ignored("forged"));
        }
        let range = self.expected.check_shape(&frame)?;
        let chunk = frame.header.chunk as usize;
        if member.chunks.get(chunk) == Some(&true) {
            return Err(Fault::Ignored("duplicate"));
        }
        if !frame.is_whole() {
            return Err(Fault::Ignored("damaged"));
        }
        if frame.payload.len() != range.len() * size_of::<T>() {
            let (came, numbers) = (frame.payload.len(), range.len());
            return Err(Fault::Invalid(format!("{came} bytes for {numbers} numbers")));
        }
        if !copy(frame.payload, &mut rows.row_mut(worker)[range]) {
            return Err(Fault::Invalid("numbers that are not finite, or too large to square".into()));
        }
        member.chunks.resize(self.expected.cut.chunks(), false);
        member.chunks[chunk] = true;
        member.left -= 1;
        if chunk == 0 {
            member.loss = frame.header.loss;
        }
        if member.left > 0 {
            return Ok(Taken::Chunk);
        }
        member.standing = Standing::Answered;
        Ok(Taken::Settled)
    }

    /// What the round is told.
    pub fn finish(self) -> Collected {
        let arrival = |member: Member| match member.standing {
            Standing::Answered => Arrival::Row { loss: member.loss },
            Standing::Invalid(why) => Arrival::Invalid(why),
            Standing::Waiting => Arrival::Missing,
        };
        Collected { arrivals: self.members.into_iter().map(arrival).collect(), ignored: self.ignored }
    }
}

enum Fault {
    Ignored(&'static str),
    Elsewhere,
    Invalid(String),
}

impl Expected {
    /// Whether it can be about this round at all.
    fn check_belonging(&self, frame: &Frame<'_>) -> Result<(), Fault> {
        let header = &frame.header;
        if header.kind != Kind::Update || header.run != self.run {
            Err(Fault::Ignored("foreign"))
        } else if header.round > self.round {
            Err(Fault::Ignored("early"))
        } else if header.round + 1 == self.round {
            Err(Fault::Ignored("late"))
        } else if header.round != self.round || header.model != self.model {
            Err(Fault::Ignored("stale"))
        } else {
            Ok(())
        }
    }

    /// The numbers that a signed header speaks of.
    fn check_shape(&self, frame: &Frame<'_>) -> Result<std::ops::Range<usize>, Fault> {
        let (header, cut) = (&frame.header, &self.cut);
        let invalid = |why: String| Err(Fault::Invalid(why));
        if header.dimension != cut.dimension() as u64 {
            return invalid(format!("{} numbers instead of {}", header.dimension, cut.dimension()));
        }
        if header.number != self.number {
            return invalid(format!("numbers of type {:?} instead of {:?}", header.number, self.number));
        }
        if header.chunks as usize != cut.chunks() {
            return invalid(format!("{} chunks instead of {}", header.chunks, cut.chunks()));
        }
        if !header.loss.is_finite() || header.loss.abs() > LARGEST_LOSS {
            return invalid("a loss that is no number".into());
        }
        match cut.range(header.chunk as usize) {
            Some(range) => Ok(range),
            None => invalid(format!("chunk {} of {}", header.chunk, cut.chunks())),
        }
    }
}

/// Reads the numbers and says whether all are admissible.
fn copy<T: Scalar>(from: &[u8], to: &mut [T]) -> bool {
    let mut good = true;
    for (to, from) in to.iter_mut().zip(from.chunks_exact(size_of::<T>())) {
        *to = T::read_bytes(from);
        good &= to.is_admissible();
    }
    good
}
