//! A worker: it hears models, answers the newest, and says hello whenever it hears nothing.
//!
//! It remembers nothing between rounds unless the run asks it to keep its momentum; the last answer is kept to be sent again if
//! the same model comes again. Models that are already out of date when it gets to them are skipped, and so is the reply to a
//! hello that crossed with the model: only a hello said since asks for the answer once more.

use crate::{
    coordinator::{hex, runtime},
    credentials::Credentials,
    drill::Drill,
    frame::{Digest, Frame, Header, Kind, Number, Run},
    keys::{PublicKey, SigningKey},
    link::{Access, Hear},
    membership::Momentum,
    memory::Memory,
    model::{Assembly, Whole, bytes_of},
    subjects::Subjects,
};
use async_nats::{Client, Message, Subscriber};
use bytes::Bytes;
use byz::{
    Error, Result, Scalar,
    experiment::{AnyMember, Config, Member},
};
use futures_util::{FutureExt, StreamExt, stream::select};
use serde::{Deserialize, Serialize};
use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

/// What the run is, as the coordinator tells it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Invitation {
    /// Who keeps the workers' momentum.
    pub momentum: Momentum,
    /// The resolved configuration, as TOML.
    pub config: String,
}

impl Invitation {
    pub(crate) fn new(config: &Config, momentum: Momentum) -> Invitation {
        Invitation { momentum, config: config.to_toml() }
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("an invitation is plain data")
    }

    /// The configuration of the run that the text invites to, and who keeps the workers' momentum.
    pub fn read(text: &[u8]) -> Result<(Config, Momentum)> {
        let invitation: Invitation = serde_json::from_slice(text).map_err(|error| {
            Error::Network(format!("the coordinator's invitation is not usable: {error}"))
        })?;
        Ok((Config::from_toml(&invitation.config)?, invitation.momentum))
    }
}

/// How a worker takes part.
pub struct Worker {
    /// How to reach the broker.
    pub access: Access,
    /// Which worker it is.
    pub id: usize,
    /// Its secrets.
    pub credentials: Credentials,
    /// Where it keeps its momentum, if the run asks it to.
    pub state: PathBuf,
    /// Threads for its gradients.
    pub threads: usize,
    /// What it does wrong on purpose.
    pub drill: Option<Drill>,
    /// Wait for another run after one is over.
    pub stay: bool,
    /// Hears what a person should know.
    pub hear: Hear,
}

/// Frames of several models may wait while a gradient is computed.
const WAITING: usize = 4096;
/// After so long without a frame, hello.
const SILENCE: Duration = Duration::from_secs(2);
/// How late a slow worker is.
const SLOW: Duration = Duration::from_secs(2);

impl Worker {
    /// Takes part until the run is over; `open` makes ready for the run that it is invited to.
    pub fn serve(&self, open: &dyn Fn(&Config, bool) -> Result<AnyMember>) -> Result<()> {
        let runtime = runtime()?;
        let name = format!("byz worker {}", self.id);
        let client = runtime.block_on(self.access.connect(&name, WAITING, self.hear.clone()))?;
        let subjects = Subjects::new(&self.credentials.name)?;
        let key = self.credentials.key()?;
        let sender = Sender { client, subjects, key, id: self.id };
        runtime.block_on(self.take_part(sender, open))
    }

    async fn take_part(
        &self,
        sender: Sender,
        open: &dyn Fn(&Config, bool) -> Result<AnyMember>,
    ) -> Result<()> {
        let all = sender.subscribe(sender.subjects.down()).await?;
        let own = sender.subscribe(sender.subjects.to(self.id)).await?;
        let mut inbox = select(all, own);
        let mut session: Option<Box<dyn Session>> = None;
        sender.hello().await?;
        let mut greeted = Instant::now();
        let mut answered = greeted;
        (self.hear)(&format!("worker {} is connected and waits for a run", self.id));
        loop {
            let Ok(next) = tokio::time::timeout(SILENCE, inbox.next()).await else {
                sender.hello().await?;
                greeted = Instant::now();
                continue;
            };
            // Whatever ended the connection, the client will not mend it.
            let Some(first) = next else {
                return Err(Error::Network("the connection to the broker was closed for good".into()));
            };
            let mut next = Some(first);
            let mut uninvited = false;
            // All that waits, so that only the newest model is answered.
            while let Some(message) = next {
                let crossed = answered > greeted && *message.subject == *sender.subjects.to(self.id);
                match self.hear_frame(&message, crossed, &mut session, open)? {
                    Heard::Over if !self.stay => return Ok(()),
                    Heard::Uninvited => uninvited = true,
                    _ => {}
                }
                next = inbox.next().now_or_never().flatten();
            }
            // The invitation came while nobody was here to hear it.
            if uninvited && greeted.elapsed() >= SILENCE {
                sender.hello().await?;
                greeted = Instant::now();
            }
            if let Some(session) = &mut session {
                for answer in session.answer(self)? {
                    sender.publish(answer).await?;
                    answered = Instant::now();
                }
            }
        }
    }

