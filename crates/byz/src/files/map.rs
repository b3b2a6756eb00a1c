//! A read-only map of a whole file: the only `unsafe` of this module.
//!
//! A map instead of reads, because f32 and f64 rows are then borrowed where the system keeps them, without a
//! copy. The price is that nobody may change the file meanwhile; see the module's header.

use crate::{
    error::{Error, Result},
    kernels::Scalar,
};
use memmap2::Mmap;
use std::{any::TypeId, fs, io::ErrorKind, ops::Range, path::Path};

/// The bytes of a file.
pub(super) struct Map(Mmap);

/// A fault may map all of the largest unit in which the system keeps a file, behind the touched byte as well as
/// ahead. Releasing less than whole units would leave what other faults have mapped behind.
const UNIT: usize = 1 << 21;
/// And it maps this much around itself, wherever units end.
const AROUND: usize = 1 << 16;

impl Map {
    /// Maps a regular file; none if there is no such path. Pipes and devices are refused: they have no length.
    pub(super) fn open(path: &Path) -> Result<Option<Map>> {
        let absent = |kind| matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory);
        match fs::metadata(path) {
            Err(error) if absent(error.kind()) => return Ok(None),
            Err(error) => return Err(Error::file(path, format_args!("cannot be read: {error}"))),
            Ok(metadata) if metadata.is_dir() => {
                return Err(Error::file(path, "is a directory; name the files in it"));
            }
            Ok(metadata) if !metadata.is_file() => {
                return Err(Error::file(
                    path,
                    "is not a regular file, so it cannot be mapped; copy it to one",
                ));
            }
            Ok(_) => {}
        }
        let failed = |error| Error::file(path, format_args!("cannot be read: {error}"));
        let file = fs::File::open(path).map_err(failed)?;
        // SAFETY: the map is read-only and private to this value; that the file stays as it is while mapped is
        // asked of the user in the module's header, and no safe way to map a file exists.
        let map = unsafe { Mmap::map(&file) }.map_err(failed)?;
        Ok(Some(Map(map)))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes as numbers, where they are numbers of this type as they lie.
    pub(super) fn numbers<T: Scalar>(&self, bytes: Range<usize>) -> Option<&[T]> {
        let plain = [TypeId::of::<f32>(), TypeId::of::<f64>()].contains(&TypeId::of::<T>());
        if !plain || cfg!(target_endian = "big") {
            return None;
        }
        // SAFETY: T is f32 or f64, and every pattern of bits is one of their values.
        let (before, numbers, after) = unsafe { self.0.get(bytes)?.align_to::<T>() };
        (before.is_empty() && after.is_empty()).then_some(numbers)
    }

    /// Lets the system take back the memory of these bytes; they are read again from the file when touched.
    pub(super) fn release(&self, bytes: Range<usize>) {
        let start = (bytes.start / UNIT * UNIT).saturating_sub(AROUND);
        let end = (bytes.end.next_multiple_of(UNIT) + AROUND).min(self.0.len());
        #[cfg(unix)]
        if start < end {
            // SAFETY: the range lies in the map. Dropped pages of a read-only map of a file come back with the
            // same bytes, so slices borrowed from it, here or in other threads, never see a change.
            let advised = unsafe {
                self.0.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, start, end - start)
            };
            // Advice not taken costs memory, nothing else.
            drop(advised);
        }
    }
}
