//! What counts against limits: sums over records, and whether a price fits beside them.

use std::collections::{BTreeMap, BTreeSet};

use paywait_signals::Timestamp;
use paywait_x402::PurchaseKey;
use paywait_x402::alloy_primitives::U256;

use crate::books::Books;
use crate::meter::Meter;
use crate::shelf::Shelf;
use crate::term::Term;
use crate::{LedgerError, Limit, OverLimit, Record};

/// What records add to sums, by meter and for whom.
pub(crate) type Shares = BTreeMap<(Meter, String), U256>;

impl<S: Shelf> Books<'_, S> {
    /// Whether `record` fits beside what others hold, in place of what it was `before`.
    pub(crate) fn make_room(
        &mut self,
        before: Option<&Record>,
        record: &Record,
    ) -> Result<(), LedgerError> {
        let mut worst: Option<OverLimit> = None;
        for limit in self.bounds.limits.iter() {
            for over in self.passed(limit, before, record)? {
                let is_worse = |worst: &OverLimit| over.ends_after(worst);
                if worst.as_ref().is_none_or(is_worse) {
                    worst = Some(over);
                }
            }
        }
        match worst {
            Some(over) => Err(LedgerError::OverLimit(Box::new(over))),
            None => Ok(()),
        }
    }

    /// Returns how one limit is passed: once for each that it is for.
    fn passed(
        &mut self,
        limit: &Limit,
        before: Option<&Record>,
        record: &Record,
    ) -> Result<Vec<OverLimit>, LedgerError> {
        let meter = limit.meter();
        let asked = meter.weight(record);
        // a second signature is no second purchase
        let is_counted = meter.counts_purchases() && before.is_some();
        let mut passed = Vec::new();
        // what costs nothing passes no limit but that of zero
        let is_nothing = asked.is_zero() && !limit.most().is_zero();
        if is_nothing || is_counted || !meter.counts(record) {
            return Ok(passed);
        }
        for subject in meter.subjects(record) {
            if !limit.reaches(&subject) {
                continue;
            }
            let own = before.map_or(U256::ZERO, |before| share(&meter, &subject, before));
            let others = self.shelf.sum(&meter, &subject)?.saturating_sub(own);
            if limit.has_room(others, asked) {
                continue;
            }
            passed.push(OverLimit {
                come_back: self.room_at(limit, &subject, record, others, asked)?,
                held_until: self.held_until(limit, &subject, record, others, asked)?,
                limit: limit.clone(),
                subject,
                asked: meter.quantity(asked),
                used: meter.quantity(others),
            });
        }
        Ok(passed)
    }

    /// When so many records of others have stopped counting that `asked` fits. Where very many count,
    /// when the last of those that were looked at has.
    fn room_at(
        &mut self,
        limit: &Limit,
        subject: &str,
        own: &Record,
        used: U256,
        asked: U256,
    ) -> Result<Option<Timestamp>, LedgerError> {
        if !limit.has_room(U256::ZERO, asked) {
            return Ok(None);
        }
        let meter = limit.meter();
        let posted = self.shelf.posted(meter.term(), MOST_LOOKED_AT)?;
        let (mut left, mut last, looked_at) = (used, None, posted.len());
        for (until, key) in posted {
            last = Some(until);
            let other = self.shelf.get(key)?.filter(|other| other.key != own.key);
            let Some(other) = other else { continue };
            left = left.saturating_sub(share(&meter, subject, &other));
            if limit.has_room(left, asked) {
                return Ok(Some(until));
            }
        }
        Ok(last.filter(|_| looked_at == MOST_LOOKED_AT))
    }

    /// When the oldest of the holds of others can die, if `asked` fits without them.
    fn held_until(
        &mut self,
        limit: &Limit,
        subject: &str,
        own: &Record,
        used: U256,
        asked: U256,
    ) -> Result<Option<Timestamp>, LedgerError> {
        let meter = limit.meter();
        if meter.counts_purchases() {
            return Ok(None);
        }
        let (mut left, mut oldest) = (used, None);
        for (until, key) in self.shelf.posted(Term::Held, MOST_LOOKED_AT)? {
            let other = self.shelf.get(key)?.filter(|other| other.key != own.key);
            let held = other.map_or(U256::ZERO, |other| share(&meter, subject, &other));
            if held.is_zero() {
                continue;
            }
            oldest.get_or_insert(until);
            left = left.saturating_sub(held);
            if limit.has_room(left, asked) {
                return Ok(oldest);
            }
        }
        Ok(None)
    }

    /// Has all that limits ask for summed, over the records that there are.
    pub(crate) fn sum_for_limits(&mut self, now: Timestamp) -> Result<(), LedgerError> {
        let summed = self.shelf.meters()?;
        let asked: BTreeSet<_> = self.bounds.limits.iter().map(Limit::meter).collect();
        let new: Vec<_> = asked
            .difference(&summed.iter().cloned().collect())
            .cloned()
            .collect();
        if new.is_empty() {
            return Ok(());
        }
        for meter in &new {
            self.shelf.add_meter(meter)?;
        }
        let all = self.shelf.meters()?;
        for key in self.keys()? {
            let Some(before) = self.shelf.get(key)? else {
                continue;
            };
            let mut record = before.clone();
            repost(&mut record, &terms(&all), now);
            self.change_sums(shares(&summed, &before), shares(&all, &record))?;
            self.shelf.put(record)?;
        }
        Ok(())
    }

    /// Returns the keys of all records.
    fn keys(&mut self) -> Result<Vec<PurchaseKey>, LedgerError> {
        let mut keys = Vec::new();
        self.shelf.each(&mut |record| keys.push(record.key))?;
        Ok(keys)
    }

    /// Writes a record, posted anew, and what it adds to sums in place of what it did `before`.
    pub(crate) fn post(
        &mut self,
        before: Option<&Record>,
        mut record: Record,
        now: Timestamp,
    ) -> Result<(), LedgerError> {
        let meters = self.shelf.meters()?;
        repost(&mut record, &terms(&meters), now);
        self.count(before, Some(&record))?;
        self.shelf.put(record)
    }

    /// Takes a record away, and all that it counts: nothing was signed for it.
    pub(crate) fn strike(&mut self, record: &Record) -> Result<(), LedgerError> {
        self.count(Some(record), None)?;
        self.shelf.remove(record.key)
    }

    /// Has sums count `after` in place of `before`.
    pub(crate) fn count(
        &mut self,
        before: Option<&Record>,
        after: Option<&Record>,
    ) -> Result<(), LedgerError> {
        let meters = self.shelf.meters()?;
        let of = |record: Option<&Record>| {
            record.map_or_else(Shares::new, |record| shares(&meters, record))
        };
        self.change_sums(of(before), of(after))
    }

    fn change_sums(&mut self, old: Shares, mut new: Shares) -> Result<(), LedgerError> {
        for (of, less) in old {
            let more = new.remove(&of).unwrap_or_default();
            if more != less {
                self.change_sum(&of, less, more)?;
            }
        }
        for (of, more) in new {
            self.change_sum(&of, U256::ZERO, more)?;
        }
        Ok(())
    }

    fn change_sum(
        &mut self,
        (meter, subject): &(Meter, String),
        less: U256,
        more: U256,
    ) -> Result<(), LedgerError> {
        let sum = self.shelf.sum(meter, subject)?;
        // money past counting is too much for any limit
        let sum = sum.saturating_sub(less).saturating_add(more);
        self.shelf.set_sum(meter, subject, sum)
    }
}

