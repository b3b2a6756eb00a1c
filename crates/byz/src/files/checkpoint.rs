//! `.safetensors` files: a JSON header, then the tensors.
//!
//! The `safetensors` crate reads the header and checks that the tensors lie end to end and are as long as their
//! shapes say. The frame around it is read here, because the crate adds lengths of the file's choosing unchecked.
//! Whatever the order in the file, the row is the tensors sorted by name.

use super::{
    float::Float,
    layout::{Layout, Tensor},
    map::Map,
    quoted,
    row::FileRow,
};
use safetensors::{Dtype, tensor::Metadata};
use std::{collections::BTreeMap, sync::Arc};

/// A checkpoint whose tensors were found where its header says.
pub(super) struct Checkpoint {
    pub(super) layout: Layout,
    pub(super) row: FileRow,
    /// Free-form words that the writer added.
    pub(super) metadata: BTreeMap<String, String>,
}

/// As the format's specification has it.
const LONGEST_HEADER: usize = 100_000_000;

impl Checkpoint {
    /// Finds the tensors in the map; the error is a reason for a verdict.
    pub(super) fn parse(map: &Arc<Map>) -> Result<Checkpoint, String> {
        let bytes = map.bytes();
        let (header, start) = header(bytes)?;
        let read: Metadata =
            serde_json::from_slice(header).map_err(|error| format!("its header: {error}"))?;
        if read.data_len() != bytes.len() - start {
            let (claimed, found) = (read.data_len(), bytes.len() - start);
            return Err(format!("its tensors need {claimed} bytes, but {found} follow its header"));
        }
        let mut infos: Vec<_> = read.tensors().into_iter().collect();
        infos.sort_by(|a, b| a.0.cmp(&b.0));
        let (mut row, mut tensors, mut end) = (FileRow::new(map), Vec::with_capacity(infos.len()), 0);
        for (name, info) in infos {
            let float = float_of(info.dtype).ok_or_else(|| {
                let (name, dtype) = (quoted(&name), info.dtype);
                format!("tensor {name} is of type {dtype}; byz reads F16, BF16, F32 and F64: save it without that tensor")
            })?;
            let (from, to) = info.data_offsets;
            let count = (to - from) / float.size();
            row.push(float, start + from, float.size(), count);
            tensors.push(Tensor { name, shape: info.shape.clone(), float, columns: end..end + count });
            end += count;
        }
        let metadata = read.metadata().iter().flatten().map(|(k, v)| (k.clone(), v.clone())).collect();
        Ok(Checkpoint { layout: Layout::Checkpoint(tensors), row, metadata })
    }
}

/// The header and where the tensors start.
fn header(bytes: &[u8]) -> Result<(&[u8], usize), String> {
    if bytes.is_empty() {
        return Err("the file is empty".into());
    }
    let (length, rest) = bytes.split_first_chunk::<8>().ok_or("the file ends within its header")?;
    let claimed = u64::from_le_bytes(*length);
    let length = usize::try_from(claimed).ok().filter(|length| *length <= LONGEST_HEADER);
    let length = length.ok_or_else(|| {
        format!("its header claims {claimed} bytes, more than the format allows; is it a .safetensors file?")
    })?;
    let header = rest.get(..length).ok_or("the file ends within its header")?;
    Ok((header, 8 + length))
}

fn float_of(dtype: Dtype) -> Option<Float> {
    match dtype {
        Dtype::F16 => Some(Float::F16),
        Dtype::BF16 => Some(Float::Bf16),
        Dtype::F32 => Some(Float::F32),
        Dtype::F64 => Some(Float::F64),
        _ => None,
    }
}
