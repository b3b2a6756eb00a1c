//! What the fuzz targets check, with their corpus and with random bytes.

#[path = "../../../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "a library of its own where it is fuzzed")]
mod fuzz;

use proptest::prelude::*;
use std::{fs, path::Path};

type Target = fn(&[u8]);

const TARGETS: [(&str, Target); 4] = [
    ("frame", fuzz::frame),
    ("intake", fuzz::intake),
    ("model", fuzz::model),
    ("invitation", fuzz::invitation),
];

#[test]
fn nothing_in_the_corpus_breaks_a_parser() {
    for (name, target) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
        let files = fs::read_dir(&folder).expect("a corpus").map(|file| file.expect("a file").path());
        let files: Vec<_> = files.collect();
        assert!(files.len() > 5, "{name} has {} files", files.len());
        files.iter().for_each(|file| target(&fs::read(file).expect("readable")));
    }
}

proptest! {
    #[test]
    fn no_bytes_break_a_parser(bytes in prop::collection::vec(any::<u8>(), 0..1200)) {
        TARGETS.iter().for_each(|(_, target)| target(&bytes));
    }

    #[test]
    fn no_script_of_signed_frames_breaks_one(
        messages in prop::collection::vec((any::<u8>(), any::<u8>(), prop::collection::vec(any::<u8>(), 0..250)), 0..8),
        kind in 0u8..7, number in 0u8..4,
    ) {
        let mut script = Vec::new();
        for (who, dress, mut content) in messages {
            if let Some(place) = content.get_mut(4..6) {
                place.copy_from_slice(&[kind, number]);
            }
            script.extend([who, dress | 1, content.len() as u8]);
            script.extend(content);
        }
        fuzz::intake(&script);
        fuzz::model(&script);
    }
}
