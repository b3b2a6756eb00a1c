//! A participant's secrets, one small file: what it proves to the broker, and what it signs frames with.

use crate::keys::{PublicKey, SigningKey};
use byz::Error;
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::Path,
};

/// What the file holds.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Credentials {
    /// Which worker; none for the coordinator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<usize>,
    /// The federation.
    pub name: String,
    /// The seed of the broker's nkey.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broker: Option<String>,
    /// The seed that signs frames.
    pub signing: String,
    /// The coordinator's public key.
    pub coordinator: PublicKey,
}

impl Credentials {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Credentials, Error> {
        let unusable = |problem: String| {
            Error::Usage(format!("{}: not usable as credentials: {problem}", path.display()))
        };
        let text = fs::read_to_string(path).map_err(|error| unusable(error.to_string()))?;
        // The reader's own message would repeat the line, and with it a secret.
        let credentials: Credentials =
            toml::from_str(&text).map_err(|error| unusable(error.message().replace('\n', " ")))?;
        credentials.key().map_err(|error| unusable(error.to_string()))?;
        Ok(credentials)
    }

    /// What it signs frames with.
    pub fn key(&self) -> Result<SigningKey, Error> {
        SigningKey::read(&self.signing)
    }

    /// Writes a file that only its owner can read; none is replaced.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let who = self.worker.map_or("the coordinator".to_string(), |worker| format!("worker {worker}"));
        let body = toml::to_string(self).expect("credentials are plain data");
        let text =
            format!("# byz credentials of {who}. Secret: who has this file can speak in its name.\n{body}");
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path).and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| Error::File {
            path: path.to_path_buf(),
            problem: format!("cannot be written: {error}"),
        })
    }
}
