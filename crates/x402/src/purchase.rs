//! The machine of one purchase: what was signed, what was sent, and what may be signed again.

use std::sync::Arc;
use std::time::Duration;

use paywait_signals::Timestamp;

use crate::{Amount, Money, PaymentId, PurchaseKey, Receipt, Showing, SignedPayment, Terms};

/// The paid side of one call: one identifier, one nonce, one hold.
///
/// Pure: it is told what happened and answers what may happen next. It keeps these promises
/// whatever it is told, in whatever order:
///
/// * **One nonce.** All signatures of a purchase have one nonce in one nonce space (chain, token
///   contract and payer), pay one payee, and carry one identifier. EIP-3009 lets a nonce settle
///   once, so they move money at most once between them, however often they are shown: what is at
///   stake is the largest of them, not their sum.
/// * **Few signatures.** There are at most two. The second takes that a seller *refused* the first
///   before it broadcast anything, or that the first has expired; never while its fate is open.
/// * **Written first.** Signed bytes leave only through [`show`](Self::show), which answers
///   nothing until [`handle_persisted`](Self::handle_persisted) said that they stand in a ledger.
/// * **Unknown stays unknown.** A seller's refusal speaks of its own send. It never turns money
///   that may have moved into money that did not.
#[derive(Debug)]
pub struct Purchase {
    key: PurchaseKey,
    payment_id: PaymentId,
    step: Step,
    /// What stands in the ledger, oldest first. The last one is shown.
    payments: Vec<SignedPayment>,
    pub(crate) money: Money,
    shows: Shows,
    /// While a send is under way, what `money` was before it: its bytes may turn out not to have left.
    pub(crate) before_send: Option<Money>,
    pub(crate) receipt: Option<Receipt>,
    pub(crate) spent_elsewhere: bool,
}

/// How far a signature has come that does not stand in the ledger yet.
#[derive(Debug)]
enum Step {
    Idle,
    Accepted(Arc<Terms>),
    Signed(Box<SignedPayment>),
}

/// How often the bytes that are shown were shown.
#[derive(Clone, Copy, Debug, Default)]
struct Shows {
    here: u32,
    before: u32,
}

impl Shows {
    const fn in_all(self) -> u32 {
        self.here.saturating_add(self.before)
    }
}

impl Purchase {
    /// Returns a purchase that has signed nothing.
    pub const fn new(key: PurchaseKey, payment_id: PaymentId) -> Self {
        Self {
            key,
            payment_id,
            step: Step::Idle,
            payments: Vec::new(),
            money: Money::Unspent,
            shows: Shows { here: 0, before: 0 },
            before_send: None,
            receipt: None,
            spent_elsewhere: false,
        }
    }

    /// Takes up a purchase where a ledger's record left it: `payments` stand there, oldest first,
    /// and the last of them was shown `shown` times.
    ///
    /// `money` is what the record says; a record that does not say more than *signed* is taken as
    /// *unknown*, since whoever wrote it may have died after sending. A purchase whose bytes stand
    /// already keeps them, unless more stand there by now, and keeps what it knows: the two together
    /// are what is known. Without payments nothing is taken up.
    pub fn resume(
        &mut self,
        key: PurchaseKey,
        payments: Vec<SignedPayment>,
        money: Money,
        shown: u32,
    ) {
        let Some(last) = payments.last() else {
            return;
        };
        let told = match money {
            Money::Unspent | Money::Signed | Money::Sent => Money::Unknown,
            Money::Refused | Money::Pending | Money::Unknown | Money::Settled => money,
        };
        // what was refused to another was not refused here
        let is_known = (self.money, told) == (Money::Sent, Money::Refused);
        if self.payments.is_empty() {
            self.money = told;
        } else if !is_known {
            self.money = self.money.hearing(told);
        }
        if payments.len() <= self.payments.len() {
            return;
        }
        self.key = key;
        self.payment_id = last.payment_id().clone();
        self.shows = Shows {
            here: 0,
            before: shown,
        };
        self.payments = payments;
        self.step = Step::Idle;
        // word of a send of other bytes comes too late to say anything of these
        self.before_send = None;
    }

    /// Returns the key that names this purchase.
    pub const fn key(&self) -> PurchaseKey {
        self.key
    }

    /// Returns the payment identifier, the same on every send.
    pub const fn payment_id(&self) -> &PaymentId {
        &self.payment_id
    }

