//! A ledger that is slow, or fails at one kind of its writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use paywait::{Ledger, LedgerError, Limits, MemoryLedger, StoreError, Timestamp};
use paywait_ledger::{
    Durable, Fingerprint, Intent, Line, Note, Origin, Owner, Record, Resolution, Taken,
};
use paywait_x402::alloy_primitives::Address;
use paywait_x402::{Asset, PurchaseKey, SignedPayment};

/// At which write it fails, and what has become of the write by then.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Fails {
    /// The intent is not written.
    Intend,
    /// The signed bytes are not written.
    Persist,
    /// The signed bytes are written, and nobody hears of it.
    PersistUnheard,
    /// What became known of the money is not written.
    Note,
}

/// A ledger over one in memory that confirms each write a moment later, and fails at some.
#[derive(Debug)]
pub(crate) struct OddLedger {
    inner: Arc<MemoryLedger>,
    fails: Option<Fails>,
    times: AtomicUsize,
}

impl OddLedger {
    /// Returns a ledger that fails `times` times.
    pub(crate) fn failing(inner: &Arc<MemoryLedger>, fails: Fails, times: usize) -> Self {
        Self {
            inner: Arc::clone(inner),
            fails: Some(fails),
            times: AtomicUsize::new(times),
        }
    }

    /// Returns a ledger that is slow alone.
    pub(crate) fn slow(inner: &Arc<MemoryLedger>) -> Self {
        Self {
            inner: Arc::clone(inner),
            fails: None,
            times: AtomicUsize::new(0),
        }
    }

    fn fails(&self, at: Fails) -> bool {
        let fewer = |times: usize| times.checked_sub(1);
        let order = Ordering::SeqCst;
        self.fails == Some(at) && self.times.fetch_update(order, order, fewer).is_ok()
    }
}

/// Confirms a write that was queued when it was called.
fn later<T: Send + 'static>(write: Durable<T>) -> Durable<T> {
    Box::pin(async move {
        let written = write.await;
        tokio::task::yield_now().await;
        written
    })
}

fn failed<T: Send + 'static>() -> Durable<Result<T, LedgerError>> {
    later(Box::pin(std::future::ready(Err(LedgerError::Store(
        StoreError::Full,
    )))))
}

impl Ledger for OddLedger {
    fn register(&self, limits: &Limits) {
        self.inner.register(limits);
    }

    fn forgets_at_restart(&self) -> bool {
        self.inner.forgets_at_restart()
    }

    fn take(
        &self,
        key: PurchaseKey,
        fingerprint: Fingerprint,
        owner: Owner,
        now: Timestamp,
    ) -> Durable<Result<Taken, LedgerError>> {
        later(self.inner.take(key, fingerprint, owner, now))
    }

    fn intend(
        &self,
        intent: Intent,
        owner: Owner,
        now: Timestamp,
    ) -> Durable<Result<Taken, LedgerError>> {
        if self.fails(Fails::Intend) {
            return failed();
        }
        later(self.inner.intend(intent, owner, now))
    }

    fn persist(
        &self,
        key: PurchaseKey,
        owner: Owner,
        payment: SignedPayment,
        now: Timestamp,
    ) -> Durable<Result<SignedPayment, LedgerError>> {
        if self.fails(Fails::Persist) {
            return failed();
        }
        let written = self.inner.persist(key, owner, payment, now);
        if self.fails(Fails::PersistUnheard) {
            return failed();
        }
        later(written)
    }

    fn note(
        &self,
        key: PurchaseKey,
        owner: Owner,
        note: Note,
        now: Timestamp,
    ) -> Durable<Result<(), LedgerError>> {
        if self.fails(Fails::Note) {
            return failed();
        }
        later(self.inner.note(key, owner, note, now))
    }

    fn renew(
        &self,
        key: PurchaseKey,
        owner: Owner,
        now: Timestamp,
    ) -> Durable<Result<(), LedgerError>> {
        self.inner.renew(key, owner, now)
    }

    fn release(&self, key: PurchaseKey, owner: Owner, signer_asked: bool) {
        self.inner.release(key, owner, signer_asked);
    }

    fn open_purchases(&self) -> Durable<Result<Vec<Record>, LedgerError>> {
        self.inner.open_purchases()
    }

    fn resolve(
        &self,
        key: PurchaseKey,
        resolution: Resolution,
        now: Timestamp,
    ) -> Durable<Result<(), LedgerError>> {
        self.inner.resolve(key, resolution, now)
    }

    fn halt(&self, halted: bool) -> Durable<Result<(), LedgerError>> {
        self.inner.halt(halted)
    }

    fn unpin(&self, origin: Origin, asset: Asset) -> Durable<Result<Option<Address>, LedgerError>> {
        self.inner.unpin(origin, asset)
    }

    fn lines(
        &self,
        since: Timestamp,
        until: Timestamp,
        now: Timestamp,
    ) -> Durable<Result<Vec<Line>, LedgerError>> {
        self.inner.lines(since, until, now)
    }
}