/// Adds up what records add to sums.
#[cfg(feature = "sqlite")]
pub(crate) fn add_up(sums: &mut Shares, meters: &[Meter], record: &Record) {
    for (of, share) in shares(meters, record) {
        let sum = sums.entry(of).or_default();
        *sum = sum.saturating_add(share);
    }
}

/// Returns what a record adds to sums.
fn shares(meters: &[Meter], record: &Record) -> Shares {
    let mut shares = Shares::new();
    for meter in meters {
        let weight = weight(meter, record);
        if weight.is_zero() {
            continue;
        }
        for subject in meter.subjects(record) {
            shares.insert((meter.clone(), subject), weight);
        }
    }
    shares
}

/// Returns all that anything is posted under.
fn terms(meters: &[Meter]) -> BTreeSet<Term> {
    let terms = meters.iter().map(Meter::term);
    terms.chain([Term::Held, Term::Kept]).collect()
}

/// Returns what a record weighs on a meter now.
fn weight(meter: &Meter, record: &Record) -> U256 {
    match record.posted.contains_key(&meter.term()) {
        true => meter.weight(record),
        false => U256::ZERO,
    }
}

/// Returns what a record adds to the sum of `subject`.
fn share(meter: &Meter, subject: &str, record: &Record) -> U256 {
    let is_for = meter.subjects(record).iter().any(|one| one == subject);
    match is_for {
        true => weight(meter, record),
        false => U256::ZERO,
    }
}

/// Posts a record under all that it counts for at `now`. What is posted stays so until its end is due.
fn repost(record: &mut Record, terms: &BTreeSet<Term>, now: Timestamp) {
    for term in terms {
        let until = record.counts_until(*term, terms);
        // the last moment is never
        let counts = now < until || until == Timestamp::MAX;
        if counts || record.posted.contains_key(term) {
            record.posted.insert(*term, until);
        }
    }
}

/// So many records are looked at to say when there is room. Each takes time in which nothing is
/// written.
const MOST_LOOKED_AT: usize = 512;
