//! A ledger whose writes are queued at once and confirmed late, as a durable one may be.

use std::sync::Arc;

use paywait::{Ledger, LedgerError, Limits, MemoryLedger, Timestamp};
use paywait_ledger::{
    Durable, Fingerprint, Intent, Line, Note, Origin, Owner, Record, Resolution, Taken,
};
use paywait_x402::alloy_primitives::Address;
use paywait_x402::{Asset, PurchaseKey, SignedPayment};

/// Which write is never confirmed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Late {
    Intend,
    Persist,
    Note,
}

/// A ledger that queues its writes at once and never confirms one kind of them.
#[derive(Debug)]
pub(crate) struct SlowLedger {
    pub(crate) inner: Arc<MemoryLedger>,
    pub(crate) late: Late,
}

impl SlowLedger {
    fn confirm<T: Send + 'static>(&self, kind: Late, write: Durable<T>) -> Durable<T> {
        if self.late == kind {
            Box::pin(std::future::pending())
        } else {
            write
        }
    }
}

impl Ledger for SlowLedger {
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
        self.inner.take(key, fingerprint, owner, now)
    }

    fn intend(
        &self,
        intent: Intent,
        owner: Owner,
        now: Timestamp,
    ) -> Durable<Result<Taken, LedgerError>> {
        self.confirm(Late::Intend, self.inner.intend(intent, owner, now))
    }

    fn persist(
        &self,
        key: PurchaseKey,
        owner: Owner,
        payment: SignedPayment,
        now: Timestamp,
    ) -> Durable<Result<SignedPayment, LedgerError>> {
        self.confirm(Late::Persist, self.inner.persist(key, owner, payment, now))
    }

    fn note(
        &self,
        key: PurchaseKey,
        owner: Owner,
        note: Note,
        now: Timestamp,
    ) -> Durable<Result<(), LedgerError>> {
        self.confirm(Late::Note, self.inner.note(key, owner, note, now))
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
