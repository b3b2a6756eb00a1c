//! The connection to the broker: encrypted unless it stays on this machine, and back by itself whenever it breaks.

use async_nats::{Client, ClientError, ConnectErrorKind, ConnectOptions, Event, ServerAddr};
use byz::Error;
use std::{
    error::Error as StdError,
    fmt::Display,
    fs, io,
    net::IpAddr,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// Hears what a person should know.
pub type Hear = Arc<dyn Fn(&str) + Send + Sync>;

/// How to reach the broker.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Its address, such as `tls://broker.example:4222`.
    pub url: String,
    /// The seed of the nkey that the broker knows us by.
    pub seed: Option<String>,
    /// The certificate of who signed the broker's certificate, if the system does not know it.
    pub authority: Option<PathBuf>,
    /// Encrypt even if the address does not ask for it.
    pub tls: bool,
    /// Do without encryption beyond this machine.
    pub insecure: bool,
}

/// Messages that may wait per subscription, besides what is sized by the model.
pub(crate) const SPARE: usize = 32;

impl Access {
    /// Connects; while nobody answers, tries again every second.
    pub async fn connect(&self, name: &str, waiting: usize, hear: Hear) -> Result<Client, Error> {
        let address = self.address()?;
        self.check_authority()?;
        let mut told = false;
        loop {
            let options = self.options(name, waiting, hear.clone());
            let error = match options.connect(address.clone()).await {
                Ok(client) => return Ok(client),
                Err(error) => error,
            };
            let refused = |why: &str| Err(Error::Network(format!("{}: {why}", self.url)));
            match error.kind() {
                ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
                    return refused(
                        "the broker does not accept these credentials; give --creds the file that was made for it",
                    );
                }
                ConnectErrorKind::Tls => {
                    return refused(&format!("no encrypted connection: {error}; see --tls"));
                }
                ConnectErrorKind::ServerParse => return refused(&error.to_string()),
                _ if is_distrust(&error) => {
                    return refused(&format!("no encrypted connection: {error}; see --tls"));
                }
                _ if !told => hear(&format!("{}: no broker yet ({error}); trying again", self.url)),
                _ => {}
            }
            told = true;
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }

    /// The address, if frames may go there.
    fn address(&self) -> Result<ServerAddr, Error> {
        let address: ServerAddr = self.url.parse().map_err(|error| {
            Error::Usage(format!("--nats {}: {error}; expected such as nats://127.0.0.1:4222", self.url))
        })?;
        if !self.is_encrypted() && !self.insecure && !is_loopback(address.host()) {
            // Not the whole address: it may hold a password.
            return Err(Error::Usage(format!(
                "--nats: {:?} would be reached without encryption; use tls:// or --tls, or --insecure if the network is your own",
                address.host()
            )));
        }
        Ok(address)
    }

    /// The client library names no file, and takes one without a certificate for nothing to trust besides.
    fn check_authority(&self) -> Result<(), Error> {
        let Some(path) = &self.authority else { return Ok(()) };
        let unusable = |problem: &dyn Display| Error::Usage(format!("--tls {}: {problem}", path.display()));
        let bytes = fs::read(path).map_err(|error| unusable(&error))?;
        match String::from_utf8_lossy(&bytes).contains("-----BEGIN CERTIFICATE-----") {
            true => Ok(()),
            false => Err(unusable(&"no certificate in PEM is in it")),
        }
    }

    fn is_encrypted(&self) -> bool {
        let asked = self.url.parse().is_ok_and(|address: ServerAddr| address.tls_required());
        self.tls || self.authority.is_some() || asked
    }

    fn options(&self, name: &str, waiting: usize, hear: Hear) -> ConnectOptions {
        let (url, told) = (self.url.clone(), AtomicBool::new(false));
        let mut options = ConnectOptions::new()
            .name(name)
            .subscription_capacity(waiting + SPARE)
            .read_buffer_capacity(u16::MAX)
            .ping_interval(Duration::from_secs(10))
            .connection_timeout(Duration::from_secs(10))
            .require_tls(self.is_encrypted())
            .reconnect_delay_callback(|attempt| Duration::from_millis(100 << attempt.min(4)))
            .event_callback(move |event| {
                match event {
                    Event::Disconnected => {
                        told.store(false, Ordering::Relaxed);
                        hear(&format!("{url}: connection lost; trying again"));
                    }
                    // Waiting may not mend it.
                    Event::ClientError(error)
                        if is_refusal(&error) && !told.swap(true, Ordering::Relaxed) =>
                    {
                        hear(&format!(
                            "{url}: the broker does not accept these credentials now ({error}); trying on"
                        ));
                    }
                    // The broker's word: what was published is not ours to publish.
                    Event::ServerError(error) => hear(&format!("{url}: the broker says: {error}")),
                    _ => {}
                }
                std::future::ready(())
            });
        // A broker names others of its cluster to go to when it is gone, and they may be anywhere.
        if !self.is_encrypted() && !self.insecure {
            options = options.ignore_discovered_servers();
        }
        if let Some(seed) = &self.seed {
            options = options.nkey(seed.clone());
        }
        if let Some(authority) = &self.authority {
            options = options.add_root_certificates(authority.clone());
        }
        options
    }
}

/// The client library tells of a failed attempt to come back in words alone.
fn is_refusal(error: &ClientError) -> bool {
    [ConnectErrorKind::AuthorizationViolation, ConnectErrorKind::Authentication]
        .iter()
        .any(|kind| error.to_string().contains(&kind.to_string()))
}

/// Whether the broker's certificate is at fault, which waiting does not mend.
fn is_distrust(error: &(dyn StdError + 'static)) -> bool {
    let invalid =
        error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::InvalidData);
    invalid || error.source().is_some_and(is_distrust)
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(url: &str) -> Access {
        Access { url: url.into(), ..Access::default() }
    }

    #[test]
    fn plain_text_stays_on_this_machine_unless_someone_insists() {
        for url in ["nats://127.0.0.1:4222", "nats://127.9.9.9", "localhost:1", "nats://[::1]:4222"] {
            assert!(access(url).address().is_ok(), "{url}");
        }
        for url in
            ["nats://10.0.0.1", "nats://localhost.example.org", "nats://0.0.0.0", "nats://127.0.0.1.nip.io"]
        {
            assert!(access(url).address().is_err(), "{url}");
            assert!(Access { insecure: true, ..access(url) }.address().is_ok(), "{url}");
            assert!(Access { tls: true, ..access(url) }.address().is_ok(), "{url}");
        }
        assert!(access("tls://broker.example:4222").address().is_ok());
        assert!(access("nats://").address().is_err());
    }
}