    fn hear_frame(
        &self,
        message: &Message,
        crossed: bool,
        session: &mut Option<Box<dyn Session>>,
        open: &dyn Fn(&Config, bool) -> Result<AnyMember>,
    ) -> Result<Heard> {
        let coordinator = &self.credentials.coordinator;
        let Some(frame) = Frame::read(&message.payload) else { return Ok(Heard::Nothing) };
        let known = session.as_ref().is_some_and(|session| session.run() == frame.header.run);
        match frame.header.kind {
            Kind::Model if known => {
                if let Some(session) =
                    session.as_mut().filter(|session| !crossed || !session.answered(&frame))
                {
                    session.take(&frame, coordinator)
                }
            }
            Kind::Model if frame.is_signed_by(coordinator) => return Ok(Heard::Uninvited),
            Kind::Invitation if !known && frame.is_signed_by(coordinator) && frame.is_whole() => {
                *session = Some(self.join(&frame, open)?);
            }
            // Of a run that it is not in, it may be a recording.
            Kind::End if known && frame.is_signed_by(coordinator) => {
                *session = None;
                (self.hear)(&format!("worker {}: the run is over", self.id));
                return Ok(Heard::Over);
            }
            _ => {}
        }
        Ok(Heard::Nothing)
    }

    fn join(
        &self,
        frame: &Frame<'_>,
        open: &dyn Fn(&Config, bool) -> Result<AnyMember>,
    ) -> Result<Box<dyn Session>> {
        let (config, momentum) = Invitation::read(frame.payload)?;
        let run = frame.header.run;
        let member = open(&config, momentum == Momentum::Worker)?;
        (self.hear)(&format!("worker {} joins run {} ({})", self.id, hex(&run[..4]), config.task));
        Ok(match member {
            AnyMember::F32(member) => Box::new(Joined::new(run, member, self)?),
            AnyMember::F64(member) => Box::new(Joined::new(run, member, self)?),
        })
    }
}

enum Heard {
    Nothing,
    /// The model of a run that it does not know.
    Uninvited,
    Over,
}

