//! `byz`: robust aggregation on the command line. One file per command.

mod aggregate;
mod bench;
mod exit;
mod list;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Byzantine-robust aggregation: one vector from many, some of them lies.
#[derive(Parser)]
#[command(name = "byz", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    List(list::Arguments),
    Aggregate(aggregate::Arguments),
    Bench(bench::Arguments),
}

fn main() -> ExitCode {
    exit::on_interrupt();
    let result = match Arguments::parse().command {
        Command::List(arguments) => list::run(&arguments),
        Command::Aggregate(arguments) => aggregate::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
    };
    exit::code(result)
}
