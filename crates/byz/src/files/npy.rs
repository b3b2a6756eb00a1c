//! `.npy` files, versions 1, 2 and 3: a header and the numbers of one array.

use super::{
    float::Float,
    map::Map,
    npy_header::{self, Header},
    row::FileRow,
};
use std::sync::Arc;

/// An array whose numbers were found where its header says.
pub(super) struct Array {
    map: Arc<Map>,
    header: Header,
    offset: usize,
}

const MAGIC: &[u8] = b"\x93NUMPY";
/// NumPy itself refuses headers beyond 10 kB unless told otherwise; arrays of numbers need a hundred bytes.
const LONGEST_HEADER: usize = 1 << 16;

impl Array {
    /// Finds the array in the map; the error is a reason for a verdict.
    pub(super) fn parse(map: Arc<Map>) -> Result<Array, String> {
        let bytes = map.bytes();
        let (text, offset) = header_text(bytes)?;
        let header = npy_header::parse(&text)?;
        let numbers = header.shape.iter().try_fold(1usize, |product, &length| product.checked_mul(length));
        let needed = numbers.and_then(|numbers| numbers.checked_mul(header.float.size()));
        let (found, shape) = (bytes.len() - offset, shown(&header.shape));
        match needed {
            Some(needed) if needed == found => Ok(Array { map, header, offset }),
            Some(needed) => {
                Err(format!("its shape {shape} needs {needed} bytes, but {found} follow its header"))
            }
            None => Err(format!("its shape {shape} is larger than any file")),
        }
    }

    pub(super) fn float(&self) -> Float {
        self.header.float
    }

    pub(super) fn shape(&self) -> &[usize] {
        &self.header.shape
    }

    /// A one-dimensional array as a row.
    pub(super) fn vector(&self) -> Result<FileRow, String> {
        let [length] = self.header.shape[..] else {
            let (count, shape) = (self.header.shape.len(), shown(&self.header.shape));
            return Err(match count {
                2 => {
                    format!("a matrix, {shape}, where a vector is expected; a matrix must be the only input")
                }
                _ => format!("an array of {count} dimensions, shape {shape}, where a vector is expected"),
            });
        };
        let mut row = FileRow::new(&self.map);
        row.push(self.header.float, self.offset, self.header.float.size(), length);
        Ok(row)
    }

    /// The rows of a matrix; none if it is no matrix.
    pub(super) fn rows(&self) -> Option<impl Iterator<Item = FileRow>> {
        let [rows, columns] = self.header.shape[..] else { return None };
        let size = self.header.float.size();
        let (to_row, to_column) =
            if self.header.fortran { (size, size * rows) } else { (size * columns, size) };
        Some((0..rows).map(move |index| {
            let mut row = FileRow::new(&self.map);
            row.push(self.header.float, self.offset + index * to_row, to_column, columns);
            row
        }))
    }
}

/// The text of the header and where the numbers start.
fn header_text(bytes: &[u8]) -> Result<(String, usize), String> {
    if bytes.is_empty() {
        return Err("the file is empty".into());
    }
    if !bytes.starts_with(MAGIC) {
        return Err("it is not a .npy file: it does not start with \\x93NUMPY".into());
    }
    let short = || "the file ends within its header".to_string();
    let field = |from: usize, to: usize| bytes.get(from..to).ok_or_else(short);
    let (version, start) = match field(6, 8)? {
        [1, 0] => (1, 10),
        [2, 0] => (2, 12),
        [3, 0] => (3, 12),
        other => {
            return Err(format!(
                "its format has version {}.{}; byz reads 1.0, 2.0 and 3.0",
                other[0], other[1]
            ));
        }
    };
    let length = field(8, start)?.iter().rev().fold(0usize, |length, &byte| length << 8 | usize::from(byte));
    if length > LONGEST_HEADER {
        return Err(format!("its header claims {length} bytes, more than any array of numbers needs"));
    }
    let raw = field(start, start + length)?;
    let text = match version {
        3 => std::str::from_utf8(raw).map_err(|_| "its header is not UTF-8")?.to_string(),
        _ => raw.iter().map(|&byte| char::from(byte)).collect(),
    };
    Ok((text, start + length))
}

fn shown(shape: &[usize]) -> String {
    const MOST: usize = 6;
    let more = if shape.len() > MOST { "×…" } else { "" };
    let lengths: Vec<String> = shape.iter().take(MOST).map(usize::to_string).collect();
    if lengths.is_empty() { "()".into() } else { format!("{}{more}", lengths.join("×")) }
}
