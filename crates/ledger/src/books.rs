//! The rules of a ledger over any store: pure, with `now` as an argument.

use paywait_signals::Timestamp;
use paywait_x402::{Money, PurchaseKey, SignedPayment, Usd};

use crate::shelf::Shelf;
use crate::{Fingerprint, Intent, LedgerError, Limits, Note, Owner, Record, Resolution, Taken};

/// The rules of a ledger over the records of one store.
///
/// Every method decides before it writes, so that a refusal leaves the store as it was.
#[derive(Debug)]
pub(crate) struct Books<'a, S> {
    pub(crate) shelf: &'a mut S,
    pub(crate) limits: &'a Bounds,
}

/// The limits that stand on a ledger: the tightest of those that were registered.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bounds {
    per_day: Option<Usd>,
    /// Which opening of the store this is.
    pub(crate) instance: u64,
}

impl Bounds {
    /// Returns no limits, for one opening of a store.
    #[cfg(feature = "sqlite")]
    pub(crate) const fn of_instance(instance: u64) -> Self {
        Self {
            per_day: None,
            instance,
        }
    }

    pub(crate) fn register(&mut self, limits: Limits) {
        let both = self.per_day.into_iter().chain(limits.most_per_day());
        self.per_day = both.min();
    }
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
        match self.shelf.get(key)? {
            Some(record) => self.hand_out(record, fingerprint, owner, now),
            None => Ok(Taken::Nothing),
        }
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
        // it is taken under its own key, by whoever can give it back under that key
        if let Some(left) = self.left_for(&intent, now)? {
            return Ok(left.offers());
        }
        let before = self.shelf.get(intent.key)?;
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
        let held = before.as_ref().filter(|record| record.counted);
        let freed = held.map_or(Usd::ZERO, |record| record.stake.price);
        let mut record = match before {
            Some(mut record) => {
                record.intend(intent, now);
                record
            }
            None => Record::new(intent, self.limits.instance, now),
        };
        self.make_room(record.key, record.stake.price, freed)?;
        record.lease(owner, now);
        self.count(record, freed)?;
        Ok(Taken::Intended)
    }

    /// Returns the purchase that an unnamed one takes over, if there is one.
    fn left_for(&mut self, intent: &Intent, now: Timestamp) -> Result<Option<Record>, LedgerError> {
        if intent.named || !intent.takes_over || intent.known > 0 {
            return Ok(None);
        }
        let left = self.shelf.left_behind(intent.fingerprint)?;
        let instance = self.limits.instance;
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
        self.change(key, |record| {
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
        self.change(key, |record| {
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
        self.change(key, |record| record.owned(owner, now))
    }

    pub(crate) fn release(
        &mut self,
        key: PurchaseKey,
        owner: Owner,
        signer_asked: bool,
    ) -> Result<(), LedgerError> {
        let record = self.shelf.get(key)?;
        let Some(mut record) = record.filter(|record| record.owner == Some(owner)) else {
            return Ok(());
        };
        record.release(signer_asked);
        if record.is_void() {
            self.strike(&record)
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
        self.change(key, |record| {
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
        self.shelf.used()
    }

    /// Changes a record, and what it counts. A change that fails writes nothing.
    fn change<T>(
        &mut self,
        key: PurchaseKey,
        change: impl FnOnce(&mut Record) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        let mut record = self.shelf.get(key)?.ok_or(LedgerError::Lost)?;
        let counted = match record.counted {
            true => record.stake.price,
            false => Usd::ZERO,
        };
        let until = record.counts_until;
        let result = change(&mut record)?;
        if record.counts_until == until {
            self.shelf.put(record)?;
        } else {
            self.count(record, counted)?;
        }
        Ok(result)
    }

    /// Whether `price` fits beside what others hold: the purchase of `key` itself gives up `freed`.
    fn make_room(&mut self, key: PurchaseKey, price: Usd, freed: Usd) -> Result<(), LedgerError> {
        let Some(allowed) = self.limits.per_day else {
            return Ok(());
        };
        let used = self.shelf.used()?;
        let others = used.checked_sub(freed).unwrap_or(used);
        let fits = others.checked_add(price).is_some_and(|sum| sum <= allowed);
        if fits {
            return Ok(());
        }
        let come_back = self.room_at(key, others, price, allowed)?;
        Err(LedgerError::OverLimit {
            asked: price,
            allowed,
            used: others,
            come_back,
        })
    }

    /// When so many records of others have stopped counting that `price` fits.
    fn room_at(
        &mut self,
        own: PurchaseKey,
        used: Usd,
        price: Usd,
        allowed: Usd,
    ) -> Result<Option<Timestamp>, LedgerError> {
        let mut left = used;
        for (until, key, held) in self.shelf.counted()? {
            if key == own {
                continue;
            }
            left = left.checked_sub(held).unwrap_or(Usd::ZERO);
            if left.checked_add(price).is_some_and(|sum| sum <= allowed) {
                return Ok(Some(until));
            }
        }
        Ok(None)
    }

    /// Writes a record that counts its price from now on, in place of the `freed` that it did.
    fn count(&mut self, mut record: Record, freed: Usd) -> Result<(), LedgerError> {
        let used = self.shelf.used()?;
        let others = used.checked_sub(freed).unwrap_or(used);
        self.shelf
            .set_used(others.saturating_add(record.stake.price))?;
        record.counted = true;
        self.shelf.put(record)
    }

    /// Takes a record and its count away: nothing was signed for it.
    fn strike(&mut self, record: &Record) -> Result<(), LedgerError> {
        if record.counted {
            let used = self.shelf.used()?;
            let rest = used.checked_sub(record.stake.price);
            self.shelf.set_used(rest.unwrap_or(Usd::ZERO))?;
        }
        self.shelf.remove(record.key)
    }

    /// Stops counting what no longer counts. What a caller may come back for stays: it must not be
    /// bought again.
    fn forget(&mut self, now: Timestamp) -> Result<(), LedgerError> {
        while let Some(mut record) = self.shelf.due(now)? {
            if record.is_in_hand(now) {
                record.counts_until = record.leased_until;
                self.shelf.put(record)?;
                continue;
            }
            if !record.outlives_its_count() {
                self.strike(&record)?;
                continue;
            }
            let used = self.shelf.used()?;
            let rest = used.checked_sub(record.stake.price);
            self.shelf.set_used(rest.unwrap_or(Usd::ZERO))?;
            record.counted = false;
            self.shelf.put(record)?;
        }
        Ok(())
    }
}
