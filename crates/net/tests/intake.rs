//! What the coordinator makes of frames, whatever they are.

use byz::{Arrival, Collected, RowsMut};
use byz_net::{
    cut::Cut,
    frame::{Header, Kind, Number},
    intake::{Expected, Intake, Taken},
    keys::{PublicKey, SigningKey},
};
use proptest::prelude::*;
use std::sync::LazyLock;

const DIMENSION: usize = 10;
const WORKERS: usize = 4;
const RUN: [u8; 16] = [5; 16];
const MODEL: [u8; 32] = [6; 32];

static KEYS: LazyLock<Vec<SigningKey>> =
    LazyLock::new(|| (0..WORKERS).map(|_| SigningKey::random()).collect());
static PUBLIC: LazyLock<Vec<PublicKey>> = LazyLock::new(|| KEYS.iter().map(SigningKey::public).collect());

fn cut() -> Cut {
    Cut::fitting(DIMENSION, 4, 16)
}

fn expected() -> Expected {
    Expected { run: RUN, round: 9, model: MODEL, number: Number::F32, cut: cut() }
}

/// What worker `worker` honestly sends as its chunk.
fn header(worker: usize, chunk: usize) -> Header {
    Header {
        number: Number::F32,
        round: 9,
        chunk: chunk as u32,
        chunks: cut().chunks() as u32,
        dimension: DIMENSION as u64,
        loss: 0.5,
        model: MODEL,
        ..Header::plain(Kind::Update, RUN, worker as u32)
    }
}

fn payload(chunk: usize, value: f32) -> Vec<u8> {
    let numbers = cut().range(chunk).expect("a chunk").len();
    (0..numbers).flat_map(|_| value.to_le_bytes()).collect()
}

fn seal(header: Header, worker: usize, payload: &[u8]) -> Vec<u8> {
    header.seal(&KEYS[worker], payload).to_vec()
}

fn honest(worker: usize, chunk: usize) -> Vec<u8> {
    seal(header(worker, chunk), worker, &payload(chunk, worker as f32))
}

/// Feeds frames to a fresh round and gives what came of each, of all, and the rows.
fn feed(frames: &[(usize, Vec<u8>)]) -> (Vec<Taken>, Collected, Vec<f32>) {
    let mut data = vec![f32::MAX; WORKERS * DIMENSION];
    let mut rows = RowsMut::new(&mut data, DIMENSION);
    let mut intake = Intake::new(expected(), &PUBLIC);
    let taken = frames.iter().map(|(worker, bytes)| intake.take(*worker, bytes, &mut rows)).collect();
    (taken, intake.finish(), data)
}

fn all_chunks(worker: usize) -> Vec<(usize, Vec<u8>)> {
    (0..cut().chunks()).map(|chunk| (worker, honest(worker, chunk))).collect()
}

#[test]
fn whole_answers_are_rows_in_any_order() {
    let mut frames: Vec<_> = (0..WORKERS).flat_map(all_chunks).collect();
    frames.reverse();
    let (_, collected, rows) = feed(&frames);
    assert_eq!(collected.arrivals, vec![Arrival::Row { loss: 0.5 }; WORKERS]);
    assert!(collected.ignored.is_empty());
    for (worker, row) in rows.chunks(DIMENSION).enumerate() {
        assert_eq!(row, [worker as f32; DIMENSION]);
    }
    // A part of an answer is none.
    let (_, collected, _) = feed(&all_chunks(2)[1..]);
    assert_eq!(collected.arrivals, vec![Arrival::Missing; WORKERS]);
}

/// Every way to be ignored: what it is counted as, and what is sent on worker 1's subject.
fn ignored() -> Vec<(&'static str, Vec<u8>)> {
    let mine = header(1, 0);
    let numbers = payload(0, 1.0);
    let mut damaged = honest(1, 0);
    *damaged.last_mut().expect("bytes") ^= 1;
    vec![
        ("foreign", b"hello".to_vec()),
        ("foreign", vec![0; 5000]),
        ("foreign", honest(2, 0)),
        ("foreign", seal(Header { run: [9; 16], ..mine }, 1, &numbers)),
        ("foreign", seal(Header { kind: Kind::Model, ..mine }, 1, &numbers)),
        ("foreign", seal(Header { kind: Kind::End, ..mine }, 1, &[])),
        ("forged", seal(mine, 3, &numbers)),
        ("forged", seal(Header { kind: Kind::Hello, ..mine }, 3, &[])),
        ("late", seal(Header { round: 8, ..mine }, 1, &numbers)),
        ("stale", seal(Header { round: 3, ..mine }, 1, &numbers)),
        ("stale", seal(Header { round: 0, ..mine }, 1, &numbers)),
        ("stale", seal(Header { model: [0; 32], ..mine }, 1, &numbers)),
        ("early", seal(Header { round: 10, ..mine }, 1, &numbers)),
        ("early", seal(Header { round: u64::MAX, ..mine }, 1, &numbers)),
        ("damaged", damaged),
        ("damaged", honest(1, 0)[..195].to_vec()),
    ]
}

