//! The little language of pipelines: `name(parameter=value,…)+name+…`.
//!
//! A value runs to the next comma or closing bracket of its own level, so values may nest: `worst_of(attacks=[a(x=1),b])`.

use crate::error::{Error, Result};

/// One algorithm with its arguments, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Name or alias.
    pub name: String,
    /// Parameters and values, in the order written.
    pub arguments: Vec<(String, String)>,
}

/// Reads a pipeline: one or more calls joined by `+`.
pub fn parse(expression: &str) -> Result<Vec<Call>> {
    let mut reader = Reader { expression, position: 0 };
    let mut calls = vec![reader.call()?];
    while reader.take('+') {
        calls.push(reader.call()?);
    }
    if reader.peek().is_some() { Err(reader.expected("'+' or the end")) } else { Ok(calls) }
}

/// Splits a list of pipelines at its top-level commas.
pub fn split_list(list: &str) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0i32);
    for c in list.chars() {
        depth += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
        if c == ',' && depth == 0 {
            parts.push(String::new());
        } else {
            parts.last_mut().expect("parts starts with one").push(c);
        }
    }
    parts.iter().map(|part| part.trim().to_string()).filter(|part| !part.is_empty()).collect()
}

struct Reader<'a> {
    expression: &'a str,
    position: usize,
}

impl Reader<'_> {
    fn call(&mut self) -> Result<Call> {
        let name = self.word("a name")?;
        let mut arguments = Vec::new();
        if self.take('(') && !self.take(')') {
            loop {
                let parameter = self.word("a parameter")?;
                if !self.take('=') {
                    return Err(self.expected("'='"));
                }
                arguments.push((parameter, self.value()?));
                if self.take(')') {
                    break;
                }
                if !self.take(',') {
                    return Err(self.expected("',' or ')'"));
                }
            }
        }
        Ok(Call { name, arguments })
    }

    fn peek(&mut self) -> Option<char> {
        let rest = &self.expression[self.position..];
        self.position += rest.len() - rest.trim_start().len();
        self.expression[self.position..].chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.position += if found { wanted.len_utf8() } else { 0 };
        found
    }

    fn word(&mut self, what: &str) -> Result<String> {
        self.peek();
        let rest = &self.expression[self.position..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-')).unwrap_or(rest.len());
        if end == 0 {
            return Err(self.expected(what));
        }
        self.position += end;
        Ok(rest[..end].to_string())
    }

    fn value(&mut self) -> Result<String> {
        self.peek();
        let rest = &self.expression[self.position..];
        let mut depth = 0i32;
        let end = rest.find(|c: char| {
            let ends = depth == 0 && matches!(c, ',' | ')' | ']');
            depth += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
            ends
        });
        match end {
            None => {
                self.position = self.expression.len();
                Err(self.expected("')'"))
            }
            Some(0) => Err(self.expected("a value")),
            Some(end) => {
                self.position += end;
                Ok(rest[..end].trim().to_string())
            }
        }
    }

    fn expected(&self, what: &str) -> Error {
        let position = self.expression[..self.position].chars().count();
        Error::Syntax { expression: self.expression.to_string(), position, expected: what.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_names_arguments_and_nesting() {
        let calls =
            parse(" bucketing(size=2, seed=7) + worst_of(attacks=[a(x=1,y=2),b],k=3)+krum()").unwrap();
        assert_eq!(calls.len(), 3);
        assert_eq!(calls[0].arguments, [("size".into(), "2".into()), ("seed".into(), "7".into())]);
        assert_eq!(calls[1].arguments[0], ("attacks".into(), "[a(x=1,y=2),b]".into()));
        assert_eq!(calls[2], Call { name: "krum".into(), arguments: vec![] });
    }

    #[test]
    fn says_where_and_what_was_expected() {
        for (expression, position, expected) in [
            ("", 0, "a name"),
            ("krum+", 5, "a name"),
            ("krum(", 5, "a parameter"),
            ("krum(power)", 10, "'='"),
            ("krum(power=)", 11, "a value"),
            ("krum(power=2", 12, "')'"),
            ("krum) ", 4, "'+' or the end"),
            ("krum(power=2]", 12, "',' or ')'"),
        ] {
            let error = parse(expression).unwrap_err();
            let wanted = Error::Syntax { expression: expression.into(), position, expected: expected.into() };
            assert_eq!(error, wanted, "{expression}");
        }
    }

    #[test]
    fn lists_split_only_at_the_top_level() {
        assert_eq!(split_list("a, b(x=1,y=2) ,c+d"), ["a", "b(x=1,y=2)", "c+d"]);
    }
}
