//! The frames of the wire: a fixed header, little end first, then numbers or text. `docs/protocol.md` is its specification.
//!
//! | bytes   | what                                                                   |
//! |---------|------------------------------------------------------------------------|
//! | 0–4     | `BYZ` and the version, 1                                                |
//! | 4       | kind: 1 hello, 2 invitation, 3 model, 4 update, 5 end                    |
//! | 5       | number type: 0 none, 1 f32, 2 f64                                        |
//! | 6–8     | zero                                                                   |
//! | 8–24    | run                                                                    |
//! | 24–32   | round                                                                  |
//! | 32–36   | worker; 2³²−1 for the coordinator                                       |
//! | 36–40   | chunk                                                                  |
//! | 40–44   | chunks                                                                 |
//! | 44–48   | zero                                                                   |
//! | 48–56   | dimension: numbers of the whole vector                                  |
//! | 56–64   | loss of an update's batch, f64                                          |
//! | 64–96   | digest of the model: SHA-256 of the payload digests of its chunks        |
//! | 96–128  | digest of the payload: SHA-256                                          |
//! | 128–192 | Ed25519 signature of `byz frame 1\n` and bytes 0–128                     |
//! | 192–    | payload                                                                |
//!
//! Reading allocates nothing and looks at nothing beyond the header. Every value of every field is representable, so that a
//! header read and written is the same bytes.

use crate::keys::{PublicKey, SigningKey};
use bytes::Bytes;
use byz::Scalar;
use sha2::{Digest as _, Sha256};

/// Bytes before the payload.
pub const HEADER: usize = 192;
/// What is signed of them.
const SIGNED: usize = 128;
const MAGIC: [u8; 4] = *b"BYZ\x01";
/// No other protocol's signatures start so.
const DOMAIN: &[u8] = b"byz frame 1\n";
/// The coordinator, where a worker is named.
pub const COORDINATOR: u32 = u32::MAX;

/// A SHA-256 digest.
pub type Digest = [u8; 32];
/// A run's random name.
pub type Run = [u8; 16];

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A worker is there and has nothing to do.
    Hello = 1,
    /// What the run is, as text.
    Invitation = 2,
    /// A chunk of the model.
    Model = 3,
    /// A chunk of a worker's message.
    Update = 4,
    /// The run is over.
    End = 5,
}

/// What the payload's numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Number {
    /// There are none.
    None = 0,
    /// Four bytes each.
    F32 = 1,
    /// Eight bytes each.
    F64 = 2,
}

impl Number {
    /// The number type of a task.
    pub fn of<T: Scalar>() -> Number {
        if size_of::<T>() == 4 { Number::F32 } else { Number::F64 }
    }
}

/// What a frame says of itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Header {
    /// What it is.
    pub kind: Kind,
    /// What its numbers are.
    pub number: Number,
    /// Which run it belongs to.
    pub run: Run,
    /// Which round, from 1.
    pub round: u64,
    /// Who sent it.
    pub worker: u32,
    /// Which chunk, from 0.
    pub chunk: u32,
    /// Of how many.
    pub chunks: u32,
    /// Numbers of the whole vector.
    pub dimension: u64,
    /// What the worker tells of its loss.
    pub loss: f64,
    /// The model, of which this is a part or an answer to.
    pub model: Digest,
}

/// A frame as it came: nothing of it is believed yet.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// What it says of itself.
    pub header: Header,
    /// Numbers or text.
    pub payload: &'a [u8],
    bytes: &'a [u8],
}

impl Header {
    /// A header without a vector.
    pub fn plain(kind: Kind, run: Run, worker: u32) -> Header {
        Header {
            kind,
            number: Number::None,
            run,
            round: 0,
            worker,
            chunk: 0,
            chunks: 1,
            dimension: 0,
            loss: 0.0,
            model: [0; 32],
        }
    }

    /// The signed frame of this payload.
    pub fn seal(&self, key: &SigningKey, payload: &[u8]) -> Bytes {
        self.seal_digested(key, payload, &digest(payload))
    }

    /// The same where the payload's digest is known already.
    pub(crate) fn seal_digested(&self, key: &SigningKey, payload: &[u8], digest: &Digest) -> Bytes {
        let mut bytes = Vec::with_capacity(HEADER + payload.len());
        bytes.resize(HEADER, 0);
        bytes.extend_from_slice(payload);
        self.write(&mut bytes[..SIGNED], digest);
        let signature = key.sign(&signed(&bytes[..SIGNED]));
        bytes[SIGNED..HEADER].copy_from_slice(&signature);
        bytes.into()
    }

