//! What became known of a purchase, to be written.

use std::fmt;
use std::sync::Arc;

use paywait_x402::Money;

/// What became known of a purchase, to be written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Note {
    /// What is known of the money.
    pub money: Money,
    /// How often the payment was shown.
    pub shown: u32,
    /// Whether what was paid for has come.
    pub delivered: bool,
    /// The transaction that a receipt named.
    pub transaction: Option<String>,
    /// What was paid for, to be kept.
    pub kept: Option<Arc<Kept>>,
}

impl Note {
    /// Returns a note on the money of a payment that was shown so often.
    pub const fn new(money: Money, shown: u32) -> Self {
        Self {
            money,
            shown,
            delivered: false,
            transaction: None,
            kept: None,
        }
    }

    /// Says whether what was paid for has come.
    #[must_use]
    pub const fn delivered(mut self, delivered: bool) -> Self {
        self.delivered = delivered;
        self
    }

    /// Names the transaction of a receipt.
    #[must_use]
    pub fn transaction(mut self, transaction: Option<String>) -> Self {
        self.transaction = transaction;
        self
    }

    /// Has what was paid for kept.
    #[must_use]
    pub fn kept(mut self, kept: Option<Arc<Kept>>) -> Self {
        self.kept = kept;
        self
    }
}

/// A paid response as it is kept, so that a crash after it came loses nothing.
#[derive(Clone, Eq, PartialEq)]
#[non_exhaustive]
pub struct Kept {
    /// The status.
    pub status: u16,
    /// The header fields, in their order.
    pub fields: Vec<(String, Vec<u8>)>,
    /// The body, whole.
    pub body: Vec<u8>,
}

impl Kept {
    /// Returns a response to keep.
    pub const fn new(status: u16, fields: Vec<(String, Vec<u8>)>, body: Vec<u8>) -> Self {
        Self {
            status,
            fields,
            body,
        }
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept")
            .field("status", &self.status)
            .field("body", &self.body.len())
            .finish_non_exhaustive()
    }
}
