//! Why a decision was taken: the normative one-word names.

use std::fmt;

/// Why a decision was taken. Each decision has exactly one.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Reason {
    /// 409: an identifier or a state conflicts.
    Conflict,
    /// 429 or 403 on the client's own window.
    RateLimited,
    /// A payable 402.
    PaymentOffer,
    // The rest of the table of section 2 is filled in by the classifier's author.
    /// Any other status.
    Http(u16),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict => f.write_str("conflict"),
            Self::RateLimited => f.write_str("rate_limited"),
            Self::PaymentOffer => f.write_str("payment_offer"),
            Self::Http(status) => write!(f, "http_{status}"),
        }
    }
}
