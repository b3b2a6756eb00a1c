//! `byz`: robust aggregation on the command line. One file per command.

mod aggregate;
mod bench;
mod bound;
mod breakdown;
#[cfg(feature = "net")]
mod cluster;
#[cfg(feature = "net")]
mod coordinator;
mod data;
mod demo;
mod exit;
mod experiments;
mod kappa;
mod list;
#[cfg(feature = "net")]
mod net;
mod report;
mod reproduce;
mod run;
mod sweep;
mod text;
#[cfg(feature = "net")]
mod worker;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Byzantine-robust aggregation: one vector from many, some of them lies.
#[derive(Parser)]
#[command(name = "byz", version, term_width = 80)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Demo(demo::Arguments),
    List(list::Arguments),
    Aggregate(aggregate::Arguments),
    Bench(bench::Arguments),
    Run(run::Arguments),
    Sweep(sweep::Arguments),
    Report(report::Arguments),
    Reproduce(reproduce::Arguments),
    Data(data::Arguments),
    Kappa(kappa::Arguments),
    Bound(bound::Arguments),
    Breakdown(breakdown::Arguments),
    #[cfg(feature = "net")]
    Coordinator(coordinator::Arguments),
    #[cfg(feature = "net")]
    Worker(worker::Arguments),
    #[cfg(feature = "net")]
    Cluster(cluster::Arguments),
    #[cfg(feature = "net")]
    Net(net::Arguments),
}

fn main() -> ExitCode {
    exit::on_interrupt();
    let command = Arguments::parse().command;
    let run = || {
        check_kernels()?;
        dispatch(&command)
    };
    exit::code(exit::without_panic(run))
}

fn dispatch(command: &Command) -> exit::Outcome {
    match command {
        Command::Demo(arguments) => demo::run(arguments),
        Command::List(arguments) => list::run(arguments),
        Command::Aggregate(arguments) => aggregate::run(arguments),
        Command::Bench(arguments) => bench::run(arguments),
        Command::Run(arguments) => run::run(arguments),
        Command::Sweep(arguments) => sweep::run(arguments),
        Command::Report(arguments) => report::run(arguments),
        Command::Reproduce(arguments) => reproduce::run(arguments),
        Command::Data(arguments) => data::run(arguments),
        Command::Kappa(arguments) => kappa::run(arguments),
        Command::Bound(arguments) => bound::run(arguments),
        Command::Breakdown(arguments) => breakdown::run(arguments),
        #[cfg(feature = "net")]
        Command::Coordinator(arguments) => coordinator::run(arguments),
        #[cfg(feature = "net")]
        Command::Worker(arguments) => worker::run(arguments),
        #[cfg(feature = "net")]
        Command::Cluster(arguments) => cluster::run(arguments),
        #[cfg(feature = "net")]
        Command::Net(arguments) => net::run(arguments),
    }
}

/// A misspelt switch must not pass for the one that was meant.
fn check_kernels() -> exit::Outcome {
    match std::env::var("BYZ_KERNELS").as_deref() {
        Ok("scalar" | "avx2" | "auto" | "") | Err(_) => Ok(()),
        Ok(other) => {
            let problem = format!("BYZ_KERNELS={other}: expected scalar, avx2 or auto");
            Err(byz::Error::Usage(problem).into())
        }
    }
}
