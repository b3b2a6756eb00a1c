//! The coordinator: it broadcasts the model once per round and gathers one answer per member.
//!
//! A round closes when every member has answered or was found invalid, or at its deadline. If that leaves fewer than the rule
//! needs, the model is sent again, and after some such attempts the run says that it waits. A member that says hello is told
//! what the run is, and the model if its answer is awaited, on a subject of its own: so whoever comes back takes part at once, and nobody
//! else hears of it.
//!
//! Each member is listened to over a connection of its own: whoever floods the broker fills that one, and neither the model nor
//! anybody else's answer waits behind it.

use crate::{
    cut::Cut,
    frame::{COORDINATOR, Frame, HEADER, Header, Kind, Number, Run},
    intake::{Expected, Intake, Taken},
    keys::{PublicKey, SigningKey},
    link::{Access, Hear},
    membership::Membership,
    model::Broadcast,
    patience::Patience,
    subjects::Subjects,
    worker::Invitation,
};
use async_nats::Client;
use bytes::Bytes;
use byz::{Collected, Collector, Error, Question, Result, RowsMut, Scalar, experiment::Config};
use futures_util::{
    StreamExt,
    stream::{BoxStream, SelectAll},
};
use std::{fmt::Display, fs, path::Path, slice::from_ref, sync::Arc, time::Duration};
use tokio::{
    runtime::{Builder, Runtime},
    time::{Instant, timeout_at},
};

/// How long a run that was already done says so.
const DISMISSAL: Duration = Duration::from_secs(3);

/// The random name of a run, kept beside its record, so that frames of another start of it are still its own.
pub struct RunId(pub Run);

impl RunId {
    /// The name kept in this directory; a new one if there is none.
    pub fn kept_in(directory: &Path) -> Result<RunId> {
        let path = directory.join("network-run");
        let problem = |problem: String| Error::File { path: path.clone(), problem };
        if let Ok(text) = fs::read_to_string(&path) {
            return RunId::read(text.trim()).ok_or_else(|| {
                problem("is damaged; delete it, and workers will take the run for a new one".into())
            });
        }
        let mut run = [0; 16];
        getrandom::fill(&mut run).map_err(|error| Error::Internal(format!("no random numbers: {error}")))?;
        fs::create_dir_all(directory).map_err(|error| problem(format!("cannot be written: {error}")))?;
        byz::files::write_whole(&path, format!("{}\n", hex(&run)).as_bytes())?;
        Ok(RunId(run))
    }

    fn read(text: &str) -> Option<RunId> {
        let mut run = [0; 16];
        if text.len() != 32 || !text.is_ascii() {
            return None;
        }
        for (index, byte) in run.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).ok()?;
        }
        Some(RunId(run))
    }
}

/// As hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A coordinator that is connected: where a trainer gets its rows from.
pub struct Coordinator {
    runtime: Arc<Runtime>,
    client: Client,
    subjects: Subjects,
    key: SigningKey,
    run: Run,
    keys: Vec<PublicKey>,
    patience: Patience,
    retries: u32,
    cut: Cut,
    inbox: Inbox,
    /// The connections behind it.
    _listeners: Vec<Client>,
    invitation: Bytes,
    invited: bool,
    /// Has said that workers answer another run.
    warned: bool,
    hear: Hear,
}

impl Coordinator {
    /// Connects to the broker, for a model of so many numbers.
    pub fn connect<T: Scalar>(
        access: &Access,
        membership: &Membership,
        key: SigningKey,
        RunId(run): RunId,
        config: &Config,
        dimension: usize,
        hear: Hear,
    ) -> Result<Coordinator> {
        if key.public() != membership.coordinator {
            return Err(Error::Usage("network.coordinator is not the key of these credentials".into()));
        }
        let subjects = membership.subjects();
        let cut = Cut::fitting(dimension, size_of::<T>(), membership.chunk);
        let runtime = Arc::new(runtime()?);
        let client = runtime.block_on(access.connect("byz coordinator", cut.chunks(), hear.clone()))?;
        let invitation = invite(run, config, membership, &key);
        let (most, needed) = (client.max_payload(), invitation.len().max(membership.chunk + HEADER));
        if most < needed {
            return Err(Error::Usage(format!(
                "the broker takes messages of {most} bytes, and frames have up to {needed}: lower network.chunk or raise \
                 max_payload"
            )));
        }
        let (inbox, listeners) = runtime.block_on(async {
            let (mut inbox, mut listeners) = (Inbox::new(), Vec::new());
            for worker in 0..membership.members.len() {
                // What there is to say of the broker, the first connection says.
                let quiet: Hear = Arc::new(|_| {});
                let name = format!("byz coordinator, for worker {worker}");
                let listener = access.connect(&name, cut.chunks(), quiet).await?;
                listen(&listener, &subjects, worker, &mut inbox).await?;
                listeners.push(listener);
            }
            Ok::<_, Error>((inbox, listeners))
        })?;
        Ok(Coordinator {
            keys: membership.members.clone(),
            patience: Patience {
                factor: membership.patience,
                cap: Duration::from_secs_f64(membership.deadline),
            },
            retries: membership.retries,
            invited: false,
            warned: false,
            runtime,
            client,
            subjects,
            key,
            run,
            cut,
            inbox,
            _listeners: listeners,
            invitation,
            hear,
        })
    }

