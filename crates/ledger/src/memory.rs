//! A ledger in the memory of one process.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use paywait_signals::Timestamp;
use paywait_x402::alloy_primitives::{Address, U256};
use paywait_x402::{Asset, PurchaseKey, SignedPayment, Usd};

use crate::books::Books;
use crate::bounds::Bounds;
use crate::line::lines;
use crate::meter::Meter;
use crate::shelf::Shelf;
use crate::sums::Shares;
use crate::term::Term;
use crate::{
    Durable, Fingerprint, Intent, Ledger, LedgerError, Limits, Line, Note, Origin, Owner, Record,
    Resolution, Taken,
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
        let (shelf, bounds) = &mut *self.locked();
        change(&mut Books { shelf, bounds })
    }

    fn locked(&self) -> MutexGuard<'_, (Memory, Bounds)> {
        // each method decides before it writes, so a poisoned lock hides nothing
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ledger for MemoryLedger {
    fn register(&self, limits: &Limits) {
        self.locked().1.register(limits);
    }

    fn forgets_at_restart(&self) -> bool {
        true
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

    fn halt(&self, halted: bool) -> Durable<Result<(), LedgerError>> {
        done(self.with(|books| books.halt(halted)))
    }

    fn unpin(&self, origin: Origin, asset: Asset) -> Durable<Result<Option<Address>, LedgerError>> {
        done(self.with(|books| books.unpin(&origin, asset)))
    }

    fn lines(
        &self,
        since: Timestamp,
        until: Timestamp,
        now: Timestamp,
    ) -> Durable<Result<Vec<Line>, LedgerError>> {
        done(self.with(|books| lines(books.shelf, [since, until], now)))
    }
}

fn done<T: Send + 'static>(value: T) -> Durable<T> {
    Box::pin(std::future::ready(value))
}

/// Records by key, and the ways in which they are looked for.
#[derive(Debug)]
struct Memory {
    records: BTreeMap<PurchaseKey, Record>,
    /// What each record is posted under, and until when.
    posted: BTreeSet<(Timestamp, Term, PurchaseKey)>,
    left_behind: BTreeSet<(Fingerprint, PurchaseKey)>,
    meters: Arc<[Meter]>,
    sums: Shares,
    pins: BTreeMap<(Origin, Asset), Address>,
    is_halted: bool,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            records: BTreeMap::new(),
            posted: BTreeSet::new(),
            left_behind: BTreeSet::new(),
            meters: Arc::new([Meter::daily_dollars()]),
            sums: Shares::new(),
            pins: BTreeMap::new(),
            is_halted: false,
        }
    }
}

impl Shelf for Memory {
    fn get(&mut self, key: PurchaseKey) -> Result<Option<Record>, LedgerError> {
        Ok(self.records.get(&key).cloned())
    }

    fn put(&mut self, record: Record) -> Result<(), LedgerError> {
        let key = record.key;
        self.remove(key)?;
        for (term, until) in &record.posted {
            if *until < Timestamp::MAX {
                self.posted.insert((*until, *term, key));
            }
        }
        if record.is_left_behind() {
            self.left_behind.insert((record.fingerprint, key));
        }
        self.records.insert(key, record);
        Ok(())
    }

    fn remove(&mut self, key: PurchaseKey) -> Result<(), LedgerError> {
        if let Some(before) = self.records.remove(&key) {
            for (term, until) in before.posted {
                self.posted.remove(&(until, term, key));
            }
            self.left_behind.remove(&(before.fingerprint, key));
        }
        Ok(())
    }

    fn keeps_all(&self) -> bool {
        false
    }

    fn each(&mut self, see: &mut dyn FnMut(Record)) -> Result<(), LedgerError> {
        self.records.values().cloned().for_each(see);
        Ok(())
    }

    fn meters(&mut self) -> Result<Arc<[Meter]>, LedgerError> {
        Ok(Arc::clone(&self.meters))
    }

    fn add_meter(&mut self, meter: &Meter) -> Result<(), LedgerError> {
        let all = self.meters.iter().chain([meter]);
        self.meters = all.cloned().collect();
        Ok(())
    }

    fn sum(&mut self, meter: &Meter, subject: &str) -> Result<U256, LedgerError> {
        let of = (meter.clone(), subject.to_owned());
        Ok(self.sums.get(&of).copied().unwrap_or_default())
    }

    fn set_sum(&mut self, meter: &Meter, subject: &str, sum: U256) -> Result<(), LedgerError> {
        let of = (meter.clone(), subject.to_owned());
        if sum.is_zero() {
            self.sums.remove(&of);
        } else {
            self.sums.insert(of, sum);
        }
        Ok(())
    }

    fn due(&mut self, now: Timestamp) -> Result<Option<(Term, Record)>, LedgerError> {
        let first = self.posted.first().filter(|(until, ..)| *until <= now);
        Ok(first.and_then(|(_, term, key)| Some((*term, self.records.get(key).cloned()?))))
    }

    fn posted(
        &mut self,
        term: Term,
        most: usize,
    ) -> Result<Vec<(Timestamp, PurchaseKey)>, LedgerError> {
        let of_term = self.posted.iter().filter(|(_, other, _)| *other == term);
        let pairs = of_term.map(|(until, _, key)| (*until, *key));
        Ok(pairs.take(most).collect())
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

    fn is_halted(&mut self) -> Result<bool, LedgerError> {
        Ok(self.is_halted)
    }

    fn set_halted(&mut self, halted: bool) -> Result<(), LedgerError> {
        self.is_halted = halted;
        Ok(())
    }

    fn pin(&mut self, origin: &Origin, asset: Asset) -> Result<Option<Address>, LedgerError> {
        Ok(self.pins.get(&(origin.clone(), asset)).copied())
    }

    fn set_pin(
        &mut self,
        origin: &Origin,
        asset: Asset,
        payee: Option<Address>,
    ) -> Result<(), LedgerError> {
        let of = (origin.clone(), asset);
        match payee {
            Some(payee) => self.pins.insert(of, payee),
            None => self.pins.remove(&of),
        };
        Ok(())
    }
}
