//! The signing domain of a token, as EIP-712 names it.

use std::fmt;

/// The name and the version of a token's EIP-712 signing domain.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub struct Domain {
    /// The contract's own `name`, to the letter.
    pub name: String,
    /// The contract's own `version`, to the letter.
    pub version: String,
}

impl Domain {
    /// Returns the domain of this name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
        }
    }
}

/// Quoted and cut short: a seller may write here what it likes.
impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [name, version] = [&self.name, &self.version].map(|text| shown(text));
        write!(f, "{name:?} version {version:?}")
    }
}

fn shown(text: &str) -> &str {
    text.get(..text.floor_char_boundary(LONGEST_SHOWN))
        .unwrap_or(text)
}

const LONGEST_SHOWN: usize = 64;
