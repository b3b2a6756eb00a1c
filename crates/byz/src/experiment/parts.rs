//! Files of numbers that verify or are not used: checkpoints of runs and of members.
//!
//!   magic line · header as one line of JSON · the numbers, little end first · SHA-256 of all before
//!
//! Written beside its place and renamed into it, so that a kill at any moment leaves the old one or the new one.

use crate::{error::Result, files, kernels::Scalar};
use serde::{Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};
use std::{io::Write, path::Path};

const SUM: usize = 32;

/// The vectors of each part.
pub(super) type Parts<T> = Vec<Vec<Vec<T>>>;

/// How long each vector of each part is; headers hold it.
pub(super) fn lengths<T>(parts: &Parts<T>) -> Vec<Vec<usize>> {
    parts.iter().map(|part| part.iter().map(Vec::len).collect()).collect()
}

/// Writes a file of these parts.
pub(super) fn write<T: Scalar>(
    path: &Path,
    magic: &[u8],
    header: &impl Serialize,
    parts: &Parts<T>,
) -> Result<()> {
    files::replace(path, |out| {
        let mut sum = Sha256::new();
        let mut put = |bytes: &[u8]| {
            sum.update(bytes);
            out.write_all(bytes)
        };
        put(magic)?;
        put(serde_json::to_string(header)?.as_bytes())?;
        put(b"\n")?;
        let mut bytes = Vec::new();
        for vector in parts.iter().flatten() {
            for block in vector.chunks(1 << 16) {
                bytes.clear();
                block.iter().for_each(|value| value.write_bytes(&mut bytes));
                put(&bytes)?;
            }
        }
        out.write_all(&sum.finalize())
    })
}

/// The header of a file that verifies, and the bytes of its numbers.
pub(super) fn open<'a, H: DeserializeOwned>(bytes: &'a [u8], magic: &[u8]) -> Result<(H, &'a [u8]), String> {
    let end = bytes.len().checked_sub(SUM).ok_or("it is too short")?;
    let (body, sum) = bytes.split_at(end);
    if Sha256::digest(body).as_slice() != sum {
        return Err("its checksum does not match".into());
    }
    let rest = body.strip_prefix(magic).ok_or("it is of another version")?;
    let line = rest.iter().position(|&byte| byte == b'\n').ok_or("it has no header")?;
    let header = serde_json::from_slice(&rest[..line]).map_err(|error| error.to_string())?;
    Ok((header, &rest[line + 1..]))
}

/// The numbers as parts of these lengths.
pub(super) fn read<T: Scalar>(bytes: &[u8], lengths: &[Vec<usize>]) -> Result<Parts<T>, String> {
    let mut values = bytes.chunks_exact(size_of::<T>()).map(T::read_bytes);
    let mut take = |&count: &usize| {
        let vector: Vec<T> = values.by_ref().take(count).collect();
        (vector.len() == count).then_some(vector).ok_or("it is too short".to_string())
    };
    lengths.iter().map(|part| part.iter().map(&mut take).collect()).collect()
}