    /// Tells workers that still wait for a run that it is over: whoever says hello within three seconds. They are told of which
    /// run, because they end with their own only; whoever is busy with another says no hello, and is left alone.
    pub fn dismiss(
        access: &Access,
        membership: &Membership,
        key: &SigningKey,
        RunId(run): RunId,
        config: &Config,
    ) -> Result<()> {
        let invitation = invite(run, config, membership, key);
        let end = Header::plain(Kind::End, run, COORDINATOR).seal(key, &[]);
        let quiet: Hear = Arc::new(|_| {});
        runtime()?.block_on(async {
            let client = tokio::time::timeout(DISMISSAL, access.connect("byz coordinator", 1, quiet)).await;
            // Without a broker nobody waits at it.
            let Ok(client) = client else { return Ok(()) };
            let client = client?;
            let (subjects, mut inbox) = (membership.subjects(), Inbox::new());
            for worker in 0..membership.members.len() {
                listen(&client, &subjects, worker, &mut inbox).await?;
            }
            let until = Instant::now() + DISMISSAL;
            while let Ok(Some((worker, bytes))) = timeout_at(until, inbox.next()).await {
                let hello = Frame::read(&bytes).is_some_and(|frame| {
                    frame.header.kind == Kind::Hello && frame.is_signed_by(&membership.members[worker])
                });
                for frame in [&invitation, &end].into_iter().filter(|_| hello) {
                    let sent = client.publish(subjects.to(worker), frame.clone()).await;
                    let failed = |error| Error::Network(format!("cannot tell that the run is over: {error}"));
                    sent.map_err(failed)?;
                }
            }
            // Who does not hear it waits, and can be told to end.
            let _ = tokio::time::timeout(DISMISSAL, client.flush()).await;
            Ok(())
        })
    }

    /// Tells the workers that the run is over, when there is no coordinator any more.
    pub fn farewell(&self) -> impl FnOnce() + use<> {
        let (client, runtime, down) = (self.client.clone(), self.runtime.clone(), self.subjects.down());
        let end = Header::plain(Kind::End, self.run, COORDINATOR).seal(&self.key, &[]);
        move || {
            // Who does not hear it waits, and can be told to end.
            let _ = runtime.block_on(async {
                client.publish(down, end).await.ok()?;
                tokio::time::timeout(Duration::from_secs(2), client.flush()).await.ok()
            });
        }
    }

    async fn send(&self, subject: String, frames: &[Bytes]) -> Result<()> {
        for frame in frames {
            let published = self.client.publish(subject.clone(), frame.clone()).await;
            published.map_err(|error| Error::Network(format!("cannot send the model: {error}")))?;
        }
        Ok(())
    }

