//! Files to aggregate and a binary to run.

use byz::Stream;
use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use tempfile::TempDir;

/// What a run left behind.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Fails the test with everything that was said.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Ran {
        let Ran { code: found, out, err } = &self;
        assert_eq!(*found, code, "stdout:\n{out}\nstderr:\n{err}");
        assert!(!err.contains("panicked"), "{err}");
        self
    }

    #[track_caller]
    pub(crate) fn says(self, words: &str) -> Ran {
        assert!(self.err.contains(words), "not in stderr: {words}\n{}", self.err);
        self
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}:\n{}", self.out))
    }
}

pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_byz"));
    command.stdin(Stdio::null());
    command
}

pub(crate) fn run(mut command: Command) -> Ran {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

/// Runs `byz` with arguments separated by spaces.
pub(crate) fn byz(arguments: &str) -> Ran {
    let mut command = command();
    command.args(arguments.split_whitespace());
    run(command)
}

/// A directory of files that are named in commands without their path.
pub(crate) struct Files(pub(crate) TempDir);

impl Files {
    pub(crate) fn new() -> Files {
        Files(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> &Files {
        std::fs::write(self.path(name), bytes).unwrap();
        self
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn vector(&self, name: &str, values: &[f32]) -> &Files {
        self.write(name, &npy("<f4", false, &[values.len()], &bytes(values)))
    }

    /// `byz aggregate …` in this directory.
    pub(crate) fn aggregate(&self, arguments: &str) -> Ran {
        let mut command = command();
        command.current_dir(self.0.path()).arg("aggregate").args(arguments.split_whitespace());
        run(command)
    }

    /// All names, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        names(self.0.path())
    }

    /// Five workers w0.npy … w4.npy that nearly agree.
    pub(crate) fn five(&self) -> &Files {
        for (worker, row) in rows::<f32>(5, 3).iter().enumerate() {
            self.vector(&format!("w{worker}.npy"), row);
        }
        self
    }
}

/// The names of five workers.
pub(crate) const FIVE: &str = "w0.npy w1.npy w2.npy w3.npy w4.npy";

pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Rows near (1, 2, 3, …), the last far away.
pub(crate) fn rows<T: byz::Scalar>(workers: usize, dimension: usize) -> Vec<Vec<T>> {
    let row = |worker: usize| {
        let mut stream = Stream::new(7, "rows", worker as u64, 0);
        let far = if worker + 1 == workers { 40.0 } else { 0.0 };
        let value = |k: usize| (k % 17) as f64 + 1.0 + far + 0.25 * stream.uniform();
        (0..dimension).map(value).map(T::from_f64).collect()
    };
    (0..workers).map(row).collect()
}

/// Numbers that have bytes.
pub(crate) trait Bytes: Copy {
    fn append(self, bytes: &mut Vec<u8>);
}

impl Bytes for f32 {
    fn append(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }
}

impl Bytes for f64 {
    fn append(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }
}

impl Bytes for u16 {
    fn append(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }
}

pub(crate) fn bytes<T: Bytes>(values: &[T]) -> Vec<u8> {
    let mut bytes = Vec::new();
    values.iter().for_each(|value| value.append(&mut bytes));
    bytes
}

pub(crate) fn npy(descr: &str, fortran: bool, shape: &[usize], data: &[u8]) -> Vec<u8> {
    npy_version(1, 64, descr, fortran, shape, data)
}

/// A `.npy` file whose numbers start at a multiple of `alignment`, and not of twice that.
pub(crate) fn npy_version(
    version: u8,
    alignment: usize,
    descr: &str,
    fortran: bool,
    shape: &[usize],
    data: &[u8],
) -> Vec<u8> {
    let lengths: Vec<String> = shape.iter().map(|length| format!("{length},")).collect();
    let fortran = if fortran { "True" } else { "False" };
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': ({}), }}", lengths.join(" "));
    let start = if version == 1 { 10 } else { 12 };
    while (start + header.len() + 1) % (2 * alignment) != alignment {
        header.push(' ');
    }
    header.push('\n');
    let mut file = b"\x93NUMPY".to_vec();
    file.extend([version, 0]);
    match version {
        1 => file.extend((header.len() as u16).to_le_bytes()),
        _ => file.extend((header.len() as u32).to_le_bytes()),
    }
    file.extend(header.as_bytes());
    file.extend(data);
    file
}

/// A tensor for [`safetensors`]: name, type, shape, bytes.
pub(crate) type Tensor<'a> = (&'a str, &'a str, &'a [usize], Vec<u8>);

/// A `.safetensors` file with the tensors in the order given.
pub(crate) fn safetensors(tensors: &[Tensor<'_>], metadata: &[(&str, &str)]) -> Vec<u8> {
    let mut header = serde_json::Map::new();
    if !metadata.is_empty() {
        let entries = metadata.iter().map(|(key, value)| (key.to_string(), (*value).into()));
        header.insert("__metadata__".into(), serde_json::Value::Object(entries.collect()));
    }
    let mut data: Vec<u8> = Vec::new();
    for (name, dtype, shape, bytes) in tensors {
        let start = data.len();
        data.extend(bytes);
        let info = serde_json::json!({ "dtype": dtype, "shape": shape, "data_offsets": [start, data.len()] });
        header.insert(name.to_string(), info);
    }
    let header = serde_json::Value::Object(header).to_string();
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.extend(data);
    file
}

/// The numbers of an `.npy` output, as bytes: all that follows its header.
pub(crate) fn payload(file: &[u8]) -> &[u8] {
    let length = usize::from(u16::from_le_bytes([file[8], file[9]]));
    &file[10 + length..]
}

/// Compares with a stored text; `BYZ_UPDATE_SNAPSHOTS=1` stores it instead.
#[track_caller]
pub(crate) fn snapshot(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/snapshots").join(name);
    if std::env::var_os("BYZ_UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, stored, "differs from {name}; if that is right: BYZ_UPDATE_SNAPSHOTS=1 cargo test");
}
