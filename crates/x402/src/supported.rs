//! What a policy would pay with.

use std::fmt;

use crate::refusal::list;
use crate::{Network, Token};

/// What a policy would pay with, for a seller or a person that was refused.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Supported {
    /// The networks to pay on.
    pub networks: Vec<Network>,
    /// The tokens that are paid there.
    pub tokens: Vec<Token>,
}

impl fmt::Display for Supported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (networks, tokens) = (list(&self.networks), list(&self.tokens));
        write!(f, "networks {networks}; tokens {tokens}")
    }
}
