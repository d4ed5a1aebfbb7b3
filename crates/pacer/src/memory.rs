//! A pacer in the memory of one process.

use std::sync::{Mutex, MutexGuard, PoisonError};

use paywait_signals::Timestamp;

use crate::{Answer, Cost, PaceKey, Pacer, Permit, QuotaStore, Seen, Slot};

/// A pacer in the memory of one process. Clients that share it share what they know.
#[derive(Debug, Default)]
pub struct MemoryStore {
    pacer: Mutex<Pacer>,
}

impl MemoryStore {
    /// Returns a store that knows nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns how many sends were let go, less those that did not take place.
    pub fn admissions(&self) -> u64 {
        self.pacer().admissions()
    }

    fn pacer(&self) -> MutexGuard<'_, Pacer> {
        // no step of a pacer panics half way
        self.pacer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QuotaStore for MemoryStore {
    fn admit<'a>(&'a self, key: &'a PaceKey, cost: Cost, now: Timestamp) -> Answer<'a, Slot> {
        done(self.pacer().admit(key, cost, now))
    }

    fn confirm(&self, slot: Slot, now: Timestamp) -> Answer<'_, Result<Permit, Slot>> {
        done(self.pacer().confirm(slot, now))
    }

    fn observe<'a>(
        &'a self,
        key: &'a PaceKey,
        permit: Option<Permit>,
        seen: Seen,
        now: Timestamp,
    ) -> Answer<'a, ()> {
        self.pacer().observe(key, permit, &seen, now);
        done(())
    }

    fn book<'a>(&'a self, key: &'a PaceKey, cost: Cost, now: Timestamp) -> Answer<'a, ()> {
        self.pacer().book(key, cost, now);
        done(())
    }

    fn cancel(&self, slot: Slot) {
        self.pacer().cancel(slot);
    }

    fn release(&self, permit: Permit) {
        self.pacer().release(permit);
    }
}

fn done<'a, T: Send + 'a>(value: T) -> Answer<'a, T> {
    Box::pin(std::future::ready(value))
}
