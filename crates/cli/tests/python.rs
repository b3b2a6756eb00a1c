//! The Python package: built as a wheel, installed into an environment of its own, tested with NumPy alone.
//!
//! Here and not in crates/python, because a Rust test there would have to link libpython, which many machines lack.

use std::{
    ffi::OsStr,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output},
};

#[test]
fn the_wheel_installs_into_a_clean_environment_and_passes_its_tests() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let environment = place.path().join("environment");
    if !done(Command::new("python3").args(["-c", "import sys, venv; sys.exit(sys.version_info < (3, 10))"])) {
        return skip("python3 of at least 3.10 with venv is not installed");
    }
    if !done(Command::new("python3").args(["-m", "venv"]).arg(&environment)) {
        return skip("python3 cannot make a virtual environment (Debian: apt install python3-venv)");
    }
    let tools = ["maturin>=1.9,<2", "numpy>=1.23", "pytest>=8"];
    if !done(Command::new(tool(&environment, "pip")).args(["install", "--quiet"]).args(tools)) {
        return skip("pip cannot install maturin, numpy and pytest here");
    }
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../python");
    let wheels = place.path().join("wheels");
    // Beside what the tests were built into, so that the engine is not built once more.
    let target = Path::new(env!("CARGO_BIN_EXE_byz")).ancestors().nth(2).expect("target/release/byz");
    succeed(
        Command::new(tool(&environment, "maturin"))
            .args(["build", "--release", "--locked", "--quiet", "--out"])
            .arg(&wheels)
            .arg("--target-dir")
            .arg(target)
            .current_dir(&package),
    );
    let wheel =
        std::fs::read_dir(&wheels).expect("a wheel").next().expect("a wheel").expect("a wheel").path();
    succeed(Command::new(tool(&environment, "pip")).args([
        OsStr::new("install"),
        "--quiet".as_ref(),
        wheel.as_ref(),
    ]));
    let tests = succeed(
        Command::new(tool(&environment, "python"))
            .args(["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"])
            .arg(package.join("tests"))
            .current_dir(place.path()),
    );
    say(&String::from_utf8_lossy(&tests.stdout));
}

fn tool(environment: &Path, name: &str) -> PathBuf {
    environment.join("bin").join(name)
}

/// Whether a command ran and succeeded.
fn done(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{out}\n{err}");
    output
}

fn skip(why: &str) {
    say(&format!("skipped, the Python package: {why}\n"));
}

/// Past the test runner, which keeps what passing tests print to itself.
fn say(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
