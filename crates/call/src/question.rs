//! What is asked outside before an offer is accepted: the payer's balances, and a yes.

use std::fmt;

use paywait_x402::{Asset, Quote};

/// What is asked outside before an offer is accepted.
#[derive(Clone, Debug)]
pub(crate) enum Question {
    /// What the payer has of the tokens that could be paid with.
    Balances(Vec<Asset>),
    /// Whether this may be signed.
    Approval(Box<Quote>),
}

/// Why what was asked about is not approved.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum NotApproved {
    /// The answer was no.
    Denied,
    /// There was an error in place of an answer.
    Failed,
    /// There was no answer in time.
    Late,
}

impl fmt::Display for NotApproved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Denied => "the answer was no",
            Self::Failed => "whoever approves failed",
            Self::Late => "there was no answer in time",
        })
    }
}
