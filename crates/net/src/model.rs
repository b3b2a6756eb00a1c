//! The model on its way to the workers: cut, signed, and put together again.

use crate::{
    cut::Cut,
    frame::{COORDINATOR, Digest, Frame, Header, Kind, Number, Run, digest},
    keys::{PublicKey, SigningKey},
};
use bytes::Bytes;
use byz::Scalar;

/// A model, ready to send.
pub struct Broadcast {
    /// One per chunk.
    pub frames: Vec<Bytes>,
    /// The digest that answers must name.
    pub model: Digest,
}

impl Broadcast {
    /// Cuts and signs the model of a round.
    pub fn new<T: Scalar>(run: Run, round: u64, parameters: &[T], cut: Cut, key: &SigningKey) -> Broadcast {
        let ranges = (0..cut.chunks()).filter_map(|chunk| cut.range(chunk));
        let payloads: Vec<Vec<u8>> = ranges.map(|range| bytes_of(&parameters[range])).collect();
        let digests: Vec<Digest> = payloads.iter().map(|payload| digest(payload)).collect();
        let model = model_digest(digests.iter().copied());
        let header = Header {
            number: Number::of::<T>(),
            round,
            chunks: cut.chunks() as u32,
            dimension: cut.dimension() as u64,
            model,
            ..Header::plain(Kind::Model, run, COORDINATOR)
        };
        let seal = |(chunk, payload): (usize, &Vec<u8>)| {
            let header = Header { chunk: chunk as u32, ..header };
            header.seal_digested(key, payload, &digests[chunk])
        };
        Broadcast { frames: payloads.iter().enumerate().map(seal).collect(), model }
    }
}

/// The numbers, little end first.
pub fn bytes_of<T: Scalar>(numbers: &[T]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of_val(numbers));
    numbers.iter().for_each(|number| number.write_bytes(&mut bytes));
    bytes
}

fn model_digest(chunks: impl Iterator<Item = Digest>) -> Digest {
    digest(&chunks.flatten().collect::<Vec<u8>>())
}

/// A model being put together from its chunks; of several, the newest.
///
/// Copies of a model come by two ways, so their chunks mingle. Once it is whole, chunks that come again must not take it apart
/// before it is answered; after that they ask for it again.
pub struct Assembly<T> {
    run: Run,
    round: u64,
    model: Digest,
    cut: Cut,
    /// The digest of each chunk that is there.
    chunks: Vec<Option<Digest>>,
    numbers: Vec<T>,
    /// It is whole and waits for its answer.
    waits: bool,
}

/// A model that is whole, verified and not answered yet.
pub struct Whole<'a, T> {
    /// The round it is for.
    pub round: u64,
    /// Its digest.
    pub model: Digest,
    /// How it was cut; answers are cut alike.
    pub cut: Cut,
    /// Its numbers.
    pub parameters: &'a [T],
}

impl<T: Scalar> Assembly<T> {
    /// Models of this run, of so many numbers.
    pub fn new(run: Run, dimension: usize) -> Assembly<T> {
        let numbers = vec![T::default(); dimension];
        let cut = Cut::fitting(dimension, size_of::<T>(), usize::MAX);
        Assembly { run, round: 0, model: [0; 32], cut, chunks: Vec::new(), numbers, waits: false }
    }

    /// Takes a chunk, if the coordinator signed it and it belongs here.
    pub fn take(&mut self, frame: &Frame<'_>, coordinator: &PublicKey) {
        let header = &frame.header;
        let ours = header.kind == Kind::Model
            && header.run == self.run
            && header.worker == COORDINATOR
            && header.number == Number::of::<T>()
            && header.dimension == self.numbers.len() as u64;
        // A coordinator that went back asks for an older round again once this one is answered.
        let told = self.waits
            && (header.round < self.round || (header.round, header.model) == (self.round, self.model));
        let Some(cut) = Cut::told(self.numbers.len(), header.chunks).filter(|_| ours && !told) else {
            return;
        };
        let Some(range) = cut.range(header.chunk as usize) else { return };
        let length = range.len() * size_of::<T>();
        if frame.payload.len() != length || !frame.is_signed_by(coordinator) || !frame.is_whole() {
            return;
        }
        if (header.round, header.model, cut) != (self.round, self.model, self.cut) || self.is_whole() {
            (self.round, self.model, self.cut) = (header.round, header.model, cut);
            self.chunks = vec![None; cut.chunks()];
        }
        for (to, from) in self.numbers[range].iter_mut().zip(frame.payload.chunks_exact(size_of::<T>())) {
            *to = T::read_bytes(from);
        }
        self.chunks[header.chunk as usize] = Some(frame.payload_digest());
        self.waits = self.is_whole();
    }

