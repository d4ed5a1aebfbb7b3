//! A ledger in the memory of one process.

use std::sync::{Mutex, MutexGuard, PoisonError};

use paywait_signals::Timestamp;
use paywait_x402::{Money, PurchaseKey, SignedPayment, Usd};

use crate::books::Books;
use crate::{Durable, Epoch, Fingerprint, Intent, Ledger, LedgerError, Limits, Taken};

/// A ledger in the memory of one process.
///
/// Clients that share it share its limits. A restart forgets what was spent today and which keys
/// were used.
#[derive(Debug, Default)]
pub struct MemoryLedger {
    books: Mutex<Books>,
}

impl MemoryLedger {
    /// Returns an empty ledger without limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns what counts against the day at `now`, in dollars: settled, held and presumed.
    pub fn used_today(&self, now: Timestamp) -> Usd {
        self.books().used(now)
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        // each method leaves the books whole before it can panic, so a poisoned lock hides nothing
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ledger for MemoryLedger {
    fn register(&self, limits: Limits) {
        self.books().register(limits);
    }

    fn take(
        &self,
        key: PurchaseKey,
        fingerprint: Fingerprint,
        _now: Timestamp,
    ) -> Durable<Result<Taken, LedgerError>> {
        done(self.books().take(key, fingerprint))
    }

    fn intend(&self, intent: Intent, now: Timestamp) -> Durable<Result<Taken, LedgerError>> {
        done(self.books().intend(intent, now))
    }

    fn persist(
        &self,
        key: PurchaseKey,
        epoch: Epoch,
        payment: SignedPayment,
        _now: Timestamp,
    ) -> Durable<Result<SignedPayment, LedgerError>> {
        done(self.books().persist(key, epoch, payment))
    }

    fn note(
        &self,
        key: PurchaseKey,
        epoch: Epoch,
        money: Money,
        now: Timestamp,
    ) -> Durable<Result<(), LedgerError>> {
        done(self.books().note(key, epoch, money, now))
    }

    fn release(&self, key: PurchaseKey, epoch: Epoch, signer_asked: bool) {
        self.books().release(key, epoch, signer_asked);
    }
}

fn done<T: Send + 'static>(value: T) -> Durable<T> {
    Box::pin(std::future::ready(value))
}
