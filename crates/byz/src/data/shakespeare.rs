//! Tiny Shakespeare: a million characters of the plays, 65 different ones.
//!
//! Reference: Karpathy: "The unreasonable effectiveness of recurrent neural networks", 2015.

use super::{Directory, manifest};
use crate::error::{Error, Result};

/// Reads the text.
pub fn shakespeare(directory: &Directory) -> Result<String> {
    let (path, content) = directory.read(&manifest::SHAKESPEARE)?;
    String::from_utf8(content).map_err(|error| Error::file(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeSet, path::Path};

    #[test]
    fn has_sixty_five_characters_where_the_data_is() {
        let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
        if !shared.is_dir() {
            return;
        }
        let text = shakespeare(&Directory::at(shared)).unwrap();
        assert!(text.starts_with("First Citizen:\nBefore we proceed"));
        assert_eq!(text.chars().collect::<BTreeSet<char>>().len(), 65);
    }
}
