//! One purchase as a ledger keeps it, and what may happen to it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use paywait_signals::Timestamp;
use paywait_x402::{MOST_SIGNATURES, Money, PurchaseKey, SignedPayment};

use crate::tenure::Tenure;
use crate::term::Term;
use crate::{
    Fingerprint, Intent, Kept, Label, LedgerError, Note, OnDeath, Origin, Owner, Period,
    Resolution, Stake, Standing, Taken,
};

/// One purchase as a ledger keeps it.
///
/// Its rules are here, pure; a store only keeps it. It holds no byte that can be read: signed
/// payments print as what they are for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Record {
    /// The purchase.
    pub key: PurchaseKey,
    /// The request that it is for.
    pub fingerprint: Fingerprint,
    /// Whether the caller gave the key.
    pub named: bool,
    /// Where the request goes.
    pub origin: Origin,
    /// What the call is tagged with.
    pub labels: BTreeSet<Label>,
    /// What it can cost, over all its signatures.
    pub stake: Stake,
    /// What is known of the money.
    pub money: Money,
    /// How often the last of its signed payments was shown.
    pub shown: u32,
    /// Whether what was paid for has come.
    pub delivered: bool,
    /// The transaction that a receipt named.
    pub transaction: Option<String>,
    /// How a person, or proof, ended it.
    pub resolution: Option<Resolution>,
    /// When it began.
    pub begun: Timestamp,
    /// When it was last written.
    pub written: Timestamp,
    pub(crate) payments: Vec<SignedPayment>,
    pub(crate) kept: Option<Arc<Kept>>,
    pub(crate) owner: Option<Owner>,
    pub(crate) leased_until: Timestamp,
    /// An intent stands, and its signature is not here yet.
    pub(crate) signing: bool,
    /// This owner, or one before, may have had something signed: then the hold stays.
    pub(crate) signer_asked: bool,
    pub(crate) on_death: OnDeath,
    /// Which opening of the store it was made in.
    pub(crate) instance: u64,
    /// When a receipt or proof first said that it settled: from then on it is spent.
    pub(crate) settled: Option<Timestamp>,
    /// When proof said that it cannot settle.
    pub(crate) unused: Option<Timestamp>,
    /// What it counts for now, and until when.
    pub(crate) posted: BTreeMap<Term, Timestamp>,
    /// It is what is left of a purchase that needs no more: its key, so that it is not bought again,
    /// and what it cost.
    pub(crate) is_tombstone: bool,
}

impl Record {
    pub(crate) fn new(intent: Intent, instance: u64, now: Timestamp) -> Self {
        Self {
            key: intent.key,
            fingerprint: intent.fingerprint,
            named: intent.named,
            origin: intent.origin,
            labels: intent.labels,
            stake: intent.stake,
            money: Money::Unspent,
            shown: 0,
            delivered: false,
            transaction: None,
            resolution: None,
            begun: now,
            written: now,
            payments: Vec::new(),
            kept: None,
            owner: None,
            leased_until: now,
            signing: true,
            signer_asked: false,
            on_death: intent.on_death,
            instance,
            settled: None,
            unused: None,
            posted: BTreeMap::new(),
            is_tombstone: false,
        }
    }

    /// Returns how many signed payments stand here.
    pub fn signatures(&self) -> usize {
        self.payments.len()
    }

    /// Returns whether it waits for an answer: something may have been signed, and it is neither
    /// delivered nor ended by a person or by proof.
    pub fn is_open(&self) -> bool {
        let may_be_signed = self.signer_asked || !self.payments.is_empty() || self.is_tombstone;
        // nobody can come back for what is left of one without a name
        let is_over = self.is_tombstone && !self.named;
        may_be_signed && !is_over && !self.delivered && self.resolution.is_none()
    }

    /// Returns whether a receipt or proof said that it settled.
    pub const fn is_settled(&self) -> bool {
        self.settled.is_some()
    }

    /// Returns whether it counts without a receipt or proof that it settled.
    pub(crate) const fn is_at_risk(&self) -> bool {
        self.settled.is_none()
    }

    /// Returns under which moment a statement lists it.
    pub(crate) fn listed_at(&self) -> Timestamp {
        self.settled.unwrap_or(self.begun)
    }

