//! Leave for one send, now.

use paywait_signals::Timestamp;

use crate::{Cost, PaceKey};

/// Leave for one send, now.
///
/// It ends in exactly one of three ways: a reply is observed with it, it is spent (something was
/// sent and no reply came), or it is released (nothing was sent).
#[derive(Debug, Eq, PartialEq)]
#[must_use = "a permit takes up quota until it is observed, spent or released"]
pub struct Permit {
    pub(crate) key: PaceKey,
    pub(crate) cost: Cost,
    /// No byte of the send left before this moment.
    pub(crate) since: Timestamp,
    /// Where the permit stands in the order of events.
    pub(crate) stamp: u64,
    /// The generation of its lane that counts it.
    pub(crate) generation: u64,
}

impl Permit {
    /// Returns whose quota it takes up.
    pub const fn key(&self) -> &PaceKey {
        &self.key
    }

    /// Returns what it takes up.
    pub const fn cost(&self) -> Cost {
        self.cost
    }
}