    fn write(&self, to: &mut [u8], payload: &Digest) {
        to[..4].copy_from_slice(&MAGIC);
        (to[4], to[5]) = (self.kind as u8, self.number as u8);
        to[8..24].copy_from_slice(&self.run);
        to[24..32].copy_from_slice(&self.round.to_le_bytes());
        to[32..36].copy_from_slice(&self.worker.to_le_bytes());
        to[36..40].copy_from_slice(&self.chunk.to_le_bytes());
        to[40..44].copy_from_slice(&self.chunks.to_le_bytes());
        to[48..56].copy_from_slice(&self.dimension.to_le_bytes());
        to[56..64].copy_from_slice(&self.loss.to_le_bytes());
        to[64..96].copy_from_slice(&self.model);
        to[96..128].copy_from_slice(payload);
    }
}

impl<'a> Frame<'a> {
    /// Reads a frame; none if it is no frame of this version.
    pub fn read(bytes: &'a [u8]) -> Option<Frame<'a>> {
        let (head, payload) = bytes.split_at_checked(HEADER)?;
        if head[..4] != MAGIC || head[6..8] != [0; 2] || head[44..48] != [0; 4] {
            return None;
        }
        let kind = match head[4] {
            1 => Kind::Hello,
            2 => Kind::Invitation,
            3 => Kind::Model,
            4 => Kind::Update,
            5 => Kind::End,
            _ => return None,
        };
        let number = match head[5] {
            0 => Number::None,
            1 => Number::F32,
            2 => Number::F64,
            _ => return None,
        };
        let header = Header {
            kind,
            number,
            run: take(head, 8),
            round: u64::from_le_bytes(take(head, 24)),
            worker: u32::from_le_bytes(take(head, 32)),
            chunk: u32::from_le_bytes(take(head, 36)),
            chunks: u32::from_le_bytes(take(head, 40)),
            dimension: u64::from_le_bytes(take(head, 48)),
            loss: f64::from_le_bytes(take(head, 56)),
            model: take(head, 64),
        };
        Some(Frame { header, payload, bytes })
    }

    /// What its payload's digest should be.
    pub fn payload_digest(&self) -> Digest {
        take(self.bytes, 96)
    }

    /// Whether this key signed the header.
    pub fn is_signed_by(&self, key: &PublicKey) -> bool {
        key.verifies(&signed(&self.bytes[..SIGNED]), &self.bytes[SIGNED..HEADER])
    }

    /// Whether the payload is the one that was signed for.
    pub fn is_whole(&self) -> bool {
        digest(self.payload) == self.payload_digest()
    }
}

fn take<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[at..at + N]);
    out
}

fn signed(header: &[u8]) -> [u8; DOMAIN.len() + SIGNED] {
    let mut out = [0; DOMAIN.len() + SIGNED];
    out[..DOMAIN.len()].copy_from_slice(DOMAIN);
    out[DOMAIN.len()..].copy_from_slice(header);
    out
}

/// SHA-256.
pub fn digest(bytes: &[u8]) -> Digest {
    Sha256::digest(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        Header {
            kind: Kind::Update,
            number: Number::F32,
            run: [7; 16],
            round: 12,
            worker: 3,
            chunk: 1,
            chunks: 4,
            dimension: 1000,
            loss: 0.25,
            model: [9; 32],
        }
    }

    #[test]
    fn what_is_sealed_is_read_back_and_verifies() {
        let key = SigningKey::random();
        let bytes = header().seal(&key, b"abc");
        let frame = Frame::read(&bytes).expect("a frame");
        assert_eq!((frame.header, frame.payload), (header(), &b"abc"[..]));
        assert!(frame.is_signed_by(&key.public()) && frame.is_whole());
        assert!(!frame.is_signed_by(&SigningKey::random().public()));
    }

    #[test]
    fn no_byte_can_change_unnoticed() {
        let key = SigningKey::random();
        let bytes = header().seal(&key, b"abc");
        for at in 0..bytes.len() {
            let mut changed = bytes.to_vec();
            changed[at] ^= 1;
            let accepted = Frame::read(&changed)
                .is_some_and(|frame| frame.is_signed_by(&key.public()) && frame.is_whole());
            assert!(!accepted, "byte {at}");
        }
        assert!(Frame::read(&bytes[..HEADER - 1]).is_none());
    }

    #[test]
    fn the_layout_is_the_documented_one() {
        let bytes = header().seal(&SigningKey::random(), &[]);
        assert_eq!(bytes.len(), HEADER);
        assert_eq!(bytes[..8], [b'B', b'Y', b'Z', 1, 4, 1, 0, 0]);
        assert_eq!((bytes[24], bytes[32], bytes[36], bytes[40]), (12, 3, 1, 4));
        assert_eq!(bytes[48..50], [0xe8, 0x03]);
        assert_eq!(bytes[56..64], 0.25f64.to_le_bytes());
    }
}