#[test]
fn what_proves_nothing_is_counted_and_accuses_nobody() {
    for (kind, bytes) in ignored() {
        let mut frames = vec![(1, bytes.clone())];
        frames.extend(all_chunks(1));
        frames.push((1, bytes));
        let (taken, collected, rows) = feed(&frames);
        assert!(matches!(taken[0], Taken::Ignored | Taken::Elsewhere), "{kind}");
        assert_eq!(collected.arrivals[1], Arrival::Row { loss: 0.5 }, "{kind}");
        assert!(collected.ignored[kind] >= 1, "{kind}: {:?}", collected.ignored);
        assert_eq!(rows[DIMENSION..2 * DIMENSION], [1.0; DIMENSION]);
    }
}

#[test]
fn an_answer_to_another_run_is_told_apart() {
    let other = Header { run: [9; 16], ..header(1, 0) };
    let (taken, ..) = feed(&[(1, seal(other, 1, &payload(0, 1.0))), (1, seal(other, 3, &payload(0, 1.0)))]);
    assert_eq!(taken, [Taken::Elsewhere, Taken::Ignored]);
}

/// Every way to be caught: signed by worker 1, for this round and this model.
fn invalid() -> Vec<(&'static str, Vec<u8>)> {
    let mine = header(1, 0);
    let numbers = payload(0, 1.0);
    let doubled = [numbers.clone(), numbers.clone()].concat();
    vec![
        ("11 numbers", seal(Header { dimension: 11, ..mine }, 1, &numbers)),
        ("numbers instead", seal(Header { dimension: u64::MAX, ..mine }, 1, &numbers)),
        ("type F64", seal(Header { number: Number::F64, ..mine }, 1, &numbers)),
        ("2 chunks", seal(Header { chunks: 2, ..mine }, 1, &numbers)),
        ("chunk 3 of 3", seal(Header { chunk: 3, ..mine }, 1, &numbers)),
        ("chunk 4294967295", seal(Header { chunk: u32::MAX, ..mine }, 1, &numbers)),
        ("a loss", seal(Header { loss: f64::NAN, ..mine }, 1, &numbers)),
        ("a loss", seal(Header { loss: 1e300, ..mine }, 1, &numbers)),
        ("32 bytes for 4 numbers", seal(mine, 1, &doubled)),
        ("0 bytes for 4 numbers", seal(mine, 1, &[])),
        ("not finite", seal(mine, 1, &payload(0, f32::NAN))),
        ("not finite", seal(mine, 1, &payload(0, f32::NEG_INFINITY))),
    ]
}

#[test]
fn what_a_member_signed_and_is_no_answer_is_proof() {
    for (why, bytes) in invalid() {
        let (taken, collected, _) = feed(&[(1, bytes)]);
        assert_eq!(taken, [Taken::Settled], "{why}");
        let Arrival::Invalid(told) = &collected.arrivals[1] else { panic!("{why}") };
        assert!(told.contains(why), "{told}");
    }
}

#[test]
fn the_first_answer_counts_and_the_rest_are_duplicates() {
    let mut frames = all_chunks(0);
    frames.extend((0..cut().chunks()).map(|chunk| (0, seal(header(0, chunk), 0, &payload(chunk, 77.0)))));
    frames.push((0, invalid()[0].1.clone()));
    let (_, collected, rows) = feed(&frames);
    assert_eq!(rows[..DIMENSION], [0.0; DIMENSION]);
    assert_eq!((collected.ignored["duplicate"], collected.ignored["foreign"]), (3, 1));
    // Within an answer too.
    let (taken, _, rows) = feed(&[(0, honest(0, 0)), (0, seal(header(0, 0), 0, &payload(0, 77.0)))]);
    assert_eq!((taken[1], rows[0]), (Taken::Ignored, 0.0));
}

