//! The rules of a ledger over records in memory: pure, with `now` as an argument.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use paywait_signals::Timestamp;
use paywait_x402::{Money, PurchaseKey, SignedPayment, Usd};

use crate::{Epoch, Fingerprint, Intent, LedgerError, Limits, Taken};

/// Records by key, and what counts against the day.
#[derive(Debug, Default)]
pub(crate) struct Books {
    records: BTreeMap<PurchaseKey, Record>,
    /// When each record stops counting against the day.
    counted: BTreeSet<(Timestamp, PurchaseKey)>,
    used: Usd,
    per_day: Option<Usd>,
    last_epoch: u64,
}

/// One purchase.
#[derive(Debug)]
struct Record {
    intent: Intent,
    epoch: Epoch,
    in_use: bool,
    /// Whether this caller, or one before, may have had something signed: then the hold stays.
    signer_asked: bool,
    payment: Option<SignedPayment>,
    money: Money,
    counts_until: Timestamp,
}

impl Books {
    pub(crate) fn register(&mut self, limits: Limits) {
        let both = self.per_day.into_iter().chain(limits.most_per_day());
        self.per_day = both.min();
    }

    pub(crate) fn take(
        &mut self,
        key: PurchaseKey,
        fingerprint: Fingerprint,
    ) -> Result<Taken, LedgerError> {
        let Some(record) = self.records.get_mut(&key) else {
            return Ok(Taken::Nothing);
        };
        if record.intent.fingerprint != fingerprint {
            return Err(LedgerError::OtherRequest);
        }
        if record.in_use {
            return Ok(Taken::InFlight);
        }
        let Some(payment) = record.payment.clone() else {
            return Ok(Taken::Nothing);
        };
        self.last_epoch = self.last_epoch.saturating_add(1);
        record.epoch = Epoch::new(self.last_epoch);
        record.in_use = true;
        Ok(Taken::Standing {
            epoch: record.epoch,
            payment: Box::new(payment),
            money: record.money,
        })
    }

    pub(crate) fn intend(
        &mut self,
        mut intent: Intent,
        now: Timestamp,
    ) -> Result<Taken, LedgerError> {
        match self.take(intent.key, intent.fingerprint)? {
            Taken::Nothing => {}
            taken @ (Taken::Intended(_) | Taken::Standing { .. } | Taken::InFlight) => {
                return Ok(taken);
            }
        }
        self.forget(now);
        // an intent whose caller asked the signer and died is held; a new one takes its place, and
        // holds no less and no shorter
        let mut counts_until = dies(&intent);
        let held = self.held(intent.key);
        let signer_asked = held.is_some();
        let freed = held.map_or(Usd::ZERO, |held| held.intent.price);
        if let Some(held) = held {
            intent.price = intent.price.max(held.intent.price);
            counts_until = counts_until.max(held.counts_until);
        }
        self.make_room(intent.key, intent.price, freed)?;
        self.strike(intent.key);
        self.last_epoch = self.last_epoch.saturating_add(1);
        let epoch = Epoch::new(self.last_epoch);
        let record = Record {
            epoch,
            in_use: true,
            signer_asked,
            payment: None,
            money: Money::Unspent,
            // until bytes stand here none can have been shown: what dies so was not spent
            counts_until,
            intent,
        };
        self.count(record);
        Ok(Taken::Intended(epoch))
    }

    pub(crate) fn persist(
        &mut self,
        key: PurchaseKey,
        epoch: Epoch,
        payment: SignedPayment,
    ) -> Result<SignedPayment, LedgerError> {
        let record = self
            .records
            .get_mut(&key)
            .filter(|record| record.epoch == epoch);
        let record = record.ok_or(LedgerError::Lost)?;
        if let Some(stands) = &record.payment {
            return Ok(stands.clone());
        }
        record.money = Money::Signed;
        record.payment = Some(payment.clone());
        let counts_until = dies(&record.intent).saturating_add(DAY);
        self.recount(key, counts_until);
        Ok(payment)
    }

    pub(crate) fn note(
        &mut self,
        key: PurchaseKey,
        epoch: Epoch,
        money: Money,
        now: Timestamp,
    ) -> Result<(), LedgerError> {
        let record = self.records.get_mut(&key).ok_or(LedgerError::Lost)?;
        let own = record.epoch == epoch;
        if !own && money != Money::Settled {
            return Err(LedgerError::Lost);
        }
        if record.money != Money::Settled {
            record.money = money;
        }
        if money == Money::Settled {
            self.recount(key, now.saturating_add(DAY));
        }
        if own { Ok(()) } else { Err(LedgerError::Lost) }
    }

