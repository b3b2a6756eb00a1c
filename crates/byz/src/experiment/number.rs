//! Numbers that JSON does not have: an infinite perplexity is written as the text "inf" and read back as what it is.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Number(f64),
    Text(String),
}

impl From<f64> for Written {
    fn from(value: f64) -> Written {
        if value.is_finite() { Written::Number(value) } else { Written::Text(value.to_string()) }
    }
}

impl Written {
    fn value(self) -> Result<f64, String> {
        match self {
            Written::Number(value) => Ok(value),
            Written::Text(text) => text.parse().map_err(|_| format!("{text:?} is no number")),
        }
    }
}

/// For a number that may be missing.
pub(super) mod optional {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(value: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
        value.map(Written::from).serialize(to)
    }

    pub(crate) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Option<f64>, D::Error> {
        let written: Option<Written> = Option::deserialize(from)?;
        written.map(Written::value).transpose().map_err(serde::de::Error::custom)
    }
}

pub(super) fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
    Written::from(*value).serialize(to)
}

pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<f64, D::Error> {
    Written::deserialize(from)?.value().map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Both {
        #[serde(with = "super")]
        plain: f64,
        #[serde(with = "super::optional", default)]
        optional: Option<f64>,
    }

    #[test]
    fn every_number_comes_back() {
        for plain in [0.0, -1.5, 1e300, f64::INFINITY, f64::NEG_INFINITY] {
            for optional in [None, Some(2.0), Some(f64::INFINITY)] {
                let both = Both { plain, optional };
                let text = serde_json::to_string(&both).unwrap();
                assert_eq!(serde_json::from_str::<Both>(&text).unwrap(), both, "{text}");
            }
        }
        assert_eq!(serde_json::from_str::<Both>(r#"{"plain":1}"#).unwrap().optional, None);
        assert!(serde_json::from_str::<Both>(r#"{"plain":"bananas"}"#).is_err());
    }
}