    /// Returns what is known of the money.
    pub const fn money(&self) -> Money {
        self.money
    }

    /// Returns how often the bytes that are shown now were shown, in this call and before.
    pub const fn shown(&self) -> u32 {
        self.shows.in_all()
    }

    /// Returns the receipt that settled this purchase, or the last one that said anything.
    pub const fn receipt(&self) -> Option<&Receipt> {
        self.receipt.as_ref()
    }

    /// Returns what was signed last, once something was. It has no bytes to read.
    pub fn payment(&self) -> Option<&SignedPayment> {
        match &self.step {
            Step::Signed(payment) => Some(payment),
            Step::Idle | Step::Accepted(_) => self.payments.as_slice().last(),
        }
    }

    /// Returns all that stands in the ledger, oldest first.
    pub fn payments(&self) -> &[SignedPayment] {
        &self.payments
    }

    /// Returns the most that the signatures of this purchase can move between them.
    pub fn at_stake(&self) -> Option<Amount> {
        let all = self.payments.iter().chain(self.payment());
        all.map(SignedPayment::amount).max()
    }

    /// Returns whether something was signed.
    pub fn is_signed(&self) -> bool {
        self.payment().is_some()
    }

    /// Returns whether the nonce was used by a payment that is not among those of this purchase, as
    /// far as can be told: its very first show was answered so.
    pub const fn is_spent_elsewhere(&self) -> bool {
        self.spent_elsewhere
    }

    /// Returns whether terms may be accepted at `now`: nothing was signed, or what was signed may
    /// be signed again with the same nonce.
    pub fn may_accept(&self, now: Timestamp) -> bool {
        let idle = matches!(self.step, Step::Idle);
        idle && (self.payments.is_empty() || self.may_sign_again(now))
    }

    /// Returns whether a second signature with the same nonce is allowed at `now`: the first was
    /// refused before anything was broadcast, or it has expired, and no receipt has come.
    pub fn may_sign_again(&self, now: Timestamp) -> bool {
        let room = !self.payments.is_empty() && self.payments.len() < MOST_SIGNATURES;
        let refused = self.money == Money::Refused;
        let expired = self.expires().is_some_and(|expires| expires <= now);
        room && self.money != Money::Settled && (refused || expired)
    }

    /// Returns when the last of what was signed expires.
    pub fn expires(&self) -> Option<Timestamp> {
        let all = self.payments.iter().chain(self.payment());
        let latest = all.map(SignedPayment::valid_before).max();
        latest.map(Timestamp::from_secs)
    }

    /// Accepts terms. They are signed next.
    ///
    /// # Errors
    ///
    /// [`PurchaseError::AlreadyAccepted`] if nothing may be signed now, and
    /// [`PurchaseError::OtherSpace`] if a second signature would not keep nonce, token, payer,
    /// payee and identifier of the first.
    pub fn accept(&mut self, terms: Terms, now: Timestamp) -> Result<(), PurchaseError> {
        if !self.may_accept(now) {
            return Err(PurchaseError::AlreadyAccepted);
        }
        if !self.payments.iter().all(|first| first.keeps_space(&terms)) {
            return Err(PurchaseError::OtherSpace);
        }
        self.step = Step::Accepted(Arc::new(terms));
        Ok(())
    }

    /// Returns the accepted terms while they wait for their signature.
    pub fn terms(&self) -> Option<Arc<Terms>> {
        match &self.step {
            Step::Accepted(terms) => Some(Arc::clone(terms)),
            Step::Idle | Step::Signed(_) => None,
        }
    }

    /// Takes the signature of the accepted terms.
    ///
    /// # Errors
    ///
    /// [`PurchaseError::NotAccepted`] if no terms wait for a signature, and
    /// [`PurchaseError::OtherTerms`] if the signer signed something else; nothing of it is kept.
    pub fn handle_signed(&mut self, payment: SignedPayment) -> Result<(), PurchaseError> {
        let terms = self.terms().ok_or(PurchaseError::NotAccepted)?;
        if !payment.is_of(&terms) {
            return Err(PurchaseError::OtherTerms);
        }
        self.step = Step::Signed(Box::new(payment));
        if self.money == Money::Unspent {
            self.money = Money::Signed;
        }
        Ok(())
    }

