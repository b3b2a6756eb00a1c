//! A text as numbered characters, cut into blocks.
//!
//! The vocabulary is the sorted characters of the whole text. The first 90 % are for training, the rest for validation;
//! each part is cut into ⌊(characters − 1)/T⌋ blocks that follow one another, input x[0..T] and target x[1..T+1].

use crate::error::{Error, Result};
use std::collections::BTreeSet;

/// The text.
#[derive(Clone, Debug)]
pub(super) struct Text {
    training: Vec<u32>,
    validation: Vec<u32>,
    pub(super) vocabulary: usize,
    pub(super) block: usize,
}

/// Which part of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Training,
    Validation,
}

impl Text {
    pub(super) fn new(text: &str, block: usize) -> Result<Text> {
        let characters: Vec<char> = text.chars().collect();
        let known: BTreeSet<char> = characters.iter().copied().collect();
        let known: Vec<char> = known.into_iter().collect();
        let number = |character| known.binary_search(character).unwrap_or_default() as u32;
        let numbers: Vec<u32> = characters.iter().map(number).collect();
        // In whole numbers, because 0.9 is not a binary fraction.
        let (training, validation) = numbers.split_at(numbers.len() * 9 / 10);
        let text = Text {
            training: training.to_vec(),
            validation: validation.to_vec(),
            vocabulary: known.len(),
            block,
        };
        if text.count(Part::Validation) == 0 {
            let length = characters.len();
            return Err(Error::Usage(format!(
                "a text of {length} characters has no validation block of {block}: use a longer text or a shorter block"
            )));
        }
        Ok(text)
    }

    fn part(&self, part: Part) -> &[u32] {
        match part {
            Part::Training => &self.training,
            Part::Validation => &self.validation,
        }
    }

    /// Blocks of this part.
    pub(super) fn count(&self, part: Part) -> usize {
        self.part(part).len().saturating_sub(1) / self.block
    }

    /// Inputs and targets of one block.
    pub(super) fn block(&self, part: Part, index: usize) -> (&[u32], &[u32]) {
        let characters = &self.part(part)[index * self.block..][..self.block + 1];
        (&characters[..self.block], &characters[1..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_follow_one_another_and_targets_are_the_next_characters() {
        let text = Text::new("abcabcabcabcabcabcabcdabcabcab", 2).unwrap();
        assert_eq!((text.vocabulary, text.count(Part::Training), text.count(Part::Validation)), (4, 13, 1));
        assert_eq!(text.block(Part::Training, 1), (&[2, 0][..], &[0, 1][..]));
        assert_eq!(text.block(Part::Validation, 0), (&[2, 0][..], &[0, 1][..]));
    }

    #[test]
    fn a_text_too_short_to_validate_on_is_refused() {
        assert!(Text::new("to be or not to be", 8).is_err());
        assert!(Text::new("", 8).is_err());
    }
}
