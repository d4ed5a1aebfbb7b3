//! Quotas of one process.

use std::sync::{Mutex, MutexGuard, PoisonError};

use paywait_signals::Timestamp;

use crate::{Cost, PaceKey, Pacer, Permit, QuotaStore, Seen, Slot, StoreFuture};

/// Quotas of one process: a [`Pacer`] behind a lock that is never held across an await.
#[derive(Debug, Default)]
pub struct MemoryStore {
    pacer: Mutex<Pacer>,
}

impl MemoryStore {
    /// Returns a store that knows nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a store around `pacer`.
    pub const fn with_pacer(pacer: Pacer) -> Self {
        Self {
            pacer: Mutex::new(pacer),
        }
    }

    /// Returns how many sends are known: the permits handed out and not given back, and what went
    /// without asking.
    pub fn admissions(&self) -> u64 {
        self.pacer().admissions()
    }

    fn pacer(&self) -> MutexGuard<'_, Pacer> {
        // a pacer is whole between any two of its steps: what a panic left is as good as before
        self.pacer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QuotaStore for MemoryStore {
    fn admit<'a>(&'a self, key: &'a PaceKey, cost: Cost, now: Timestamp) -> StoreFuture<'a, Slot> {
        Box::pin(async move { self.pacer().admit(key, cost, now) })
    }

    fn confirm(&self, slot: Slot, now: Timestamp) -> StoreFuture<'_, Result<Permit, Slot>> {
        Box::pin(async move { self.pacer().confirm(slot, now) })
    }

    fn observe<'a>(
        &'a self,
        key: &'a PaceKey,
        permit: Option<Permit>,
        seen: Seen,
        now: Timestamp,
    ) -> StoreFuture<'a, ()> {
        Box::pin(async move { self.pacer().observe(key, permit, &seen, now) })
    }

    fn book<'a>(&'a self, key: &'a PaceKey, cost: Cost, now: Timestamp) -> StoreFuture<'a, ()> {
        Box::pin(async move { self.pacer().book(key, cost, now) })
    }

    fn cancel(&self, slot: Slot) {
        self.pacer().cancel(slot);
    }

    fn release(&self, permit: Permit) {
        self.pacer().release(permit);
    }

    fn spend(&self, permit: Permit) {
        self.pacer().spend(permit);
    }
}
