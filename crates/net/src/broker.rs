//! A broker on this machine, for trying things out and for tests.

use byz::Error;
use std::{
    env,
    fs::{self, File},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

/// Starts the program `$0` with the configuration `$1`, and ends it when standard input ends: with whoever started it, however
/// that ended. A closed terminal hangs up on both of them; the program would take that for a wish to read its configuration again.
const ENDS_WITH_US: &str =
    r#"trap "" HUP; exec 3<&0; "$0" -c "$1" & child=$!; { cat <&3 > /dev/null; kill $child; } & wait $child"#;

/// A `nats-server` process that ends with this value.
pub struct Broker {
    child: Child,
}

/// A port of this machine that nobody listens on.
pub fn free_port() -> Result<u16, Error> {
    let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    bound.map(|address| address.port()).map_err(|error| Error::Network(format!("no free port: {error}")))
}

/// Where `nats-server` is; Debian puts it where only root looks.
pub fn find() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let places =
        env::split_paths(&path).chain([PathBuf::from("/usr/sbin"), PathBuf::from("/usr/local/sbin")]);
    places.map(|place| place.join("nats-server")).find(|program| program.is_file())
}

impl Broker {
    /// Starts `nats-server` with this configuration, which must listen on this port of this machine; its words go to `log`.
    pub fn start(configuration: &Path, port: u16, log: &Path) -> Result<Broker, Error> {
        let failed = |problem: String| Error::Network(format!("nats-server: {problem}"));
        let program = find().ok_or_else(|| {
            let advice = "nats-server is not installed; on Debian and Ubuntu: apt-get install nats-server";
            Error::Network(advice.into())
        })?;
        let words = File::options().create(true).append(true).open(log);
        let words = words.map_err(|error| failed(format!("{}: {error}", log.display())))?;
        let mut shell = Command::new("sh");
        // An interrupt at the terminal is for whoever started it, who may have something to end first.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut shell, 0);
        let spawned = shell
            .args(["-c", ENDS_WITH_US])
            .arg(program)
            .arg(configuration)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(words)
            .spawn();
        let child = spawned.map_err(|error| failed(error.to_string()))?;
        let mut broker = Broker { child };
        let patience = Instant::now() + Duration::from_secs(10);
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            if let Ok(Some(status)) = broker.child.try_wait() {
                let words = fs::read_to_string(log).unwrap_or_default();
                let last = words.lines().next_back().unwrap_or("it said nothing");
                return Err(failed(format!("it ended at once ({status}): {last}")));
            }
            if Instant::now() > patience {
                return Err(failed(format!("nobody listens on port {port}; see {}", log.display())));
            }
            sleep(Duration::from_millis(10));
        }
        Ok(broker)
    }

    /// The number of the process that holds it.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // Gone already is as good.
        let _ = self.child.wait();
    }
}
