//! The same bytes over the same broker with nothing signed, checked or computed: what `byz bench net` compares a round with.

use crate::{
    coordinator::{Inbox, listen, runtime},
    cut::Cut,
    link::{Access, Hear},
    subjects::Subjects,
};
use async_nats::Client;
use bytes::Bytes;
use byz::{Error, Result};
use futures_util::{
    StreamExt,
    stream::{BoxStream, SelectAll},
};
use std::time::Duration;
use tokio::{runtime::Runtime, time::timeout};

/// Asks peers for as many bytes as they get.
pub struct Bare {
    runtime: Runtime,
    client: Client,
    subjects: Subjects,
    peers: usize,
    pieces: Vec<Bytes>,
    inbox: SelectAll<BoxStream<'static, (usize, Bytes)>>,
}

fn pieces(cut: Cut) -> Vec<Bytes> {
    let ranges = (0..cut.chunks()).filter_map(|chunk| cut.range(chunk));
    ranges.map(|range| vec![0u8; range.len()].into()).collect()
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Network(format!("cannot send: {error}"))
}

impl Bare {
    /// Connects in the coordinator's place, for `bytes` bytes in pieces of at most `chunk`.
    pub fn connect(
        access: &Access,
        name: &str,
        peers: usize,
        bytes: usize,
        chunk: usize,
        hear: Hear,
    ) -> Result<Bare> {
        let (runtime, subjects) = (runtime()?, Subjects::new(name)?);
        let pieces = pieces(Cut::fitting(bytes, 1, chunk));
        let client = runtime.block_on(access.connect("byz bare", pieces.len(), hear))?;
        let mut inbox = Inbox::new();
        for peer in 0..peers {
            runtime.block_on(listen(&client, &subjects, peer, &mut inbox))?;
        }
        Ok(Bare { runtime, client, subjects, peers, pieces, inbox })
    }

    /// One broadcast, and one answer of every peer; false if some do not answer.
    pub fn round(&mut self) -> Result<bool> {
        let Bare { client, subjects, pieces, inbox, peers, .. } = self;
        self.runtime.block_on(async {
            for piece in pieces.iter() {
                client.publish(subjects.down(), piece.clone()).await.map_err(failed)?;
            }
            for _ in 0..*peers * pieces.len() {
                if timeout(Duration::from_secs(5), inbox.next()).await.is_err() {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }
}

/// Answers as many bytes as it gets, until it is killed.
pub fn answer(access: &Access, name: &str, id: usize, bytes: usize, chunk: usize, hear: Hear) -> Result<()> {
    let (runtime, subjects) = (runtime()?, Subjects::new(name)?);
    let pieces = pieces(Cut::fitting(bytes, 1, chunk));
    runtime.block_on(async {
        let client = access.connect("byz bare", 4 * pieces.len(), hear).await?;
        let mut inbox = client.subscribe(subjects.down()).await.map_err(failed)?;
        while inbox.by_ref().take(pieces.len()).count().await == pieces.len() {
            for piece in &pieces {
                client.publish(subjects.up(id), piece.clone()).await.map_err(failed)?;
            }
        }
        Ok(())
    })
}