/// A run that the worker takes part in, whatever its number type.
trait Session {
    fn run(&self) -> Run;
    /// Whether the frame is of the model that was answered last.
    fn answered(&self, frame: &Frame<'_>) -> bool;
    fn take(&mut self, frame: &Frame<'_>, coordinator: &PublicKey);
    /// What to send for the model that has become whole, if one has.
    fn answer(&mut self, worker: &Worker) -> Result<Vec<Answer>>;
}

/// One frame, and whose subject it goes on.
struct Answer {
    subject: usize,
    frame: Bytes,
    delay: Option<Duration>,
}

struct Joined<T: Scalar> {
    run: Run,
    member: Member<T>,
    assembly: Assembly<T>,
    row: Vec<T>,
    /// The last answer, and what it answers.
    last: Option<(u64, Digest, Vec<Bytes>)>,
    key: SigningKey,
    memory: Option<Memory>,
}

impl<T: Scalar> Joined<T> {
    fn new(run: Run, mut member: Member<T>, worker: &Worker) -> Result<Joined<T>> {
        let dimension = member.task.layout().dimension();
        let memory = Memory::open(&mut member, hex(&run), &worker.state, worker.id)?;
        match memory.as_ref().map(Memory::round) {
            Some(0) => (worker.hear)("no momentum of this run is here; starting from none"),
            Some(round) => (worker.hear)(&format!("momentum of round {round} taken up")),
            None => {}
        }
        let (assembly, row) = (Assembly::new(run, dimension), vec![T::default(); dimension]);
        let key = worker.credentials.key()?;
        Ok(Joined { run, member, assembly, row, last: None, key, memory })
    }

    /// Computes and signs the answer.
    fn compute(&mut self, worker: &Worker) -> Result<Vec<Bytes>> {
        let Some(whole) = self.assembly.whole() else { return Ok(Vec::new()) };
        if let Some(memory) = &self.memory
            && !memory.rewind(&mut self.member, whole.round)?
        {
            (worker.hear)("the momentum before this round is not here");
        }
        let loss = self.member.answer(whole.round, whole.parameters, &mut self.row, worker.threads)?;
        if let Some(memory) = &mut self.memory {
            memory.keep(&mut self.member, whole.round)?;
        }
        if let Some(drill) = worker.drill {
            drill.corrupt(&mut self.row);
        }
        Ok(seal(self.run, worker.id as u32, &whole, &self.row, loss, &self.key, worker.drill))
    }
}

impl<T: Scalar> Session for Joined<T> {
    fn run(&self) -> Run {
        self.run
    }

    fn answered(&self, Frame { header, .. }: &Frame<'_>) -> bool {
        self.last.as_ref().is_some_and(|last| (last.0, last.1) == (header.round, header.model))
    }

    fn take(&mut self, frame: &Frame<'_>, coordinator: &PublicKey) {
        self.assembly.take(frame, coordinator);
    }

    fn answer(&mut self, worker: &Worker) -> Result<Vec<Answer>> {
        let Some(whole) = self.assembly.whole() else { return Ok(Vec::new()) };
        let (round, model) = (whole.round, whole.model);
        let before = self.last.as_ref().map(|(_, _, frames)| frames.clone());
        let again = self.last.as_ref().is_some_and(|last| (last.0, last.1) == (round, model));
        if !again {
            let frames = self.compute(worker)?;
            self.last = Some((round, model, frames));
        }
        self.assembly.answered();
        let frames = self.last.as_ref().map(|last| last.2.clone()).unwrap_or_default();
        let id = worker.id;
        let plain = |frame: Bytes| Answer { subject: id, frame, delay: None };
        Ok(match worker.drill {
            Some(Drill::Silent) => Vec::new(),
            Some(Drill::Stale) => before.unwrap_or_default().into_iter().map(plain).collect(),
            Some(Drill::Duplicate) => {
                frames.iter().chain(&frames).chain(&frames).cloned().map(plain).collect()
            }
            Some(Drill::Flood) => {
                let flood = std::iter::repeat_n(&frames, 10_000).flatten().cloned();
                flood.map(plain).collect()
            }
            Some(Drill::Slow) => {
                let mut answers: Vec<Answer> = frames.into_iter().map(plain).collect();
                answers.iter_mut().take(1).for_each(|answer| answer.delay = Some(SLOW));
                answers
            }
            Some(Drill::Impersonate) => {
                let victim = if id == 0 { 1 } else { id - 1 };
                let on = |subject| move |frame: &Bytes| Answer { subject, frame: frame.clone(), delay: None };
                frames.iter().map(on(victim)).chain(frames.iter().map(on(id))).collect()
            }
            _ => frames.into_iter().map(plain).collect(),
        })
    }
}

/// The frames of an answer, cut as the model was; of a hostile worker, with its touch.
fn seal<T: Scalar>(
    run: Run,
    worker: u32,
    whole: &Whole<'_, T>,
    row: &[T],
    loss: f64,
    key: &SigningKey,
    drill: Option<Drill>,
) -> Vec<Bytes> {
    let neighbour = if worker == 0 { 1 } else { worker - 1 };
    let header = Header {
        number: Number::of::<T>(),
        round: whole.round,
        chunks: whole.cut.chunks() as u32,
        dimension: row.len() as u64 + u64::from(drill == Some(Drill::WrongDimension)),
        loss,
        model: whole.model,
        ..Header::plain(Kind::Update, run, if drill == Some(Drill::Impersonate) { neighbour } else { worker })
    };
    let times = if drill == Some(Drill::Oversize) { 2 } else { 1 };
    let chunk = |chunk: usize| {
        let range = whole.cut.range(chunk).expect("a chunk of the cut");
        let payload = bytes_of(&row[range]).repeat(times);
        Header { chunk: chunk as u32, ..header }.seal(key, &payload)
    };
    (0..whole.cut.chunks()).map(chunk).collect()
}

struct Sender {
    client: Client,
    subjects: Subjects,
    key: SigningKey,
    id: usize,
}

impl Sender {
    async fn subscribe(&self, subject: String) -> Result<Subscriber> {
        let subscribed = self.client.subscribe(subject).await;
        subscribed.map_err(|error| Error::Network(format!("cannot listen: {error}")))
    }

    async fn hello(&self) -> Result<()> {
        let frame = Header::plain(Kind::Hello, [0; 16], self.id as u32).seal(&self.key, &[]);
        self.publish(Answer { subject: self.id, frame, delay: None }).await
    }

    async fn publish(&self, answer: Answer) -> Result<()> {
        if let Some(delay) = answer.delay {
            tokio::time::sleep(delay).await;
        }
        match self.client.publish(self.subjects.up(answer.subject), answer.frame).await {
            // A drill may ask for more than the broker takes.
            Err(error) if error.kind() == async_nats::PublishErrorKind::MaxPayloadExceeded => Ok(()),
            other => other.map_err(|error| Error::Network(format!("cannot send: {error}"))),
        }
    }
}
