//! Files that are there whole or not at all: written beside their place, synced, then renamed into it.
//!
//! A full disk leaves the old file, if any, and nothing else. A process that is told to end calls
//! [`discard_unfinished`] first; one that is killed leaves a hidden file that ends in `.tmp`, never a half one under
//! the real name.

use crate::error::{Error, Result};
use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Files under way in this process.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what is being written, from any thread; for handlers of signals, right before the process ends. Writing
/// cannot finish afterwards.
pub fn discard_unfinished() {
    let guard = unfinished();
    for path in guard.iter() {
        // Already gone is as good.
        let _ = fs::remove_file(path);
    }
    // The lock is kept, so that no writer can rename or start another.
    std::mem::forget(guard);
}

/// Removes its file unless it was renamed.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let mut unfinished = unfinished();
        if let Some(index) = unfinished.iter().position(|path| *path == self.0) {
            let _ = fs::remove_file(unfinished.swap_remove(index));
        }
    }
}

/// Writes a file whole or not at all.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    replace(path, |out| out.write_all(bytes))
}

/// Lets `write` fill a file that takes its place at `path` once it is complete.
pub(crate) fn replace(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> Result<()> {
    // Through a link to what it names, and never over a device.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if fs::metadata(&target).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(Error::file(path, "is not a regular file, so it is not replaced; choose another name"));
    }
    let whole = || -> io::Result<()> {
        let (file, temporary) = create_beside(&target)?;
        let mut buffered = BufWriter::with_capacity(1 << 20, &file);
        write(&mut buffered)?;
        buffered.flush()?;
        file.sync_all()?;
        let mut unfinished = unfinished();
        fs::rename(&temporary.0, &target)?;
        unfinished.retain(|path| *path != temporary.0);
        Ok(())
    };
    whole().map_err(|error| Error::file(path, format_args!("cannot be written: {error}")))?;
    sync_directory(&target);
    Ok(())
}

/// A new file in the same directory, because only there can it be renamed in one step.
fn create_beside(target: &Path) -> io::Result<(File, Temporary)> {
    let name = target.file_name().ok_or(io::ErrorKind::InvalidFilename)?.to_string_lossy();
    // Registered before it exists, so that an interrupt finds it.
    let mut unfinished = unfinished();
    for attempt in 0.. {
        let path = target.with_file_name(format!(".{}.{}-{attempt}.tmp", short(&name), std::process::id()));
        match File::create_new(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(file) => {
                unfinished.push(path.clone());
                return Ok((file, Temporary(path)));
            }
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Removes what processes that were killed left beside this file, of which nobody else may be writing a new version now.
pub fn discard_abandoned(path: &Path) {
    let Some(name) = path.file_name() else { return };
    let start = format!(".{}.", short(&name.to_string_lossy()));
    let directory = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let under_way = unfinished();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(&start) && name.ends_with(".tmp") && !under_way.contains(&entry.path()) {
            // What cannot be removed does no harm.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Long names leave no room for more.
fn short(name: &str) -> String {
    name.chars().take(32).collect()
}

/// Makes the new name durable; where directories cannot be synced, the system does it in its own time.
fn sync_directory(target: &Path) {
    if let Some(directory) = target.parent().and_then(|directory| File::open(directory).ok()) {
        let _ = directory.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.npy");
        fs::write(&path, b"old").unwrap();
        let failing = |out: &mut BufWriter<&File>| {
            out.write_all(&[0; 1 << 21])?;
            Err(io::Error::other("disk full"))
        };
        let error = replace(&path, failing).unwrap_err().to_string();
        assert!(error.contains("disk full"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(directory.path()), ["a.npy"]);
    }

    #[test]
    fn what_a_killed_process_left_of_a_file_is_removed_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        for name in [".a.npy.12-0.tmp", ".a.npy.77-3.tmp", ".ab.npy.12-0.tmp", "a.npy", ".a.npy.12"] {
            fs::write(directory.path().join(name), b"left").unwrap();
        }
        discard_abandoned(&directory.path().join("a.npy"));
        let mut left = names(directory.path());
        left.sort();
        assert_eq!(left, [".a.npy.12", ".ab.npy.12-0.tmp", "a.npy"]);
    }

    #[test]
    fn a_finished_write_replaces_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.npy");
        fs::write(&path, b"old").unwrap();
        replace(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(directory.path()), ["a.npy"]);
    }

    #[test]
    #[cfg(unix)]
    fn a_link_keeps_naming_its_file_and_a_device_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let (path, link) = (directory.path().join("a.npy"), directory.path().join("link.npy"));
        fs::write(&path, b"old").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        replace(&link, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        assert!(replace(&link, |out| out.write_all(b"new")).is_err());
    }
}