    /// Takes word that the accepted terms are not signed after all, or that what was signed does not
    /// stand in the ledger: what stood before stays.
    pub fn handle_unsigned(&mut self) {
        self.step = Step::Idle;
    }

    /// Takes word from the ledger that `stands` is what its record holds.
    ///
    /// It may be another signature than the one handed in, where somebody else's was first: the
    /// winner's bytes are shown.
    ///
    /// # Errors
    ///
    /// [`PurchaseError::NotSigned`] if nothing waits to be persisted, and
    /// [`PurchaseError::OtherSpace`] if `stands` could settle beside what stands already: it is
    /// never shown.
    pub fn handle_persisted(&mut self, stands: SignedPayment) -> Result<(), PurchaseError> {
        let waits = matches!(self.step, Step::Signed(_));
        if !waits {
            return Err(PurchaseError::NotSigned);
        }
        let same_space = |first: &SignedPayment| first.shares_space(&stands);
        if !self.payments.iter().all(same_space) {
            return Err(PurchaseError::OtherSpace);
        }
        self.step = Step::Idle;
        self.payments.push(stands);
        self.shows = Shows::default();
        // word of a send of the first bytes comes too late to say anything of these
        self.before_send = None;
        Ok(())
    }

    /// Returns until when the bytes may be shown: ten seconds before they expire.
    pub fn show_until(&self) -> Option<Timestamp> {
        let payment = self.payments.last()?;
        Some(Timestamp::from_secs(payment.valid_before()).saturating_sub(LAST_SHOW_BEFORE_EXPIRY))
    }

    /// Returns whether the persisted bytes may be shown at `now`.
    pub fn may_show(&self, now: Timestamp) -> bool {
        let idle = matches!(self.step, Step::Idle);
        let fresh = self.show_until().is_some_and(|until| now < until);
        let often = self.shows.here >= MOST_SHOWS || self.shows.in_all() >= MOST_SHOWS_IN_ALL;
        idle && fresh && !often
    }

    /// Hands out the persisted bytes for one send; from here on they count as sent.
    ///
    /// Returns `None` if nothing is persisted, the bytes are too old, or they were shown often
    /// enough.
    pub fn show(&mut self, now: Timestamp) -> Option<Showing> {
        if !self.may_show(now) {
            return None;
        }
        let header = self.payments.last()?.header().clone();
        self.shows.here = self.shows.here.saturating_add(1);
        self.before_send = Some(self.money);
        self.money = self.money.hearing(Money::Sent);
        Some(Showing { header })
    }

    /// Takes word that the bytes last handed out provably did not leave. A send that was answered,
    /// or lost, has left: of it this is not believed.
    pub const fn handle_unsent(&mut self) {
        if let Some(before) = self.before_send.take() {
            self.shows.here = self.shows.here.saturating_sub(1);
            self.money = before;
        }
    }

    /// Takes word that the last send got no answer. Money may have moved.
    pub const fn handle_lost(&mut self) {
        self.before_send = None;
        self.money = self.money.hearing(Money::Unknown);
    }
}

/// What a purchase was asked to do out of its order.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PurchaseError {
    /// Terms were accepted before, and what was signed for them may not be signed again now.
    #[error("this purchase has accepted an offer already")]
    AlreadyAccepted,
    /// A second signature would not keep the nonce, token, payer, payee and identifier of the first.
    #[error("the seller now asks for a payment that could settle beside the one that was signed")]
    OtherSpace,
    /// No terms wait for a signature.
    #[error("this purchase has accepted no offer")]
    NotAccepted,
    /// The signer signed other terms than it was given.
    #[error("the signer returned a payment for other terms than it was asked to sign")]
    OtherTerms,
    /// Nothing waits to be persisted.
    #[error("this purchase has nothing signed that waits to be persisted")]
    NotSigned,
}

/// A purchase is signed at most so often, each time with the same nonce.
pub const MOST_SIGNATURES: usize = 2;

/// One call shows the same bytes at most this often: once, and three times again.
const MOST_SHOWS: u32 = 4;

/// All calls of one purchase together show the same bytes at most this often.
const MOST_SHOWS_IN_ALL: u32 = 12;

/// Facilitators refuse what expires within six seconds; the rest is for the way there.
const LAST_SHOW_BEFORE_EXPIRY: Duration = Duration::from_secs(10);
