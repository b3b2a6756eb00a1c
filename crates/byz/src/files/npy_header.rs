//! The header of a `.npy` file: a Python dictionary with exactly three keys, read strictly.
//!
//!   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
//!
//! Only this grammar is accepted: what NumPy writes, not what Python could evaluate.

use super::{float::Float, quoted};

/// What a header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) float: Float,
    pub(super) fortran: bool,
    pub(super) shape: Vec<usize>,
}

/// Reads a header; the error is a reason for a verdict.
pub(super) fn parse(text: &str) -> Result<Header, String> {
    let mut reader = Reader { rest: text };
    let (mut descr, mut fortran, mut shape) = (None, None, None);
    reader.expect("{")?;
    while !reader.take("}") {
        let key = reader.string()?;
        reader.expect(":")?;
        let fresh = match key {
            "descr" => descr.replace(reader.descr()?).is_none(),
            "fortran_order" => fortran.replace(reader.boolean()?).is_none(),
            "shape" => shape.replace(reader.shape()?).is_none(),
            _ => return Err(format!("its header has the unknown key {}", quoted(key))),
        };
        if !fresh {
            return Err(format!("its header has the key {} twice", quoted(key)));
        }
        if !reader.take(",") {
            reader.expect("}")?;
            break;
        }
    }
    if !reader.rest.trim().is_empty() {
        return Err("its header goes on after the dictionary".into());
    }
    match (descr, fortran, shape) {
        (Some(float), Some(fortran), Some(shape)) => Ok(Header { float, fortran, shape }),
        _ => Err("its header lacks one of the keys 'descr', 'fortran_order' and 'shape'".into()),
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn take(&mut self, wanted: &str) -> bool {
        self.rest = self.rest.trim_start_matches(' ');
        let found = self.rest.strip_prefix(wanted);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn expect(&mut self, wanted: &str) -> Result<(), String> {
        if self.take(wanted) { Ok(()) } else { Err(self.wrong(&format!("'{wanted}'"))) }
    }

    fn wrong(&self, wanted: &str) -> String {
        let found: String = self.rest.chars().take(12).collect();
        format!("its header has {} where {wanted} is expected", quoted(&found))
    }

    fn string(&mut self) -> Result<&'a str, String> {
        let quote = ["'", "\""].into_iter().find(|quote| self.take(quote));
        let quote = quote.ok_or_else(|| self.wrong("a quoted word"))?;
        let (word, rest) = self.rest.split_once(quote).ok_or_else(|| self.wrong("the end of a word"))?;
        self.rest = rest;
        Ok(word)
    }

    fn boolean(&mut self) -> Result<bool, String> {
        if self.take("True") {
            return Ok(true);
        }
        if self.take("False") { Ok(false) } else { Err(self.wrong("True or False")) }
    }

    fn shape(&mut self) -> Result<Vec<usize>, String> {
        self.expect("(")?;
        let mut shape = Vec::new();
        while !self.take(")") {
            let digits = self.rest.len() - self.rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (number, rest) = self.rest.split_at(digits);
            if digits == 0 {
                return Err(self.wrong("a length"));
            }
            let length =
                number.parse().map_err(|_| format!("its shape has the length {}", quoted(number)))?;
            shape.push(length);
            self.rest = rest;
            if !self.take(",") {
                self.expect(")")?;
                if shape.len() == 1 {
                    return Err("its shape is not a tuple".into());
                }
                break;
            }
        }
        Ok(shape)
    }

    fn descr(&mut self) -> Result<Float, String> {
        if self.take("[") {
            return Err(format!("its dtype is structured; {REMEDY}"));
        }
        match self.string()? {
            "<f2" => Ok(Float::F16),
            "<f4" => Ok(Float::F32),
            "<f8" => Ok(Float::F64),
            other => Err(format!("its dtype is {}{}; {REMEDY}", quoted(other), family(other))),
        }
    }
}

const REMEDY: &str = "byz reads '<f2', '<f4' and '<f8'";

/// What NumPy calls the type, for people who do not know its letters.
fn family(descr: &str) -> &'static str {
    let mut letters = descr.chars();
    match (letters.next(), letters.next()) {
        (Some('>'), _) => " (big-endian)",
        (_, Some('i' | 'u')) => " (integer)",
        (_, Some('b')) => " (boolean)",
        (_, Some('c')) => " (complex)",
        (_, Some('O')) => " (object)",
        (_, Some('S' | 'U')) => " (text)",
        (_, Some('V')) => " (raw bytes)",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_numpy_writes() {
        let header = parse("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }       \n").unwrap();
        assert_eq!(header, Header { float: Float::F32, fortran: false, shape: vec![3, 4] });
        let header = parse("{\"shape\":(5,),\"fortran_order\":True,\"descr\":\"<f8\"}").unwrap();
        assert_eq!(header, Header { float: Float::F64, fortran: true, shape: vec![5] });
        let header = parse("{'descr': '<f2', 'fortran_order': False, 'shape': (), }").unwrap();
        assert!(header.shape.is_empty());
    }

    #[test]
    fn names_the_types_it_does_not_read() {
        for (descr, word) in [
            (">f4", "big-endian"),
            ("|O", "object"),
            ("<i8", "integer"),
            ("<c16", "complex"),
            ("|b1", "boolean"),
        ] {
            let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (1,), }}");
            let error = parse(&text).unwrap_err();
            assert!(error.contains(word) && error.contains(descr), "{error}");
        }
        let structured = "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }";
        assert!(parse(structured).unwrap_err().contains("structured"));
    }

    #[test]
    fn refuses_everything_else() {
        for text in [
            "",
            "{",
            "{'descr",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (-3,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
            "{'descr': '<f4', 'fortran_order': 0, 'shape': (3,)}",
            "{'descr': '<f4', 'fortran_order': False}",
            "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'x': 1}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)} + 1",
            "{'descr': '<f4' 'fortran_order': False, 'shape': (3,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
