//! Peak memory is O(block·n + d), never n·d.
#![cfg(target_os = "linux")]

use crate::support::{Files, command, npy_version};
use std::{
    io::{Read, Write, pipe},
    process::Stdio,
    thread,
    time::Duration,
};

const WORKERS: usize = 12;
/// 64 MB a file; less where nothing is optimised and a pass takes long.
const DIMENSION: usize = if cfg!(debug_assertions) { 4 << 20 } else { 16 << 20 };

/// Peak resident memory of a process, in bytes.
fn peak(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

/// Runs the rule to the end and reads its peak: the output file is there, but a full pipe keeps the command from ending.
fn peak_of(files: &Files, arguments: &str) -> u64 {
    let (mut reader, writer) = pipe().unwrap();
    let mut filler = writer.try_clone().unwrap();
    let filling = thread::spawn(move || filler.write_all(&[b' '; 1 << 20]));
    let _ = std::fs::remove_file(files.path("o.npy"));
    let mut aggregate = command();
    aggregate.current_dir(files.0.path()).arg("aggregate").args(arguments.split_whitespace());
    aggregate.args(["--tolerance", "2", "--output", "o.npy", "--json", "--threads", "2"]);
    let mut child = aggregate.stdout(writer).stderr(Stdio::null()).spawn().unwrap();
    // The command holds the pipe's other end; ours must go, or reading would never end.
    drop(aggregate);
    while !files.path("o.npy").exists() && child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(2));
    }
    let peak = peak(child.id());
    let mut printed = String::new();
    reader.read_to_string(&mut printed).unwrap();
    filling.join().unwrap().unwrap();
    assert!(child.wait().unwrap().success(), "{printed}");
    peak
}

fn peaks_stay_low(rules: &[&str]) {
    let files = Files::new();
    let mut inputs = String::new();
    for worker in 0..WORKERS {
        let name = format!("w{worker}.npy");
        let header = npy_version(1, 64, "<f4", false, &[DIMENSION], &[]);
        files.write(&name, &header);
        let file = std::fs::File::options().write(true).open(files.path(&name)).unwrap();
        file.set_len((header.len() + 4 * DIMENSION) as u64).unwrap();
        inputs += &format!("{name} ");
    }
    let vector = 4 * DIMENSION as u64;
    // The aggregate and as much again; for each worker and thread a unit in which the system maps files; the program.
    let most = vector * 2 + WORKERS as u64 * 2 * (2 << 20) + (16 << 20);
    assert!(most < vector * WORKERS as u64 * 2 / 3);
    for rule in rules {
        let peak = peak_of(&files, &format!("{inputs} --rule {rule}"));
        assert!(peak < most, "{rule}: {} MB of at most {} MB", peak >> 20, most >> 20);
    }
}

#[test]
fn the_peak_is_far_below_the_size_of_the_input() {
    peaks_stay_low(&["mean", "krum", "nnm+geometric_median"]);
}

#[test]

fn the_peak_stays_low_where_coordinates_are_sampled() {
    peaks_stay_low(&["median", "nnm+trimmed_mean", "divide_and_conquer"]);
}
