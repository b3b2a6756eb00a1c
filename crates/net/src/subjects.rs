//! Where frames go: everyone hears `byz.NAME.down`, worker 7 alone `byz.NAME.to.7`, and only it may speak on `byz.NAME.up.7`.

use byz::Error;

/// The subjects of one federation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subjects {
    name: String,
}

impl Subjects {
    /// Those of the federation of this name.
    pub fn new(name: &str) -> Result<Subjects, Error> {
        let good = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
        // It becomes part of subjects and of the broker's configuration.
        match (1..=32).contains(&name.len()) && name.chars().all(good) {
            true => Ok(Subjects { name: name.to_string() }),
            false => Err(Error::Usage(format!(
                "network.name = {name:?}: expected 1 to 32 letters, digits, _ or -"
            ))),
        }
    }

    /// From the coordinator to all.
    pub fn down(&self) -> String {
        format!("byz.{}.down", self.name)
    }

    /// From the coordinator to one.
    pub fn to(&self, worker: usize) -> String {
        format!("byz.{}.to.{worker}", self.name)
    }

    /// From one to the coordinator.
    pub fn up(&self, worker: usize) -> String {
        format!("byz.{}.up.{worker}", self.name)
    }
}

/// Patterns, for the broker's permissions.
impl Subjects {
    /// All of [`Subjects::to`].
    pub(crate) fn everyone(&self) -> String {
        format!("byz.{}.to.*", self.name)
    }

    /// All of [`Subjects::up`].
    pub(crate) fn anyone(&self) -> String {
        format!("byz.{}.up.*", self.name)
    }
}