    /// Returns from when on it stops counting. Death without proof is no reason, unless it was said
    /// to be one.
    pub(crate) fn tenure(&self) -> Tenure {
        let dies = self.stake.dies(PRESUMED_SPENT_AFTER);
        if let Some(settled) = self.settled {
            return Tenure::After(settled);
        }
        if let Some(unused) = self.unused {
            return Tenure::Until(unused);
        }
        // until bytes stand here none can have been shown: what dies so was not spent
        if self.payments.is_empty() && !self.is_tombstone {
            return Tenure::Until(dies);
        }
        match self.on_death {
            _ if self.resolution == Some(Resolution::Presumed) => Tenure::After(dies),
            OnDeath::Presume => Tenure::After(dies),
            OnDeath::Release(margin) if self.named => Tenure::Until(self.stake.dies(margin)),
            // as long as a repeat takes it over, it must be there
            OnDeath::Release(margin) => Tenure::Until(self.stake.dies(margin.max(TAKEN_OVER_FOR))),
        }
    }

    /// Returns until when it counts for `term`, where `terms` are all that anything counts for.
    pub(crate) fn counts_until(&self, term: Term, terms: &BTreeSet<Term>) -> Timestamp {
        match term {
            Term::Spent(period) => self.tenure().ends(period),
            Term::Begun(period) => period.ends(self.begun),
            Term::Held => self.settled.unwrap_or_else(|| self.tenure().moment()),
            Term::Kept => {
                let others = terms.iter().filter(|term| **term != Term::Kept);
                let ends = others.map(|term| self.counts_until(*term, terms));
                let last = ends.filter(|until| *until < Timestamp::MAX).max();
                // and long enough for whoever asks what the day has cost
                last.max(Some(self.tenure().ends(Period::DAY)))
                    .unwrap_or(Timestamp::MAX)
            }
        }
    }

    /// Returns what this purchase is to `owner` who asks for it, apart from who has it now.
    pub(crate) fn offers(&self) -> Taken {
        if let Some(kept) = &self.kept {
            return Taken::Kept(Arc::clone(kept));
        }
        if self.is_tombstone || self.resolution.is_some() {
            return Taken::Spent(self.money);
        }
        if self.payments.is_empty() {
            return Taken::Nothing;
        }
        Taken::Standing(Box::new(Standing {
            key: self.key,
            payments: self.payments.clone(),
            money: self.money,
            shown: self.shown,
        }))
    }

    /// Returns whether a call has it in hand. A lease that ends later than any that is given now
    /// was written by a clock that has jumped.
    pub fn is_in_hand(&self, now: Timestamp) -> bool {
        let lasts = now < self.leased_until && self.leased_until <= now.saturating_add(LEASE);
        lasts && self.owner.is_some()
    }

    /// Returns whether another than `owner` has it in hand.
    pub(crate) fn is_taken(&self, owner: Owner, now: Timestamp) -> bool {
        self.is_in_hand(now) && self.owner != Some(owner)
    }

    pub(crate) fn lease(&mut self, owner: Owner, now: Timestamp) {
        // who had it and did not give it back may have had it signed
        let left_behind = self.owner.is_some_and(|other| other != owner);
        self.signer_asked |= left_behind && self.signing;
        // and may have shown it again since it was last refused
        if left_behind && self.money == Money::Refused {
            self.money = Money::Unknown;
        }
        self.owner = Some(owner);
        self.leased_until = now.saturating_add(LEASE);
    }

    /// Checks that `owner` still has it, and extends its lease.
    pub(crate) fn owned(&mut self, owner: Owner, now: Timestamp) -> Result<(), LedgerError> {
        if self.owner != Some(owner) {
            return Err(LedgerError::Lost);
        }
        self.leased_until = now.saturating_add(LEASE);
        self.written = now;
        Ok(())
    }

    /// Returns whether one more signature may be made at `now`, as far as is known here: nothing
    /// stands, or what stands was refused, or has expired without a receipt.
    pub(crate) fn may_sign(&self, now: Timestamp) -> bool {
        let latest = self.payments.iter().map(SignedPayment::valid_before).max();
        let Some(latest) = latest else {
            return true;
        };
        let dead = self.money == Money::Refused || Timestamp::from_secs(latest) <= now;
        let room = self.payments.len() < MOST_SIGNATURES;
        room && dead && self.money != Money::Settled && !self.delivered
    }

    /// Takes one more intent: what is at stake is raised, never lowered.
    pub(crate) fn intend(&mut self, intent: Intent, now: Timestamp) {
        self.stake = intent.stake.raised(&self.stake);
        self.on_death = intent.on_death;
        self.signing = true;
        self.written = now;
    }

