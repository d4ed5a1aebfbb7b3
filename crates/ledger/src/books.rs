//! The rules of a ledger over any store: pure, with `now` as an argument.

use paywait_signals::Timestamp;
use paywait_x402::alloy_primitives::Address;
use paywait_x402::{Asset, Money, PurchaseKey, SignedPayment, Usd};

use crate::bounds::Bounds;
use crate::meter::Meter;
use crate::shelf::Shelf;
use crate::term::Term;
use crate::{Fingerprint, Intent, LedgerError, Note, Origin, Owner, Record, Resolution, Taken};

/// The rules of a ledger over the records of one store.
///
/// Every method decides before it writes, so that a refusal leaves the store as it was.
#[derive(Debug)]
pub(crate) struct Books<'a, S> {
    pub(crate) shelf: &'a mut S,
    pub(crate) bounds: &'a Bounds,
}

impl<S: Shelf> Books<'_, S> {
    pub(crate) fn take(
        &mut self,
        key: PurchaseKey,
        fingerprint: Fingerprint,
        owner: Owner,
        now: Timestamp,
    ) -> Result<Taken, LedgerError> {
        self.forget(now)?;
        match self.found(key)? {
            Some(record) => self.hand_out(record, fingerprint, owner, now),
            None => Ok(Taken::Nothing),
        }
    }

    /// Returns the record of a key, unless it is there for statements alone.
    fn found(&mut self, key: PurchaseKey) -> Result<Option<Record>, LedgerError> {
        let found = self.shelf.get(key)?;
        Ok(found.filter(|record| !record.is_archived()))
    }

    /// Hands a record out, and with it the lease, if there is something to show.
    fn hand_out(
        &mut self,
        mut record: Record,
        fingerprint: Fingerprint,
        owner: Owner,
        now: Timestamp,
    ) -> Result<Taken, LedgerError> {
        if record.fingerprint != fingerprint {
            return Err(LedgerError::OtherRequest);
        }
        if record.is_taken(owner, now) {
            return Ok(Taken::InFlight);
        }
        if matches!(record.offers(), Taken::Standing(_)) {
            // the last of it was never shown: it has spent nothing yet
            if record.shown == 0 && self.shelf.is_halted()? {
                return Err(LedgerError::Halted);
            }
            record.lease(owner, now);
            self.shelf.put(record.clone())?;
        }
        // after the lease: who had it before may have done more than it wrote
        Ok(record.offers())
    }

    pub(crate) fn intend(
        &mut self,
        intent: Intent,
        owner: Owner,
        now: Timestamp,
    ) -> Result<Taken, LedgerError> {
        self.forget(now)?;
        self.sum_for_limits(now)?;
        // it is taken under its own key, by whoever can give it back under that key
        if let Some(left) = self.left_for(&intent, now)? {
            return Ok(left.offers());
        }
        let before = self.found(intent.key)?;
        // what was signed stood here once: it was ended, and is forgotten
        if before.is_none() && intent.known > 0 {
            return Err(LedgerError::Lost);
        }
        if let Some(record) = &before {
            let more_stands = record.signatures() > intent.known;
            let ended = !matches!(record.offers(), Taken::Nothing | Taken::Standing(_));
            let other = record.fingerprint != intent.fingerprint;
            let barred = !record.may_sign(now);
            if more_stands || ended || other || barred || record.is_taken(owner, now) {
                return self.hand_out(record.clone(), intent.fingerprint, owner, now);
            }
        }
        if self.shelf.is_halted()? {
            return Err(LedgerError::Halted);
        }
        self.check_payee(&intent)?;
        let pinned = intent.pins_payee;
        let mut record = match before.clone() {
            Some(mut record) => {
                record.intend(intent, now);
                record
            }
            None => Record::new(intent, self.bounds.instance, now),
        };
        self.make_room(before.as_ref(), &record)?;
        record.lease(owner, now);
        if pinned {
            let payee = Some(record.stake.pay_to);
            self.shelf
                .set_pin(&record.origin, record.stake.asset, payee)?;
        }
        self.post(before.as_ref(), record, now)?;
        Ok(Taken::Intended)
    }

    /// Refuses another payee than the one that was pinned, if one was.
    fn check_payee(&mut self, intent: &Intent) -> Result<(), LedgerError> {
        if !intent.pins_payee {
            return Ok(());
        }
        let stake = &intent.stake;
        match self.shelf.pin(&intent.origin, stake.asset)? {
            Some(pinned) if pinned != stake.pay_to => Err(LedgerError::OtherPayee {
                origin: intent.origin.clone(),
                asked: stake.pay_to,
                pinned,
            }),
            _ => Ok(()),
        }
    }

    /// Returns the purchase that an unnamed one takes over, if there is one.
    fn left_for(&mut self, intent: &Intent, now: Timestamp) -> Result<Option<Record>, LedgerError> {
        if intent.named || !intent.takes_over || intent.known > 0 {
            return Ok(None);
        }
        let left = self.shelf.left_behind(intent.fingerprint)?;
        let instance = self.bounds.instance;
        let mut left = left
            .into_iter()
            .filter(|record| record.instance == instance && record.is_left(now));
        Ok(left.next())
    }

    pub(crate) fn persist(
        &mut self,
        key: PurchaseKey,
        owner: Owner,
        payment: SignedPayment,
        now: Timestamp,
    ) -> Result<SignedPayment, LedgerError> {
        if self.shelf.is_halted()? {
            return Err(LedgerError::Halted);
        }
        self.change(key, now, |record| {
            record.owned(owner, now)?;
            record.persist(payment)
        })
    }

    pub(crate) fn note(
        &mut self,
        key: PurchaseKey,
        owner: Owner,
        note: Note,
        now: Timestamp,
    ) -> Result<(), LedgerError> {
        self.change(key, now, |record| {
            let owned = record.owned(owner, now);
            // a receipt is true whoever brings it
            if owned.is_ok() || note.money == Money::Settled {
                record.note(note, now);
            }
            Ok(owned)
        })?
    }

    pub(crate) fn renew(
        &mut self,
        key: PurchaseKey,
        owner: Owner,
        now: Timestamp,
    ) -> Result<(), LedgerError> {
        self.change(key, now, |record| record.owned(owner, now))
    }

    pub(crate) fn release(
        &mut self,
        key: PurchaseKey,
        owner: Owner,
        signer_asked: bool,
    ) -> Result<(), LedgerError> {
        let found = self.shelf.get(key)?;
        let Some(before) = found.filter(|record| record.owner == Some(owner)) else {
            return Ok(());
        };
        let mut record = before.clone();
        record.release(signer_asked);
        if record.is_void() {
            self.strike(&before)
        } else {
            self.shelf.put(record)
        }
    }

    pub(crate) fn resolve(
        &mut self,
        key: PurchaseKey,
        resolution: Resolution,
        now: Timestamp,
    ) -> Result<(), LedgerError> {
        self.change(key, now, |record| {
            if record.is_in_hand(now) {
                return Err(LedgerError::InHand);
            }
            record.resolve(resolution, now);
            Ok(())
        })?;
        self.forget(now)
    }

    /// What counts against the day at `now`: holds, presumed and settled spending.
    pub(crate) fn used(&mut self, now: Timestamp) -> Result<Usd, LedgerError> {
        self.forget(now)?;
        let sum = self.shelf.sum(&Meter::daily_dollars(), "")?;
        Ok(Usd::from_attos(sum))
    }

    pub(crate) fn halt(&mut self, halted: bool) -> Result<(), LedgerError> {
        self.shelf.set_halted(halted)
    }

    pub(crate) fn unpin(
        &mut self,
        origin: &Origin,
        asset: Asset,
    ) -> Result<Option<Address>, LedgerError> {
        let pinned = self.shelf.pin(origin, asset)?;
        self.shelf.set_pin(origin, asset, None)?;
        Ok(pinned)
    }

    /// Changes a record, and what it counts. A change that fails writes nothing.
    fn change<T>(
        &mut self,
        key: PurchaseKey,
        now: Timestamp,
        change: impl FnOnce(&mut Record) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        let before = self.found(key)?.ok_or(LedgerError::Lost)?;
        let mut record = before.clone();
        let result = change(&mut record)?;
        self.post(Some(&before), record, now)?;
        Ok(result)
    }

    /// Stops counting what no longer counts. What a caller may come back for stays: it must not be
    /// bought again.
    fn forget(&mut self, now: Timestamp) -> Result<(), LedgerError> {
        while let Some((term, before)) = self.shelf.due(now)? {
            let mut record = before.clone();
            if record.is_in_hand(now) {
                let until = record.leased_until;
                record.posted.insert(term, until);
                // it is kept for as long as it counts
                if let Some(kept) = record.posted.get_mut(&Term::Kept) {
                    *kept = until.max(*kept);
                }
                self.shelf.put(record)?;
                continue;
            }
            record.posted.remove(&term);
            if term != Term::Kept {
                self.count(Some(&before), Some(&record))?;
                self.shelf.put(record)?;
            } else if !record.outlives_its_count() {
                self.strike(&before)?;
            } else if record.named || self.shelf.keeps_all() {
                self.shelf.put(record)?;
            } else {
                // what it counts for ever stays counted
                self.shelf.remove(record.key)?;
            }
        }
        Ok(())
    }
}
