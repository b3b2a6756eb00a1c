//! Where data sets are kept, and reading them from there.
//!
//! The directory given, else `BYZ_DATA`, else `byz` in the user's cache directory. A file is looked for in the
//! directory of its data set and in the directory itself, raw and compressed; the first right copy is taken, so
//! that a fetched copy repairs whatever else lies there.

use super::File;
use crate::{
    error::{Error, Result},
    files::replace,
};
use std::{
    env, fs,
    io::{ErrorKind, Read, Write},
    path::{Path, PathBuf},
};

/// A directory that holds data sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory {
    path: PathBuf,
    /// Whether commands find it only if told.
    explicit: bool,
}

impl Directory {
    /// This directory.
    pub fn at(path: impl Into<PathBuf>) -> Directory {
        Directory { path: path.into(), explicit: true }
    }

    /// The one given, else `BYZ_DATA`, else `$XDG_CACHE_HOME/byz` or `~/.cache/byz`.
    pub fn find(given: Option<&Path>) -> Result<Directory> {
        match given {
            Some(path) => Ok(Directory::at(path)),
            None => Directory::of_environment(|name| env::var_os(name).map(PathBuf::from)),
        }
    }

    fn of_environment(variable: impl Fn(&str) -> Option<PathBuf>) -> Result<Directory> {
        let set = |name: &str| variable(name).filter(|path| !path.as_os_str().is_empty());
        // The specification of XDG_CACHE_HOME says to ignore relative paths.
        let cache = || set("XDG_CACHE_HOME").filter(|path| path.is_absolute());
        let home = || set("HOME").or_else(|| set("USERPROFILE")).map(|home| home.join(".cache"));
        let path = set("BYZ_DATA").or_else(|| cache().or_else(home).map(|cache| cache.join("byz")));
        let missing = || {
            Error::Usage("there is no home directory to keep data in; set BYZ_DATA or give --data-dir".into())
        };
        Ok(Directory { path: path.ok_or_else(missing)?, explicit: false })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where [`Directory::store`] puts a file.
    pub fn place(&self, file: &File) -> PathBuf {
        self.path.join(file.set).join(file.download())
    }

    /// The uncompressed, checked content of a file, and where it was found.
    pub fn read(&self, file: &File) -> Result<(PathBuf, Vec<u8>)> {
        let mut corrupt = None;
        for directory in [self.path.join(file.set), self.path.clone()] {
            for name in [file.name.to_string(), format!("{}.gz", file.name)] {
                let path = directory.join(name);
                let Some(copy) = self.copy(&path, file)? else { continue };
                match copy.and_then(|copy| file.content(copy)) {
                    Ok(content) => return Ok((path, content)),
                    Err(problem) => corrupt = corrupt.or(Some((path, problem))),
                }
            }
        }
        Err(match corrupt {
            None => Error::MissingData { path: self.place(file), command: self.command() },
            Some((path, problem)) => Error::CorruptData { path, problem, command: self.command() },
        })
    }

    /// The bytes at a path; none if nothing is there, a problem if it cannot be the file.
    fn copy(&self, path: &Path, file: &File) -> Result<Option<Result<Vec<u8>, String>>> {
        let unreadable = |error| Error::file(path, format_args!("cannot be read: {error}"));
        let metadata = match fs::metadata(path) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            metadata => metadata.map_err(unreadable)?,
        };
        // Opening a pipe would wait for ever.
        if !metadata.is_file() {
            return Ok(Some(Err("it is not a regular file".into())));
        }
        if metadata.len() > file.most_bytes() {
            return Ok(Some(Err(format!("it has {} bytes, more than it can have", metadata.len()))));
        }
        let mut bytes = Vec::new();
        let opened = fs::File::open(path).map_err(unreadable)?;
        // The file may grow while it is read.
        opened.take(file.most_bytes()).read_to_end(&mut bytes).map_err(unreadable)?;
        Ok(Some(Ok(bytes)))
    }

    /// Keeps a copy, compressed or not, if it is the right one.
    pub fn store(&self, file: &File, copy: &[u8]) -> Result<PathBuf> {
        let path = self.place(file);
        if let Err(problem) = file.content(copy.to_vec()) {
            return Err(Error::CorruptData { path, problem, command: self.command() });
        }
        let parent = self.path.join(file.set);
        fs::create_dir_all(&parent)
            .map_err(|error| Error::file(&parent, format_args!("cannot be made: {error}")))?;
        replace(&path, |out| out.write_all(copy))?;
        Ok(path)
    }

    /// The command that fills it.
    fn command(&self) -> String {
        let path = self.path.to_string_lossy();
        let plain = path.chars().all(|c| c.is_alphanumeric() || "/._-+:\\".contains(c));
        match (self.explicit, plain) {
            (false, _) => "byz data fetch".into(),
            (true, true) => format!("byz data fetch --data-dir {path}"),
            (true, false) => format!("byz data fetch --data-dir '{}'", path.replace('\'', r"'\''")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::manifest::TRAIN_LABELS, *};

    fn of(variables: &[(&str, &str)]) -> Result<Directory> {
        let variables: Vec<_> = variables.to_vec();
        Directory::of_environment(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
        })
    }

    #[test]
    fn the_environment_is_asked_in_order() {
        let all = [("BYZ_DATA", "data"), ("XDG_CACHE_HOME", "/cache"), ("HOME", "/home/me")];
        assert_eq!(of(&all).unwrap().path(), Path::new("data"));
        assert_eq!(of(&all[1..]).unwrap().path(), Path::new("/cache/byz"));
        assert_eq!(of(&all[2..]).unwrap().path(), Path::new("/home/me/.cache/byz"));
        let ignored = [("BYZ_DATA", ""), ("XDG_CACHE_HOME", "relative"), ("HOME", "/home/me")];
        assert_eq!(of(&ignored).unwrap().path(), Path::new("/home/me/.cache/byz"));
        assert!(of(&[]).unwrap_err().to_string().contains("BYZ_DATA"));
    }

    #[test]
    fn missing_and_corrupt_files_name_the_command_that_repairs_them() {
        let temporary = tempfile::tempdir().unwrap();
        let directory = Directory::at(temporary.path());
        let command = format!("byz data fetch --data-dir {}", temporary.path().display());
        let error = directory.read(&TRAIN_LABELS).unwrap_err();
        assert!(
            matches!(error, Error::MissingData { .. }) && error.to_string().contains(&command),
            "{error}"
        );
        fs::write(temporary.path().join(TRAIN_LABELS.name), b"short").unwrap();
        let error = directory.read(&TRAIN_LABELS).unwrap_err();
        assert!(
            matches!(error, Error::CorruptData { .. }) && error.to_string().contains(&command),
            "{error}"
        );
        fs::create_dir_all(temporary.path().join("mnist").join(TRAIN_LABELS.name)).unwrap();
        assert!(directory.read(&TRAIN_LABELS).unwrap_err().to_string().contains("not a regular file"));
        assert!(of(&[("HOME", "/nowhere")]).unwrap().command() == "byz data fetch");
    }

    #[test]
    fn only_the_right_content_is_stored() {
        let temporary = tempfile::tempdir().unwrap();
        let directory = Directory::at(temporary.path());
        assert!(matches!(directory.store(&TRAIN_LABELS, b"short"), Err(Error::CorruptData { .. })));
        assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
    }
}