#[test]
fn a_flood_is_not_even_looked_at_and_drowns_its_sender_alone() {
    let mut frames: Vec<_> = (0..10_000).map(|_| (1, b"noise".to_vec())).collect();
    frames.extend((0..WORKERS).flat_map(all_chunks));
    let (_, collected, _) = feed(&frames);
    assert!(collected.ignored["flood"] > 9_000);
    assert_eq!(collected.arrivals[1], Arrival::Missing);
    for worker in [0, 2, 3] {
        assert_eq!(collected.arrivals[worker], Arrival::Row { loss: 0.5 });
    }
}

#[test]
fn hellos_of_a_paused_run_keep_nobody_from_answering() {
    let mut data = vec![0f32; WORKERS * DIMENSION];
    let mut rows = RowsMut::new(&mut data, DIMENSION);
    let mut intake = Intake::new(expected(), &PUBLIC);
    let hello = Header::plain(Kind::Hello, [0; 16], 1).seal(&KEYS[1], &[]);
    for _ in 0..3 {
        intake.try_again();
        // One is answered in each attempt, and an attempt may last an hour.
        assert_eq!(intake.take(1, &hello, &mut rows), Taken::Hello);
        // Ever more rarely answered: the second of those to come, the fourth, …
        let more = (0..1800).filter(|_| intake.take(1, &hello, &mut rows) == Taken::Hello).count();
        assert_eq!(more, 10);
    }
    for (worker, bytes) in all_chunks(1) {
        assert_ne!(intake.take(worker, &bytes, &mut rows), Taken::Ignored);
    }
    assert_eq!(intake.finish().arrivals[1], Arrival::Row { loss: 0.5 });
}

#[test]
fn whoever_erred_too_often_is_looked_at_again_in_the_next_attempt() {
    let mut data = vec![0f32; WORKERS * DIMENSION];
    let mut rows = RowsMut::new(&mut data, DIMENSION);
    let mut intake = Intake::new(expected(), &PUBLIC);
    (0..1000).for_each(|_| assert_eq!(intake.take(1, b"noise", &mut rows), Taken::Ignored));
    assert_eq!(intake.take(1, &honest(1, 0), &mut rows), Taken::Ignored);
    intake.try_again();
    assert_eq!(intake.take(1, &honest(1, 0), &mut rows), Taken::Chunk);
}

proptest! {
    #[test]
    fn no_bytes_break_it_or_accuse_anybody(frames in prop::collection::vec((0..WORKERS, prop::collection::vec(any::<u8>(), 0..400)), 0..20)) {
        let (taken, collected, rows) = feed(&frames);
        prop_assert!(taken.iter().all(|taken| *taken == Taken::Ignored));
        prop_assert_eq!(collected.arrivals, vec![Arrival::Missing; WORKERS]);
        prop_assert!(rows.iter().all(|&value| value == f32::MAX));
    }

    #[test]
    fn a_changed_byte_is_noticed(at in 0usize..208, change in 1u8..=255) {
        let mut bytes = honest(1, 0);
        bytes[at] ^= change;
        let (taken, collected, _) = feed(&[(1, bytes)]);
        prop_assert_eq!(taken, [Taken::Ignored]);
        prop_assert_eq!(&collected.arrivals[1], &Arrival::Missing);
    }

    #[test]
    fn a_signed_header_of_any_content_is_judged(
        worker in any::<u32>(), chunk in any::<u32>(), chunks in any::<u32>(), dimension in any::<u64>(),
        loss in any::<f64>(), round in 7u64..11, numbers in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        let header = Header { worker, chunk, chunks, dimension, loss, round, ..header(1, 0) };
        let (_, collected, rows) = feed(&[(1, seal(header, 1, &numbers))]);
        // One chunk of several is never a whole answer, and nobody else is touched.
        let answered = matches!(collected.arrivals[1], Arrival::Row { .. });
        prop_assert!(!answered);
        prop_assert_eq!(&collected.arrivals[0], &Arrival::Missing);
        prop_assert!(rows[..DIMENSION].iter().all(|&value| value == f32::MAX));
    }
}