    pub(crate) fn release(&mut self, key: PurchaseKey, epoch: Epoch, signer_asked: bool) {
        let Some(record) = self
            .records
            .get_mut(&key)
            .filter(|record| record.epoch == epoch)
        else {
            return;
        };
        record.in_use = false;
        record.signer_asked |= signer_asked;
        if record.payment.is_none() && !record.signer_asked {
            self.strike(key);
            return;
        }
        // it stopped to count while it was in use, and nobody can ask for its key again
        let counted = self.counted.contains(&(record.counts_until, key));
        if !record.intent.named && !counted {
            self.records.remove(&key);
        }
    }

    /// What counts against the day at `now`: holds, presumed and settled spending.
    pub(crate) fn used(&mut self, now: Timestamp) -> Usd {
        self.forget(now);
        self.used
    }

    /// The record of `key`, if it counts now.
    fn held(&self, key: PurchaseKey) -> Option<&Record> {
        let record = self.records.get(&key);
        record.filter(|record| self.counted.contains(&(record.counts_until, key)))
    }

    /// Whether `price` fits beside what others hold: the purchase of `key` itself gives up `freed`.
    fn make_room(&self, key: PurchaseKey, price: Usd, freed: Usd) -> Result<(), LedgerError> {
        let Some(allowed) = self.per_day else {
            return Ok(());
        };
        let others = self.used.checked_sub(freed).unwrap_or(self.used);
        let fits = others.checked_add(price).is_some_and(|sum| sum <= allowed);
        if fits {
            return Ok(());
        }
        let come_back = self.room_at(key, others, price, allowed);
        Err(LedgerError::OverLimit {
            asked: price,
            allowed,
            used: others,
            come_back,
        })
    }

    /// When so many records of others have stopped counting that `price` fits.
    fn room_at(&self, own: PurchaseKey, used: Usd, price: Usd, allowed: Usd) -> Option<Timestamp> {
        let mut left = used;
        for (until, key) in self.counted.iter().filter(|(_, key)| *key != own) {
            let price_then = self.records.get(key)?.intent.price;
            left = left.checked_sub(price_then)?;
            if left.checked_add(price).is_some_and(|sum| sum <= allowed) {
                return Some(*until);
            }
        }
        None
    }

    fn count(&mut self, record: Record) {
        let key = record.intent.key;
        self.counted.insert((record.counts_until, key));
        self.used = self.used.saturating_add(record.intent.price);
        self.records.insert(key, record);
    }

    /// Counts a record until then: again, if it had stopped to count.
    fn recount(&mut self, key: PurchaseKey, until: Timestamp) {
        let Some(record) = self.records.get_mut(&key) else {
            return;
        };
        if !self.counted.remove(&(record.counts_until, key)) {
            self.used = self.used.saturating_add(record.intent.price);
        }
        record.counts_until = until;
        self.counted.insert((until, key));
    }

    /// Takes a record and its count away: nothing was signed for it.
    fn strike(&mut self, key: PurchaseKey) {
        let Some(record) = self.records.remove(&key) else {
            return;
        };
        if self.counted.remove(&(record.counts_until, key)) {
            self.used = self
                .used
                .checked_sub(record.intent.price)
                .unwrap_or(Usd::ZERO);
        }
    }

    /// Stops counting what is older than a day. Records with a key that the caller may come back
    /// with stay: it must not buy again.
    fn forget(&mut self, now: Timestamp) {
        while let Some((until, key)) = self.counted.first().copied()
            && until <= now
        {
            self.counted.pop_first();
            let Some(record) = self.records.get(&key) else {
                continue;
            };
            self.used = self
                .used
                .checked_sub(record.intent.price)
                .unwrap_or(Usd::ZERO);
            if !record.intent.named && !record.in_use {
                self.records.remove(&key);
            }
        }
    }
}

/// When what was signed can no longer settle.
fn dies(intent: &Intent) -> Timestamp {
    Timestamp::from_secs(intent.valid_before).saturating_add(PRESUMED_SPENT_AFTER)
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Clocks differ and blocks come late: what expired is presumed spent only this much later.
const PRESUMED_SPENT_AFTER: Duration = Duration::from_secs(120);
