//! What must hold whatever bytes the network brings. The fuzz targets call this, and so do the ordinary tests, with the
//! corpus and with random bytes (`crates/net/tests/parsers.rs`).

use byz::{Arrival, RowsMut, experiment::Config};
use byz_net::{
    cut::Cut,
    frame::{COORDINATOR, Frame, HEADER, Header, Kind, Number, digest},
    intake::{Expected, Intake, Taken},
    keys::{PublicKey, SigningKey},
    model::{Assembly, bytes_of},
    worker::Invitation,
};
use std::sync::LazyLock;

const RUN: [u8; 16] = [5; 16];
const MODEL: [u8; 32] = [6; 32];
const ROUND: u64 = 9;
const DIMENSION: usize = 10;
const WORKERS: usize = 3;

static KEYS: LazyLock<Vec<SigningKey>> =
    LazyLock::new(|| (0..=WORKERS).map(|_| SigningKey::random()).collect());
static PUBLIC: LazyLock<Vec<PublicKey>> = LazyLock::new(|| KEYS.iter().map(SigningKey::public).collect());

/// A frame that was read is written as the same bytes, and nobody's signature fits by chance.
pub fn frame(bytes: &[u8]) {
    let Some(frame) = Frame::read(bytes) else { return };
    assert!(!frame.is_signed_by(&PUBLIC[0]));
    let again = frame.header.seal(&KEYS[0], frame.payload);
    assert_eq!(again[..96], bytes[..96]);
    let again = Frame::read(&again).expect("what was sealed is read");
    assert!(again.is_whole() && again.is_signed_by(&PUBLIC[0]) && again.payload == frame.payload);
    assert_eq!(frame.is_whole(), frame.payload_digest() == digest(frame.payload));
}

/// Frames on the members' subjects, signed or not: only what a member signed counts, for that member alone, and a row that
/// counts is finite.
pub fn intake(bytes: &[u8]) {
    let cut = Cut::fitting(DIMENSION, 4, 16);
    let expected = Expected { run: RUN, round: ROUND, model: MODEL, number: Number::F32, cut };
    let mut data = [f32::MAX; WORKERS * DIMENSION];
    let mut rows = RowsMut::new(&mut data, DIMENSION);
    let mut intake = Intake::new(expected, &PUBLIC[..WORKERS]);
    let mut signed = [false; WORKERS];
    for sent in script(bytes) {
        let worker = sent.who % WORKERS;
        let (frame, genuine) = sent.frame(worker as u32, &KEYS[worker]);
        let taken = intake.take(worker, &frame, &mut rows);
        assert!(genuine || taken == Taken::Ignored);
        signed[worker] |= genuine;
    }
    let arrivals = intake.finish().arrivals;
    for (worker, row) in data.chunks(DIMENSION).enumerate() {
        let untouched = row.iter().all(|&value| value == f32::MAX);
        match &arrivals[worker] {
            Arrival::Row { loss } => assert!(loss.is_finite() && row.iter().all(|value| value.is_finite())),
            Arrival::Invalid(why) => assert!(signed[worker] && !why.is_empty()),
            Arrival::Missing => assert!(signed[worker] || untouched),
        }
    }
}

/// Frames from the coordinator, or in its name: a whole model is one that it signed, every number of it.
pub fn model(bytes: &[u8]) {
    let (key, public) = (&KEYS[WORKERS], &PUBLIC[WORKERS]);
    let mut assembly = Assembly::<f32>::new(RUN, DIMENSION);
    for sent in script(bytes) {
        let (frame, genuine) = sent.frame(COORDINATOR, key);
        let Some(frame) = Frame::read(&frame) else { continue };
        let whole = |assembly: &Assembly<f32>| assembly.whole().map(|whole| (whole.round, whole.model));
        let before = whole(&assembly);
        assembly.take(&frame, public);
        assert!(genuine || whole(&assembly) == before);
    }
    let Some(whole) = assembly.whole() else { return };
    let pieces = (0..whole.cut.chunks()).map(|chunk| whole.cut.range(chunk).expect("a chunk"));
    let digests: Vec<u8> = pieces.flat_map(|piece| digest(&bytes_of(&whole.parameters[piece]))).collect();
    assert_eq!(digest(&digests), whole.model);
}

/// An invitation's text: a configuration that can be written and read again, or an error that says something.
pub fn invitation(bytes: &[u8]) {
    match Invitation::read(bytes) {
        Ok((config, _)) => {
            let text = config.to_toml();
            assert_eq!(Config::from_toml(&text).expect("what was written is read").to_toml(), text);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// One message of a script: who, how it is dressed up, and what it is.
struct Sent<'a> {
    who: usize,
    dress: u8,
    bytes: &'a [u8],
}

/// A script is a row of messages, each of three bytes (who, dress, length) and its content.
fn script(mut bytes: &[u8]) -> impl Iterator<Item = Sent<'_>> {
    std::iter::from_fn(move || {
        let (&[who, dress, length], rest) = bytes.split_first_chunk()?;
        let (content, rest) = rest.split_at(rest.len().min(length.into()));
        bytes = rest;
        Some(Sent { who: who.into(), dress, bytes: content })
    })
}

impl Sent<'_> {
    /// The bytes as they are, or a frame that no random bytes would ever make: with the right run, round and sender, a model's
    /// digest that fits its chunks, and a good signature. Says whether the sender signed it.
    fn frame(&self, sender: u32, key: &SigningKey) -> (Vec<u8>, bool) {
        let mut bytes = self.bytes.to_vec();
        if self.dress & 1 == 0 {
            return (bytes, false);
        }
        bytes.resize(bytes.len().max(HEADER), 0);
        bytes[..4].copy_from_slice(b"BYZ\x01");
        bytes[6..8].fill(0);
        bytes[44..48].fill(0);
        let Some(frame) = Frame::read(&bytes) else { return (bytes, false) };
        let mut header = Header { worker: sender, run: RUN, ..frame.header };
        if self.dress & 2 != 0 {
            let chunks = header.chunks % 4;
            (header.round, header.dimension, header.number) = (ROUND, DIMENSION as u64, Number::F32);
            (header.chunks, header.chunk) = (chunks, header.chunk % 4);
            header.kind = if sender == COORDINATOR { Kind::Model } else { Kind::Update };
        }
        if self.dress & 4 != 0 {
            header.model = if sender == COORDINATOR { digest(&digest(frame.payload)) } else { MODEL };
        }
        let mut sealed = header.seal(key, frame.payload).to_vec();
        // Another payload than was signed for leaves the header genuine.
        if let (true, Some(last)) = (self.dress & 8 != 0, sealed[HEADER..].last_mut()) {
            *last ^= 1;
        }
        if self.dress & 16 != 0 {
            let at = usize::from(self.dress) * 7 % HEADER;
            sealed[at] ^= 0x10;
            return (sealed, false);
        }
        (sealed, true)
    }
}