    /// Takes a signature; returns the payment that stands. One that was not intended is not taken.
    pub(crate) fn persist(&mut self, payment: SignedPayment) -> Result<SignedPayment, LedgerError> {
        let expected = self.signing && self.payments.len() < MOST_SIGNATURES;
        if !expected {
            return self.payments.last().cloned().ok_or(LedgerError::Lost);
        }
        self.signing = false;
        self.signer_asked = true;
        self.shown = 0;
        // nobody has refused these bytes yet
        if matches!(self.money, Money::Unspent | Money::Refused) {
            self.money = Money::Signed;
        }
        self.payments.push(payment.clone());
        Ok(payment)
    }

    /// Takes what became known. What settled stays settled, and what was delivered delivered.
    pub(crate) fn note(&mut self, note: Note, now: Timestamp) {
        if self.money != Money::Settled {
            self.money = note.money;
        }
        self.shown = self.shown.max(note.shown);
        self.delivered |= note.delivered;
        self.transaction = note.transaction.or_else(|| self.transaction.take());
        self.kept = note.kept.or_else(|| self.kept.take());
        self.written = now;
        if note.money == Money::Settled {
            self.settled.get_or_insert(now);
        }
    }

    /// Ends it. What `resolution` says of the money is believed: it comes from a person, or from
    /// proof.
    pub(crate) fn resolve(&mut self, resolution: Resolution, now: Timestamp) {
        self.resolution = Some(resolution);
        self.written = now;
        // whoever had it and has written nothing for long has it no more
        self.owner = None;
        self.signing = false;
        match resolution {
            Resolution::Finished | Resolution::Settled => {
                self.money = Money::Settled;
                self.settled.get_or_insert(now);
            }
            Resolution::Presumed | Resolution::GivenUp => {}
            Resolution::Unused => {
                // a receipt may lie, and the chain does not
                self.settled = None;
                self.unused = Some(now);
            }
        }
    }

    /// Gives it back. `signer_asked` says whether something may have been signed meanwhile.
    pub(crate) fn release(&mut self, signer_asked: bool) {
        self.owner = None;
        self.signer_asked |= signer_asked;
        if !self.payments.is_empty() {
            self.signing = false;
        }
        // nobody comes back for it, and what it signed is of no more use to anybody
        if !self.named && self.delivered && self.is_settled() {
            self.strip();
        }
    }

    /// Returns whether nothing was signed for it and nobody has it: then it never was.
    pub(crate) fn is_void(&self) -> bool {
        self.owner.is_none() && self.payments.is_empty() && !self.signer_asked
    }

    /// Returns whether an unnamed call for the same request takes it over at `now`: it ended
    /// unresolved or undelivered, and not long ago.
    pub(crate) fn is_left(&self, now: Timestamp) -> bool {
        let until = self.stake.dies(TAKEN_OVER_FOR);
        self.is_left_behind() && now < until
    }

    /// Whether it is an unnamed purchase that nobody has in hand and that is not done with.
    pub(crate) fn is_left_behind(&self) -> bool {
        let signed = !self.payments.is_empty();
        !self.named && signed && self.owner.is_none() && self.is_open()
    }

    /// What becomes of it when no limit needs it: `false` if nothing needs to be kept. Open purchases
    /// with a name are kept whole, and of the others what they cost; what was never written as signed
    /// was never shown, and so is nothing.
    pub(crate) fn outlives_its_count(&mut self) -> bool {
        let unsigned = self.payments.is_empty() && !self.is_tombstone && self.resolution.is_none();
        if unsigned {
            return false;
        }
        let done = !self.named || self.money == Money::Settled || self.resolution.is_some();
        if done {
            self.strip();
        }
        true
    }

    /// Returns whether it is there for statements alone: nobody can come back for it, and no limit needs
    /// it.
    pub(crate) fn is_archived(&self) -> bool {
        !self.named && !self.posted.contains_key(&Term::Kept)
    }

    /// Leaves the key and what it cost.
    fn strip(&mut self) {
        if !self.payments.is_empty() {
            self.payments = Vec::new();
            self.kept = None;
            self.is_tombstone = true;
        }
    }
}

/// Clocks differ and blocks come late: what expired is presumed spent only this much later.
const PRESUMED_SPENT_AFTER: Duration = Duration::from_secs(120);

/// An owner writes at least three times in this time; one that does not is gone.
pub(crate) const LEASE: Duration = Duration::from_secs(30);

/// So long after the payment expired, a repeat of its request takes it over instead of buying.
const TAKEN_OVER_FOR: Duration = Duration::from_secs(60 * 60);
