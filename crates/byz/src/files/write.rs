//! The aggregate as a file.
//!
//! `.npy` has the type it was computed in. `.safetensors` has the tensors of the layout, each in its own type, rounded to
//! the nearest. A value that is finite but too large for its tensor's type is an error that names it, and no
//! file is written: infinity is no number, and the largest number of the type is not what the rule said. (Averages stay
//! within the range of what they average, so this takes a rule that leaves it.)

use super::{atomic::replace, float::Float, layout::Tensor, quoted};
use crate::{error::Result, kernels::Scalar};
use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::Path,
};

/// Numbers encoded at a time.
const BLOCK: usize = 1 << 14;

/// Writes a vector as `.npy`, version 1.0, in its own type.
pub fn write_npy<T: Scalar>(path: &Path, vector: &[T]) -> Result<()> {
    write_array(path, &format!("{},", vector.len()), vector)
}

/// Writes numbers, row after row, as a `.npy` matrix with so many columns.
pub fn write_npy_matrix<T: Scalar>(path: &Path, numbers: &[T], columns: usize) -> Result<()> {
    write_array(path, &format!("{}, {columns}", numbers.len() / columns.max(1)), numbers)
}

fn write_array<T: Scalar>(path: &Path, shape: &str, numbers: &[T]) -> Result<()> {
    let float = if T::NAME == Float::F64.name() { Float::F64 } else { Float::F32 };
    let dictionary =
        format!("{{'descr': '<f{}', 'fortran_order': False, 'shape': ({shape}), }}", float.size());
    // Magic, version and length take ten bytes; the numbers start at a multiple of 64.
    let length = (10 + dictionary.len() + 1).next_multiple_of(64) - 10;
    let header = format!("{dictionary:<width$}\n", width = length - 1);
    replace(path, |out| {
        out.write_all(b"\x93NUMPY\x01\x00")?;
        out.write_all(&(length as u16).to_le_bytes())?;
        out.write_all(header.as_bytes())?;
        write_numbers(out, float, numbers, "the numbers")
    })
}

/// Writes a vector as the tensors of a checkpoint. The bytes depend on nothing but the arguments.
pub fn write_safetensors<T: Scalar>(
    path: &Path,
    tensors: &[Tensor],
    metadata: &BTreeMap<String, String>,
    vector: &[T],
) -> Result<()> {
    // As the `safetensors` crate does: wide types first, so that every tensor is aligned.
    let mut order: Vec<&Tensor> = tensors.iter().collect();
    order.sort_by(|a, b| b.float.size().cmp(&a.float.size()).then_with(|| a.name.cmp(&b.name)));
    let header = header(&order, metadata);
    replace(path, |out| {
        out.write_all(&(header.len() as u64).to_le_bytes())?;
        out.write_all(header.as_bytes())?;
        for tensor in order {
            let name = format!("tensor {}", quoted(&tensor.name));
            write_numbers(out, tensor.float, &vector[tensor.columns.clone()], &name)?;
        }
        Ok(())
    })
}

/// The JSON header, padded so that the numbers are aligned. Written here and not by the crate, whose
/// metadata comes in another order each time.
fn header(order: &[&Tensor], metadata: &BTreeMap<String, String>) -> String {
    let mut entries = serde_json::Map::new();
    if !metadata.is_empty() {
        entries.insert("__metadata__".into(), serde_json::json!(metadata));
    }
    let mut end = 0;
    for tensor in order {
        let start = end;
        end += tensor.columns.len() * tensor.float.size();
        let dtype = match tensor.float {
            Float::F16 => "F16",
            Float::Bf16 => "BF16",
            Float::F32 => "F32",
            Float::F64 => "F64",
        };
        let info = serde_json::json!({ "dtype": dtype, "shape": tensor.shape, "data_offsets": [start, end] });
        entries.insert(tensor.name.clone(), info);
    }
    let text = serde_json::Value::Object(entries).to_string();
    let width = text.len().next_multiple_of(8);
    text.clone() + &" ".repeat(width - text.len())
}

fn write_numbers<T: Scalar>(
    out: &mut impl Write,
    float: Float,
    numbers: &[T],
    whose: &str,
) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(BLOCK * float.size());
    for (block, numbers) in numbers.chunks(BLOCK).enumerate() {
        bytes.clear();
        for (k, number) in numbers.iter().enumerate() {
            if !float.encode(number.to_f64(), &mut bytes) {
                return Err(io::Error::other(format!(
                    "element {} of {whose} is {:e}, too large for its type {}; an .npy output keeps it",
                    block * BLOCK + k,
                    number.to_f64(),
                    float.name()
                )));
            }
        }
        out.write_all(&bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overflow_names_its_tensor_and_writes_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.safetensors");
        let tensor = Tensor { name: "w".into(), shape: vec![2], float: Float::F16, columns: 0..2 };
        let error = write_safetensors(&path, &[tensor], &BTreeMap::new(), &[1.0f32, 7e4]).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("element 1 of tensor 'w' is 7e4") && text.contains("float16"), "{text}");
        assert!(!path.exists());
    }

    #[test]
    fn the_crate_reads_what_is_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.safetensors");
        let tensors = [
            Tensor { name: "a".into(), shape: vec![3], float: Float::Bf16, columns: 0..3 },
            Tensor { name: "b".into(), shape: vec![], float: Float::F64, columns: 3..4 },
            Tensor { name: "c".into(), shape: vec![0, 2], float: Float::F32, columns: 4..4 },
        ];
        let metadata = BTreeMap::from([("format".to_string(), "pt".to_string())]);
        write_safetensors(&path, &tensors, &metadata, &[1.0, 2.0, 3.0, 0.1]).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let read = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        assert_eq!(read.tensor("b").unwrap().data(), 0.1f64.to_le_bytes());
        assert_eq!(read.tensor("a").unwrap().data(), [0x80, 0x3f, 0x00, 0x40, 0x40, 0x40]);
        assert_eq!(read.tensor("c").unwrap().shape(), [0, 2]);
        let (_, header) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
        assert_eq!(header.metadata().as_ref().unwrap()["format"], "pt");
    }
}
