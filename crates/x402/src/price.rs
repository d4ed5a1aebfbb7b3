//! What an entry costs.

use std::fmt;

use crate::{Amount, Asset, Usd};

/// What an entry costs, once a policy allows it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub struct Price {
    /// The token.
    pub asset: Asset,
    /// How much of it, in its atomic units.
    pub amount: Amount,
    /// The same in dollars, rounded up; none where the token is no known dollar token, and is counted
    /// in its own units only.
    pub usd: Option<Usd>,
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.usd {
            Some(usd) => write!(f, "{usd} USD"),
            None => write!(f, "{} units of {}", self.amount, self.asset),
        }
    }
}
