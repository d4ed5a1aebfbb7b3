//! A ledger in the memory of one process.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use paywait_signals::Timestamp;
use paywait_x402::{PurchaseKey, SignedPayment, Usd};

use crate::books::{Books, Bounds};
use crate::shelf::Shelf;
use crate::{
    Durable, Fingerprint, Intent, Ledger, LedgerError, Limits, Note, Owner, Record, Resolution,
    Taken,
};

/// A ledger in the memory of one process.
///
/// Clients that share it share its limits. A restart forgets what was spent today and which keys
/// were used.
#[derive(Debug, Default)]
pub struct MemoryLedger {
    memory: Mutex<(Memory, Bounds)>,
}

impl MemoryLedger {
    /// Returns an empty ledger without limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns what counts against the day at `now`, in dollars: settled, held and presumed.
    pub fn used_today(&self, now: Timestamp) -> Usd {
        // memory does not fail
        self.with(|books| books.used(now)).unwrap_or(Usd::ZERO)
    }

    fn with<T>(&self, change: impl FnOnce(&mut Books<'_, Memory>) -> T) -> T {
        let (shelf, limits) = &mut *self.locked();
        change(&mut Books { shelf, limits })
    }

    fn locked(&self) -> MutexGuard<'_, (Memory, Bounds)> {
        // each method decides before it writes, so a poisoned lock hides nothing
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ledger for MemoryLedger {
    fn register(&self, limits: Limits) {
        self.locked().1.register(limits);
    }

    fn take(
        &self,
        key: PurchaseKey,
        fingerprint: Fingerprint,
        owner: Owner,
        now: Timestamp,
    ) -> Durable<Result<Taken, LedgerError>> {
        done(self.with(|books| books.take(key, fingerprint, owner, now)))
    }

    fn intend(
        &self,
        intent: Intent,
        owner: Owner,
        now: Timestamp,
    ) -> Durable<Result<Taken, LedgerError>> {
        done(self.with(|books| books.intend(intent, owner, now)))
    }

    fn persist(
        &self,
        key: PurchaseKey,
        owner: Owner,
        payment: SignedPayment,
        now: Timestamp,
    ) -> Durable<Result<SignedPayment, LedgerError>> {
        done(self.with(|books| books.persist(key, owner, payment, now)))
    }

    fn note(
        &self,
        key: PurchaseKey,
        owner: Owner,
        note: Note,
        now: Timestamp,
    ) -> Durable<Result<(), LedgerError>> {
        done(self.with(|books| books.note(key, owner, note, now)))
    }

    fn renew(
        &self,
        key: PurchaseKey,
        owner: Owner,
        now: Timestamp,
    ) -> Durable<Result<(), LedgerError>> {
        done(self.with(|books| books.renew(key, owner, now)))
    }

    fn release(&self, key: PurchaseKey, owner: Owner, signer_asked: bool) {
        // memory does not fail
        self.with(|books| books.release(key, owner, signer_asked))
            .ok();
    }

    fn open_purchases(&self) -> Durable<Result<Vec<Record>, LedgerError>> {
        done(self.with(|books| books.shelf.open()))
    }

    fn resolve(
        &self,
        key: PurchaseKey,
        resolution: Resolution,
        now: Timestamp,
    ) -> Durable<Result<(), LedgerError>> {
        done(self.with(|books| books.resolve(key, resolution, now)))
    }
}

fn done<T: Send + 'static>(value: T) -> Durable<T> {
    Box::pin(std::future::ready(value))
}

/// Records by key, and the ways in which they are looked for.
#[derive(Debug, Default)]
struct Memory {
    records: BTreeMap<PurchaseKey, Record>,
    /// When each record stops counting.
    counted: BTreeSet<(Timestamp, PurchaseKey)>,
    left_behind: BTreeSet<(Fingerprint, PurchaseKey)>,
    used: Usd,
}

impl Shelf for Memory {
    fn get(&mut self, key: PurchaseKey) -> Result<Option<Record>, LedgerError> {
        Ok(self.records.get(&key).cloned())
    }

    fn put(&mut self, record: Record) -> Result<(), LedgerError> {
        let key = record.key;
        self.remove(key)?;
        if record.counted {
            self.counted.insert((record.counts_until, key));
        }
        if record.is_left_behind() {
            self.left_behind.insert((record.fingerprint, key));
        }
        self.records.insert(key, record);
        Ok(())
    }

    fn remove(&mut self, key: PurchaseKey) -> Result<(), LedgerError> {
        if let Some(before) = self.records.remove(&key) {
            self.counted.remove(&(before.counts_until, key));
            self.left_behind.remove(&(before.fingerprint, key));
        }
        Ok(())
    }

    fn used(&mut self) -> Result<Usd, LedgerError> {
        Ok(self.used)
    }

    fn set_used(&mut self, used: Usd) -> Result<(), LedgerError> {
        self.used = used;
        Ok(())
    }

    fn due(&mut self, now: Timestamp) -> Result<Option<Record>, LedgerError> {
        let first = self.counted.first().filter(|(until, _)| *until <= now);
        Ok(first.and_then(|(_, key)| self.records.get(key).cloned()))
    }

    fn counted(&mut self) -> Result<Vec<(Timestamp, PurchaseKey, Usd)>, LedgerError> {
        let counted = self.counted.iter();
        Ok(counted
            .filter_map(|(until, key)| Some((*until, *key, self.records.get(key)?.stake.price)))
            .collect())
    }

    fn left_behind(&mut self, fingerprint: Fingerprint) -> Result<Vec<Record>, LedgerError> {
        let first = (fingerprint, PurchaseKey::from_bytes([0; 32]));
        let of_request = self
            .left_behind
            .range(first..)
            .take_while(|(other, _)| *other == fingerprint);
        Ok(of_request
            .filter_map(|(_, key)| self.records.get(key).cloned())
            .collect())
    }

    fn open(&mut self) -> Result<Vec<Record>, LedgerError> {
        let open = self.records.values().filter(|record| record.is_open());
        Ok(open.cloned().collect())
    }
}