    async fn round<T: Scalar>(
        &mut self,
        question: &Question<'_, T>,
        mut rows: RowsMut<'_, T>,
    ) -> Result<Collected> {
        let broadcast = Broadcast::new(self.run, question.round, question.parameters, self.cut, &self.key);
        let (run, round, model) = (self.run, question.round, broadcast.model);
        let expected = Expected { run, round, model, number: Number::of::<T>(), cut: self.cut };
        let keys = std::mem::take(&mut self.keys);
        let mut intake = Intake::new(expected, &keys);
        let mut attempt = 0u32;
        let outcome = loop {
            if let Err(error) = self.ask(&broadcast).await {
                break Err(error);
            }
            if let Err(error) = self.gather(&broadcast, question, &mut intake, &mut rows).await {
                break Err(error);
            }
            let (answered, invalid) = intake.counts();
            let hopeless = !(question.enough)(keys.len() - invalid, invalid);
            // Of what can never become enough, the defence says why.
            if hopeless || (question.enough)(answered, invalid) {
                break Ok(());
            }
            attempt = attempt.saturating_add(1);
            intake.try_again();
            if attempt == self.retries.saturating_add(1) {
                let all = keys.len();
                (self.hear)(&format!(
                    "round {round}: {answered} of {all} workers answered, fewer than the defence needs; paused until more \
                     come back"
                ));
            }
        };
        let collected = intake.finish();
        if outcome.is_ok() && attempt > self.retries {
            (self.hear)(&format!("round {round}: enough workers are back; going on"));
        }
        self.keys = keys;
        outcome.map(|()| collected)
    }

    /// Sends the model to all, and what the run is to those who may not know.
    async fn ask(&mut self, broadcast: &Broadcast) -> Result<()> {
        let down = self.subjects.down();
        if !self.invited {
            self.send(down.clone(), from_ref(&self.invitation)).await?;
            self.invited = true;
        }
        self.send(down, &broadcast.frames).await
    }

    /// Takes frames until all members are settled or the deadline has come.
    async fn gather<T: Scalar>(
        &mut self,
        broadcast: &Broadcast,
        question: &Question<'_, T>,
        intake: &mut Intake<'_>,
        rows: &mut RowsMut<'_, T>,
    ) -> Result<()> {
        let (start, members) = (Instant::now(), rows.count());
        let mut deadline = start + self.patience.deadline(None);
        let mut ready = false;
        loop {
            let (answered, invalid) = intake.counts();
            if answered + invalid == members {
                return Ok(());
            }
            if !ready && answered > members / 2 && (question.enough)(answered, invalid) {
                ready = true;
                deadline = start + self.patience.deadline(Some(start.elapsed()));
            }
            let Ok(next) = timeout_at(deadline, self.inbox.next()).await else { return Ok(()) };
            let Some((worker, bytes)) = next else {
                return Err(Error::Network("the connection to the broker was closed for good".into()));
            };
            let taken = intake.take(worker, &bytes, rows);
            if taken == Taken::Elsewhere && !std::mem::replace(&mut self.warned, true) {
                (self.hear)(&format!(
                    "worker {worker} answers another run; does another coordinator have these credentials?"
                ));
            }
            if taken == Taken::Hello {
                let to = self.subjects.to(worker);
                self.send(to.clone(), from_ref(&self.invitation)).await?;
                if intake.awaits(worker) {
                    self.send(to, &broadcast.frames).await?;
                }
            }
        }
    }
}

impl<T: Scalar> Collector<T> for Coordinator {
    fn collect(&mut self, question: &Question<'_, T>, rows: RowsMut<'_, T>) -> Result<Collected> {
        let handle = self.runtime.handle().clone();
        handle.block_on(self.round(question, rows))
    }
}

/// What the run is, signed.
fn invite(run: Run, config: &Config, membership: &Membership, key: &SigningKey) -> Bytes {
    let text = Invitation::new(config, membership.momentum).to_json();
    Header::plain(Kind::Invitation, run, COORDINATOR).seal(key, text.as_bytes())
}

/// One thread beside the caller's keeps the connection alive while rounds are computed.
pub(crate) fn runtime() -> Result<Runtime> {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.map_err(|error| Error::Internal(format!("no thread for the network: {error}")))
}

/// What came, and on whose subject.
pub(crate) type Inbox = SelectAll<BoxStream<'static, (usize, Bytes)>>;

/// One queue per member, so that nobody can push another's frames out of it.
pub(crate) async fn listen(
    client: &Client,
    subjects: &Subjects,
    worker: usize,
    inbox: &mut Inbox,
) -> Result<()> {
    let failed = |error: &dyn Display| Error::Network(format!("cannot listen to worker {worker}: {error}"));
    let subscriber = client.subscribe(subjects.up(worker)).await.map_err(|error| failed(&error))?;
    // Another connection sends the model: the broker must know of this one before.
    client.flush().await.map_err(|error| failed(&error))?;
    inbox.push(subscriber.map(move |message| (worker, message.payload)).boxed());
    Ok(())
}
