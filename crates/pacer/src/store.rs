//! Where quotas are kept: the contract of a store.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use paywait_signals::Timestamp;

use crate::{Cost, PaceKey, Permit, Seen, Slot};

/// What a store answers with: it may have to ask somebody else.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Where quotas are kept, for one process or for a fleet.
///
/// # Contract
///
/// * Every [`Slot`] that [`admit`](Self::admit) books ends in [`confirm`](Self::confirm) or
///   [`cancel`](Self::cancel), also the moved one that `confirm` gives back. Every [`Permit`] ends
///   in [`observe`](Self::observe), [`spend`](Self::spend) or [`release`](Self::release). A
///   handle that is dropped instead keeps its place; a store for a fleet lets it lapse.
/// * A store holds back, it never fails: one that cannot reach its backend answers from what it
///   knows by itself, and if that is nothing with a slot at `now`. Pacing is a courtesy to the
///   server; a wrong answer costs a refusal, never money.
/// * It never answers sooner than a reply has told it.
/// * `now` comes from the caller's clock and may step back; no store panics on it.
/// * A future of `admit` that is dropped before it is ready has booked nothing, or what it booked
///   lapses. A future of `confirm` or `observe` owns its handle: it is run to its end.
/// * `cancel`, `release` and `spend` are called on drop. They neither block on I/O nor need a
///   runtime: a store that must tell somebody else queues it.
pub trait QuotaStore: fmt::Debug + Send + Sync {
    /// Books a slot for a send of `cost`.
    fn admit<'a>(&'a self, key: &'a PaceKey, cost: Cost, now: Timestamp) -> StoreFuture<'a, Slot>;

    /// Turns a slot into the permit for one send, or gives it back with the time it moved to.
    fn confirm(&self, slot: Slot, now: Timestamp) -> StoreFuture<'_, Result<Permit, Slot>>;

    /// Takes in what a reply said, and ends the permit that its send went out under.
    fn observe<'a>(
        &'a self,
        key: &'a PaceKey,
        permit: Option<Permit>,
        seen: Seen,
        now: Timestamp,
    ) -> StoreFuture<'a, ()>;

    /// Counts a send that happened without asking.
    fn book<'a>(&'a self, key: &'a PaceKey, cost: Cost, now: Timestamp) -> StoreFuture<'a, ()>;

    /// Gives back a slot that is not wanted any more.
    fn cancel(&self, slot: Slot);

    /// Gives back a permit under which nothing was sent.
    fn release(&self, permit: Permit);

    /// Ends a permit under which something was sent and no reply came.
    fn spend(&self, permit: Permit);
}
