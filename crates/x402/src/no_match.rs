//! An offer of which no entry may be paid.

use std::fmt;

use crate::refusal::few;
use crate::{Amount, Asset, Refusal, Supported};

/// An offer of which no entry may be paid: what was offered, each with its own refusal, and what is
/// supported.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct NoMatch {
    /// All entries, in the seller's order.
    pub offered: Vec<Declined>,
    /// What would be paid.
    pub supported: Supported,
}

/// An entry that may not be paid.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Declined {
    /// Its place in the seller's list, from 0.
    pub place: usize,
    /// The token and the amount in atomic units, where the entry could be read.
    pub asked: Option<(Asset, Amount)>,
    /// Why not.
    pub why: Refusal,
}

impl NoMatch {
    /// Writes what was offered, without what is supported.
    pub(crate) fn offered(&self) -> String {
        few(&self.offered, "; ")
    }
}

/// Of a single entry its own refusal says it all.
impl fmt::Display for NoMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = self.offered.as_slice() {
            return only.why.fmt(f);
        }
        let (offered, supported) = (self.offered(), &self.supported);
        write!(
            f,
            "nothing that is offered may be paid: {offered}; supported are {supported}"
        )
    }
}

impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entry {}", self.place)?;
        if let Some((asset, amount)) = self.asked {
            write!(f, " ({amount} units of {asset})")?;
        }
        write!(f, ": {}", self.why)
    }
}
