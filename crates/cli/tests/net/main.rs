//! Networked runs as users start them: processes on this machine with a real `nats-server` between them.

mod again;
mod bits;
mod chaos;
#[cfg(unix)]
mod cluster;
mod drills;
mod federation;
mod refusals;
mod replay;
mod returning;
mod tls;
