//! Drives the binary as a user would: exit code, message, file.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod bits;
mod bound;
mod breakdown;
mod browser;
mod changed;
mod checkpoints;
mod data;
mod directories;
mod exit_codes;
mod explain;
mod hostile;
mod interrupt;
mod json;
mod kappa;
mod list;
mod memory;
mod report;
mod reproduce;
mod support;
mod sweep;
mod train;
mod verdicts;
