//! A ledger whose writes are queued at once and confirmed late, as a durable one may be.

use std::sync::Arc;

use paywait::{Ledger, LedgerError, Limits, MemoryLedger, Timestamp};
use paywait_ledger::{Durable, Epoch, Fingerprint, Intent, Taken};
use paywait_x402::{Money, PurchaseKey, SignedPayment};

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
    fn register(&self, limits: Limits) {
        self.inner.register(limits);
    }

    fn take(
        &self,
        key: PurchaseKey,
        fingerprint: Fingerprint,
        now: Timestamp,
    ) -> Durable<Result<Taken, LedgerError>> {
        self.inner.take(key, fingerprint, now)
    }

    fn intend(&self, intent: Intent, now: Timestamp) -> Durable<Result<Taken, LedgerError>> {
        self.confirm(Late::Intend, self.inner.intend(intent, now))
    }

    fn persist(
        &self,
        key: PurchaseKey,
        epoch: Epoch,
        payment: SignedPayment,
        now: Timestamp,
    ) -> Durable<Result<SignedPayment, LedgerError>> {
        self.confirm(Late::Persist, self.inner.persist(key, epoch, payment, now))
    }

    fn note(
        &self,
        key: PurchaseKey,
        epoch: Epoch,
        money: Money,
        now: Timestamp,
    ) -> Durable<Result<(), LedgerError>> {
        self.confirm(Late::Note, self.inner.note(key, epoch, money, now))
    }

    fn release(&self, key: PurchaseKey, epoch: Epoch, signer_asked: bool) {
        self.inner.release(key, epoch, signer_asked);
    }
}
