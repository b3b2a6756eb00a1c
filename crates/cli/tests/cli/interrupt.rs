//! A full disk or Ctrl-C leaves no half file.
#![cfg(target_os = "linux")]

use crate::support::{Files, Ran, command, npy_version, run};
use std::{
    io::{Write, pipe},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

/// Three sparse vectors of zeros, as long as asked.
fn sparse(files: &Files, dimension: usize) {
    for worker in 0..3 {
        let header = npy_version(1, 64, "<f4", false, &[dimension], &[]);
        files.write(&format!("w{worker}.npy"), &header);
        let file = std::fs::File::options().write(true).open(files.path(&format!("w{worker}.npy"))).unwrap();
        file.set_len((header.len() + 4 * dimension) as u64).unwrap();
    }
}

const COMMAND: &str = "aggregate w0.npy w1.npy w2.npy --rule mean --tolerance 0 --json --output o.npy";

fn interrupt(child: &Child) {
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// Waits until the condition holds, or a minute has passed.
#[track_caller]
fn until(mut condition: impl FnMut() -> bool) {
    for _ in 0..60_000 {
        if condition() {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
    panic!("nothing happened for a minute");
}

#[test]
fn a_full_disk_is_a_failure_and_leaves_the_old_file() {
    let files = Files::new();
    sparse(&files, 1 << 20);
    files.write("o.npy", b"old");
    let mut limited = Command::new("sh");
    limited.current_dir(files.0.path()).args(["-c", r#"trap "" XFSZ; ulimit -f 64; exec "$@""#, "sh"]);
    limited.arg(env!("CARGO_BIN_EXE_byz")).args(COMMAND.split_whitespace());
    run(limited).expect(1).says("o.npy: cannot be written: ");
    assert_eq!(files.read("o.npy"), b"old");
    assert_eq!(files.names(), ["o.npy", "w0.npy", "w1.npy", "w2.npy"]);
}

#[test]
fn an_interrupt_ends_with_130() {
    let files = Files::new();
    sparse(&files, 10);
    // Nobody reads, and the pipe is full, so the command waits where it prints.
    let (reader, writer) = pipe().unwrap();
    let mut filler = writer.try_clone().unwrap();
    let filling = thread::spawn(move || filler.write_all(&[b' '; 1 << 20]));
    let mut child = command();
    child.current_dir(files.0.path()).args(COMMAND.split_whitespace());
    let child = child.stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
    until(|| files.path("o.npy").exists());
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    drop(reader);
    assert!(filling.join().unwrap().is_err());
    let err = String::from_utf8(output.stderr).unwrap();
    Ran { code: output.status.code().unwrap_or(-1), out: String::new(), err }.expect(130).says("interrupted");
}

#[test]
fn an_interrupt_while_writing_leaves_all_or_nothing() {
    let files = Files::new();
    let dimension = 8 << 20;
    sparse(&files, dimension);
    let mut child = command();
    child.current_dir(files.0.path()).args(COMMAND.split_whitespace());
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until(|| files.names().iter().any(|name| name.ends_with(".tmp") || name == "o.npy"));
    interrupt(&child);
    let code = child.wait().unwrap().code();
    let mut names = files.names();
    names.retain(|name| !name.starts_with('w'));
    match &names[..] {
        [] => assert_eq!(code, Some(130)),
        [one] => {
            assert_eq!(one, "o.npy");
            assert!(files.read("o.npy").len() > 4 * dimension);
        }
        _ => panic!("{names:?}"),
    }
}

#[test]
fn an_interrupted_run_keeps_its_rounds() {
    let files = Files::new();
    let mut child = command();
    let arguments = "run --task quartic(dimension=2000) --rounds 1000000 --set record_every=1000 --checkpoint-seconds 3600 \
                     --out r";
    child.current_dir(files.0.path()).args(arguments.split_whitespace());
    let child = child.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // The record is written in blocks: with the first, rounds have passed.
    until(|| std::fs::metadata(files.path("r/rounds.jsonl")).is_ok_and(|file| file.len() > 0));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    let ran = Ran { code: output.status.code().unwrap_or(-1), out: String::new(), err };
    ran.expect(130).says("interrupted after round ").says("goes on from there");
    assert_eq!(checkpoints(&files), 1);
}

#[test]
fn an_interrupted_search_keeps_what_it_found() {
    let files = Files::new();
    let mut child = command();
    let arguments = "kappa --rule gm --workers 20 --tolerance 3 --search 600 --output worst.npy";
    child.current_dir(files.0.path()).args(arguments.split_whitespace());
    let child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The handler is there long before, and the first look.
    thread::sleep(Duration::from_secs(2));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(out.contains("worst.npy holds these messages"), "{out}");
    Ran { code: output.status.code().unwrap_or(-1), out, err }.expect(130).says("interrupted");
    files.aggregate("worst.npy --rule gm --tolerance 3").expect(0);
}

fn checkpoints(files: &Files) -> usize {
    let names = std::fs::read_dir(files.path("r")).unwrap();
    names.filter(|name| name.as_ref().unwrap().file_name().to_string_lossy().contains("checkpoint")).count()
}
