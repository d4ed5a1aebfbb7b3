//! A place in the queue, at a time.

use paywait_signals::Timestamp;

use crate::{Cost, PaceKey};

/// A place in the queue of one origin, at a time.
///
/// It takes up quota until it is confirmed or cancelled, so exactly one of the two must happen to
/// it. It is neither cloned nor made by callers: one slot is one send.
#[derive(Debug, Eq, PartialEq)]
#[must_use = "a slot takes up quota until it is confirmed or cancelled"]
pub struct Slot {
    pub(crate) key: PaceKey,
    pub(crate) cost: Cost,
    pub(crate) at: Timestamp,
    /// Where the booking stands in the order of events.
    pub(crate) stamp: u64,
    /// Booked behind the end of the window, not out of what was left in it.
    pub(crate) waits: bool,
}

impl Slot {
    /// Returns when the send may go: not sooner. It may lie far in the future.
    pub const fn at(&self) -> Timestamp {
        self.at
    }

    /// Returns whose quota it is booked on.
    pub const fn key(&self) -> &PaceKey {
        &self.key
    }

    /// Returns what it books.
    pub const fn cost(&self) -> Cost {
        self.cost
    }
}