    fn is_whole(&self) -> bool {
        !self.chunks.is_empty()
            && self.chunks.iter().all(Option::is_some)
            && model_digest(self.chunks.iter().copied().flatten()) == self.model
    }

    /// The model, if it is whole and waits for its answer.
    pub fn whole(&self) -> Option<Whole<'_, T>> {
        let Assembly { round, model, cut, waits, .. } = *self;
        waits.then_some(Whole { round, model, cut, parameters: &self.numbers })
    }

    /// It has its answer.
    pub fn answered(&mut self) {
        self.waits = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(round: u64, first: f32, key: &SigningKey) -> Broadcast {
        let parameters: Vec<f32> = (0..10).map(|index| first + index as f32).collect();
        Broadcast::new([1; 16], round, &parameters, Cut::fitting(10, 4, 16), key)
    }

    fn take(assembly: &mut Assembly<f32>, bytes: &Bytes, key: &SigningKey) -> bool {
        assembly.take(&Frame::read(bytes).expect("a frame"), &key.public());
        assembly.whole().is_some()
    }

    #[test]
    fn a_model_arrives_in_any_order_and_the_newest_wins() {
        let key = SigningKey::random();
        let (old, new) = (frames(1, 0.0, &key), frames(2, 100.0, &key));
        assert_eq!(old.frames.len(), 3);
        let mut assembly = Assembly::<f32>::new([1; 16], 10);
        let mut whole = |bytes: &Bytes| take(&mut assembly, bytes, &key);
        assert!(!whole(&old.frames[2]) && !whole(&old.frames[0]) && whole(&old.frames[1]));
        assert!(!whole(&new.frames[1]) && !whole(&new.frames[1]) && !whole(&new.frames[2]));
        assert!(whole(&new.frames[0]) && whole(&old.frames[0]));
        let whole = assembly.whole().expect("whole");
        assert_eq!((whole.round, whole.parameters[9]), (2, 109.0));
    }

    #[test]
    fn copies_that_mingle_make_one_model_and_copies_after_the_answer_ask_again() {
        let key = SigningKey::random();
        let model = frames(1, 0.0, &key).frames;
        let mut assembly = Assembly::<f32>::new([1; 16], 10);
        for chunk in &model {
            take(&mut assembly, chunk, &key);
            take(&mut assembly, chunk, &key);
        }
        assert!(assembly.whole().is_some());
        assembly.answered();
        // What is left of a copy does not spoil those that come whole.
        assert!(!take(&mut assembly, &model[2], &key));
        for _ in 0..3 {
            let made = model.iter().map(|chunk| take(&mut assembly, chunk, &key)).last();
            assert_eq!(made, Some(true));
            assembly.answered();
        }
    }

    #[test]
    fn nobody_else_can_send_a_model() {
        let (key, other) = (SigningKey::random(), SigningKey::random());
        let mut assembly = Assembly::<f32>::new([1; 16], 10);
        for bytes in &frames(1, 0.0, &other).frames {
            assert!(!take(&mut assembly, bytes, &key));
        }
        // Chunks of two models do not make one.
        let (one, two) = (frames(1, 0.0, &key), frames(1, 1.0, &key));
        for bytes in one.frames[..2].iter().chain(&two.frames[2..]) {
            assert!(!take(&mut assembly, bytes, &key));
        }
    }
}
