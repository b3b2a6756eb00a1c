//! Every file that a task may need: its name, its content, and who offers it.
//!
//! Checksums are of the uncompressed content, because mirrors and people compress anew.

use flate2::read::MultiGzDecoder;
use sha2::{Digest, Sha256};
use std::io::Read;

/// One file of a data set.
#[derive(Debug, PartialEq, Eq)]
pub struct File {
    /// The data set, which is also its directory.
    pub set: &'static str,
    /// The name, without `.gz`.
    pub name: &'static str,
    /// Whether mirrors offer it as `.gz`.
    pub compressed: bool,
    /// SHA-256 of the uncompressed content, in hexadecimal.
    pub sha256: &'static str,
    /// Bytes of the uncompressed content.
    pub size: usize,
    /// Addresses that the download's name completes, in the order to try.
    pub mirrors: &'static [&'static str],
}

const MNIST_MIRRORS: &[&str] = &[
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
];

const fn idx(name: &'static str, sha256: &'static str, size: usize) -> File {
    File { set: "mnist", name, compressed: true, sha256, size, mirrors: MNIST_MIRRORS }
}

pub(super) static TRAIN_IMAGES: File = idx(
    "train-images-idx3-ubyte",
    "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    16 + 60_000 * 784,
);
pub(super) static TRAIN_LABELS: File = idx(
    "train-labels-idx1-ubyte",
    "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    8 + 60_000,
);
pub(super) static TEST_IMAGES: File = idx(
    "t10k-images-idx3-ubyte",
    "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    16 + 10_000 * 784,
);
pub(super) static TEST_LABELS: File = idx(
    "t10k-labels-idx1-ubyte",
    "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    8 + 10_000,
);
pub(super) static SHAKESPEARE: File = File {
    set: "shakespeare",
    name: "input.txt",
    compressed: false,
    sha256: "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
    size: 1_115_394,
    mirrors: &["https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/"],
};

/// Every file of every data set.
pub static MANIFEST: &[&File] = &[&TRAIN_IMAGES, &TRAIN_LABELS, &TEST_IMAGES, &TEST_LABELS, &SHAKESPEARE];

impl File {
    /// The name under which mirrors offer it and [`super::Directory::store`] keeps it.
    pub fn download(&self) -> String {
        format!("{}{}", self.name, if self.compressed { ".gz" } else { "" })
    }

    /// No honest copy, compressed or not, is longer than this.
    pub fn most_bytes(&self) -> u64 {
        self.size as u64 + (1 << 16)
    }

    /// The uncompressed content of a copy, compressed or not, if it is the right one; else what is wrong with it.
    pub fn content(&self, copy: Vec<u8>) -> Result<Vec<u8>, String> {
        let content = if copy.starts_with(&[0x1F, 0x8B]) { self.inflate(&copy)? } else { copy };
        if content.len() != self.size {
            return Err(format!("its content has {} bytes instead of {}", content.len(), self.size));
        }
        let digest: String = Sha256::digest(&content).iter().map(|byte| format!("{byte:02x}")).collect();
        if digest != self.sha256 {
            return Err(format!("its content has the SHA-256 {digest} instead of {}", self.sha256));
        }
        Ok(content)
    }

    /// Stops one byte beyond the right size, so a gzip bomb costs no more than the true file.
    fn inflate(&self, copy: &[u8]) -> Result<Vec<u8>, String> {
        let mut content = Vec::new();
        MultiGzDecoder::new(copy)
            .take(self.size as u64 + 1)
            .read_to_end(&mut content)
            .map_err(|error| format!("it cannot be decompressed ({error})"))?;
        match content.len() > self.size {
            true => Err(format!("its content has more than {} bytes", self.size)),
            false => Ok(content),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    static TINY: File = File {
        set: "tiny",
        name: "abc",
        compressed: true,
        sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        size: 3,
        mirrors: &[],
    };

    fn gzip(content: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn the_right_content_passes_compressed_or_not() {
        assert_eq!(TINY.content(b"abc".to_vec()).unwrap(), b"abc");
        assert_eq!(TINY.content(gzip(b"abc")).unwrap(), b"abc");
    }

    #[test]
    fn anything_else_is_named() {
        let truncated = gzip(b"abc")[..15].to_vec();
        for (copy, words) in [
            (b"abcd".to_vec(), "4 bytes instead of 3"),
            (b"abd".to_vec(), "SHA-256 a52d159f262b2c6ddb724a61840befc36eb30c88877a4030b65cbe86298449c9"),
            (gzip(&vec![0; 1 << 24]), "more than 3 bytes"),
            (truncated, "cannot be decompressed"),
            (vec![0x1F, 0x8B], "cannot be decompressed"),
            (vec![], "0 bytes"),
        ] {
            let problem = TINY.content(copy).unwrap_err();
            assert!(problem.contains(words), "{problem}");
        }
    }
}
