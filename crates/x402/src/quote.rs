//! What is about to be signed, for a person.

use std::fmt;
use std::time::Duration;

use alloy_primitives::Address;

use crate::{Amount, PaymentFlow, Token, Usd};

/// What is about to be signed, in plain fields. It has no secrets.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Quote {
    /// The token: its contract and network, and what people call it.
    pub token: Token,
    /// How much of it, in its atomic units.
    pub amount: Amount,
    /// The same in dollars, rounded up; none where the token is no known dollar token.
    pub usd: Option<Usd>,
    /// Who is paid.
    pub pay_to: Address,
    /// How long the authorization will be valid.
    pub valid_for: Duration,
    /// When the seller settles.
    pub flow: PaymentFlow,
}

impl Quote {
    /// Returns whether a yes to this is a yes to `other`: the same token, payee and flow, for no more.
    pub fn covers(&self, other: &Self) -> bool {
        let same_token = self.token.asset == other.token.asset;
        let same = same_token && self.pay_to == other.pay_to && self.flow == other.flow;
        same && other.amount <= self.amount
    }
}

impl fmt::Display for Quote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (amount, network) = (self.token.display(self.amount), self.token.asset.network);
        write!(f, "{amount} on {network} to {}", self.pay_to)
    }
}
