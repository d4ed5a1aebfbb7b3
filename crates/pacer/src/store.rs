//! Where a pacer is kept.

use std::fmt;
use std::pin::Pin;

use paywait_signals::Timestamp;

use crate::{Cost, PaceKey, Permit, Seen, Slot};

/// What a store answers, once it can.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Where a pacer is kept: in this process, or where a fleet shares it.
///
/// # Contract
///
/// The rules are those of [`Pacer`](crate::Pacer), each method one atomic step. A send that is let
/// go too early costs a refusal; one that is let go too late costs time. A store that does not know
/// lets it go.
///
/// # Cancel safety
///
/// A future that is dropped before it is ready has either taken its step or not. [`cancel`] and
/// [`release`] are called on drop: they must not block.
///
/// [`cancel`]: Self::cancel
/// [`release`]: Self::release
pub trait QuotaStore: fmt::Debug + Send + Sync {
    /// Books a slot for one send.
    fn admit<'a>(&'a self, key: &'a PaceKey, cost: Cost, now: Timestamp) -> Answer<'a, Slot>;

    /// Turns a slot whose time has come into a permit, or moves it.
    fn confirm(&self, slot: Slot, now: Timestamp) -> Answer<'_, Result<Permit, Slot>>;

    /// Takes what a reply says, and the permit of its request.
    fn observe<'a>(
        &'a self,
        key: &'a PaceKey,
        permit: Option<Permit>,
        seen: Seen,
        now: Timestamp,
    ) -> Answer<'a, ()>;

    /// Counts a send that went without a permit.
    fn book<'a>(&'a self, key: &'a PaceKey, cost: Cost, now: Timestamp) -> Answer<'a, ()>;

    /// Gives back a slot that is not wanted.
    fn cancel(&self, slot: Slot);

    /// Gives back a permit with which nothing was sent.
    fn release(&self, permit: Permit);
}
