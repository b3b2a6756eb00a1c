//! Plain text that fits 80 columns, whatever people name their files.

/// Columns of a line.
pub(crate) const WIDTH: usize = 80;

/// Breaks words into lines: the first starts with `first`, the others with as many spaces as `indent`.
pub(crate) fn wrap(first: &str, indent: usize, words: &str) -> String {
    let mut lines = vec![first.to_string()];
    let mut empty = true;
    for word in words.split_whitespace().flat_map(|word| pieces(word, WIDTH - indent)) {
        let line = lines.last().map_or(0, |line| width(line));
        let space = usize::from(!empty);
        if !empty && line + space + width(&word) > WIDTH {
            lines.push(" ".repeat(indent));
            empty = true;
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(if empty { "" } else { " " });
            line.push_str(&word);
        }
        empty = false;
    }
    lines.join("\n") + "\n"
}

/// A word too long for a line, in pieces that fit.
fn pieces(word: &str, most: usize) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    letters.chunks(most.max(1)).map(|piece| piece.iter().collect()).collect()
}

/// At most `most` columns: the middle gives way to a dash of dots, because names differ at their ends.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= most {
        return text.to_string();
    }
    let (head, tail) = ((most - 1) / 3, most - 1 - (most - 1) / 3);
    letters[..head].iter().chain(&['…']).chain(&letters[letters.len() - tail..]).collect()
}

/// Text from outside as it may go to a terminal: control characters become visible.
pub(crate) fn clean(text: &str) -> String {
    let shown = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(shown).collect()
}

/// Columns of a text. One per character: wide characters in a name cost alignment, nothing else.
fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_within_the_width_and_keep_every_word() {
        let words = "n ≥ 2f+1 ".repeat(30) + &"x".repeat(200);
        let text = wrap("    needs  ", 11, &words);
        assert!(text.lines().all(|line| width(line) <= WIDTH), "{text}");
        let kept: String = text.split_whitespace().skip(1).collect();
        assert_eq!(kept, words.split_whitespace().collect::<String>());
    }

    #[test]
    fn a_long_name_keeps_both_ends() {
        assert_eq!(shorten("checkpoint-worker-0017.safetensors", 16), "check…afetensors");
        assert_eq!(shorten("short.npy", 16), "short.npy");
    }

    #[test]
    fn control_characters_never_reach_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\n"), "a\\u{1b}[31mb\\n");
    }
}
