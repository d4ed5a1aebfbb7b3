//! The machine of one purchase: what was signed, what was sent, and what is known of the money.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use paywait_signals::{FailureClass, ReceiptStanding, Reply, Standing, Timestamp};

use crate::{Money, PaymentId, PurchaseKey, Receipt, Showing, SignedPayment, Statement, Terms};

/// The paid side of one call: one identifier, one nonce, one hold.
///
/// Pure: it is told what happened and answers what may happen next. It keeps three promises
/// whatever it is told, in whatever order:
///
/// * **One signature.** [`accept`](Self::accept) works once; nothing is signed again.
/// * **Written first.** Signed bytes leave only through [`show`](Self::show), which answers
///   nothing until [`handle_persisted`](Self::handle_persisted) said that they stand in a ledger.
/// * **Unknown stays unknown.** A seller's refusal speaks of its own send. It never turns money
///   that may have moved into money that did not.
///
/// EIP-3009 lets a nonce settle once, so the same bytes move money at most once however often
/// they are shown.
#[derive(Debug)]
pub struct Purchase {
    key: PurchaseKey,
    payment_id: PaymentId,
    step: Step,
    money: Money,
    shown: u32,
    /// While a send is under way, what `money` was before it: its bytes may turn out not to have left.
    before_send: Option<Money>,
    receipt: Option<Receipt>,
}

/// How far the signing has come.
#[derive(Debug)]
enum Step {
    Unpaid,
    Accepted(Arc<Terms>),
    Signed(SignedPayment),
    Persisted(SignedPayment),
}

impl Purchase {
    /// Returns a purchase that has signed nothing.
    pub const fn new(key: PurchaseKey, payment_id: PaymentId) -> Self {
        Self {
            key,
            payment_id,
            step: Step::Unpaid,
            money: Money::Unspent,
            shown: 0,
            before_send: None,
            receipt: None,
        }
    }

    /// Takes up a purchase where a ledger's record left it: `payment` stands there already.
    ///
    /// `money` is what the record says; a record that does not say more than *signed* is taken as
    /// *unknown*, since whoever wrote it may have died after sending. A purchase whose bytes stand
    /// already keeps them, and what it knows.
    pub fn resume(&mut self, payment: SignedPayment, money: Money) {
        if matches!(self.step, Step::Persisted(_)) {
            return;
        }
        self.money = match money {
            Money::Unspent | Money::Signed | Money::Sent => Money::Unknown,
            Money::Refused | Money::Pending | Money::Unknown | Money::Settled => money,
        };
        self.payment_id = payment.payment_id().clone();
        self.step = Step::Persisted(payment);
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

    /// Returns how often the signed bytes were shown.
    pub const fn shown(&self) -> u32 {
        self.shown
    }

    /// Returns the receipt that settled this purchase, or the last one that said anything.
    pub const fn receipt(&self) -> Option<&Receipt> {
        self.receipt.as_ref()
    }

    /// Returns what was signed, once something was. It has no bytes to read.
    pub const fn payment(&self) -> Option<&SignedPayment> {
        match &self.step {
            Step::Unpaid | Step::Accepted(_) => None,
            Step::Signed(payment) | Step::Persisted(payment) => Some(payment),
        }
    }

    /// Returns whether something was signed.
    pub const fn is_signed(&self) -> bool {
        self.payment().is_some()
    }

    /// Returns whether an offer may still be accepted: none was so far.
    pub const fn may_accept(&self) -> bool {
        matches!(self.step, Step::Unpaid)
    }

    /// Accepts terms. They are signed next.
    ///
    /// # Errors
    ///
    /// [`PurchaseError::AlreadyAccepted`]: terms were accepted before, and a purchase is signed
    /// once.
    pub fn accept(&mut self, terms: Terms) -> Result<(), PurchaseError> {
        if !self.may_accept() {
            return Err(PurchaseError::AlreadyAccepted);
        }
        self.step = Step::Accepted(Arc::new(terms));
        Ok(())
    }

    /// Returns the accepted terms while they wait for their signature.
    pub fn terms(&self) -> Option<Arc<Terms>> {
        match &self.step {
            Step::Accepted(terms) => Some(Arc::clone(terms)),
            Step::Unpaid | Step::Signed(_) | Step::Persisted(_) => None,
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
        self.step = Step::Signed(payment);
        if self.money == Money::Unspent {
            self.money = Money::Signed;
        }
        Ok(())
    }

    /// Takes word from the ledger that `stands` is what its record holds.
    ///
    /// It may be another signature than the one handed in, where somebody else's was first: the
    /// winner's bytes are shown.
    ///
    /// # Errors
    ///
    /// [`PurchaseError::NotSigned`] if nothing waits to be persisted.
    pub fn handle_persisted(&mut self, stands: SignedPayment) -> Result<(), PurchaseError> {
        match &self.step {
            Step::Signed(_) => self.step = Step::Persisted(stands),
            Step::Unpaid | Step::Accepted(_) | Step::Persisted(_) => {
                return Err(PurchaseError::NotSigned);
            }
        }
        Ok(())
    }

    /// Returns until when the bytes may be shown: ten seconds before they expire.
    pub fn show_until(&self) -> Option<Timestamp> {
        let payment = self.payment()?;
        Some(Timestamp::from_secs(payment.valid_before()).saturating_sub(LAST_SHOW_BEFORE_EXPIRY))
    }

    /// Returns whether the persisted bytes may be shown at `now`.
    pub fn may_show(&self, now: Timestamp) -> bool {
        let persisted = matches!(self.step, Step::Persisted(_));
        persisted && self.shown < MOST_SHOWS && self.show_until().is_some_and(|until| now < until)
    }

    /// Hands out the persisted bytes for one send; from here on they count as sent.
    ///
    /// Returns `None` if nothing is persisted, the bytes are too old, or they were shown often
    /// enough.
    pub fn show(&mut self, now: Timestamp) -> Option<Showing> {
        if !self.may_show(now) {
            return None;
        }
        let Step::Persisted(payment) = &self.step else {
            return None;
        };
        let header = payment.header().clone();
        self.shown = self.shown.saturating_add(1);
        self.before_send = Some(self.money);
        self.money = self.money.hearing(Money::Sent);
        Some(Showing { header })
    }

    /// Takes word that the bytes last handed out provably did not leave. A send that was answered,
    /// or lost, has left: of it this is not believed.
    pub const fn handle_unsent(&mut self) {
        if let Some(before) = self.before_send.take() {
            self.shown = self.shown.saturating_sub(1);
            self.money = before;
        }
    }

    /// Takes word that the last send got no answer. Money may have moved.
    pub const fn handle_lost(&mut self) {
        self.before_send = None;
        self.money = self.money.hearing(Money::Unknown);
    }

    /// Reads what a reply to a paid send says of the money, and returns the standing of it.
    ///
    /// The receipt is read on every status. A 402 without one is read by the reason in its offer,
    /// in a header or in the body; it is never a first offer.
    pub fn handle_reply(&mut self, reply: Reply<'_>, now: Timestamp) -> Standing {
        let Statement { said, receipt } = Statement::read(reply);
        let before = self.before_send.take().unwrap_or(self.money);
        self.money = self.money.hearing(news(before, reply.status, &said));
        if self.receipt.is_none() || said == ReceiptStanding::Settled {
            self.receipt = receipt.or_else(|| self.receipt.take());
        }
        // a nonce that was used is answered the same way each time
        let useless = matches!(
            said,
            ReceiptStanding::Failed {
                class: FailureClass::AlreadyUsed,
                ..
            }
        );
        Standing::paid(self.standing(said), !useless && self.may_show(now))
    }

    /// What the reply said, in the light of what was known before: a refusal of this send does not
    /// take back a receipt or a broadcast that was seen.
    fn standing(&self, said: ReceiptStanding) -> ReceiptStanding {
        use FailureClass::{AlreadyUsed, BeforeBroadcast, Unknown};
        match (self.money, said) {
            (Money::Settled, ReceiptStanding::Failed { reason, .. }) => ReceiptStanding::Failed {
                class: AlreadyUsed,
                reason,
            },
            (Money::Settled, _) => ReceiptStanding::Settled,
            (Money::Pending, _) => ReceiptStanding::Pending,
            (
                Money::Unknown,
                ReceiptStanding::Failed {
                    class: BeforeBroadcast,
                    reason,
                },
            ) => ReceiptStanding::Failed {
                class: Unknown,
                reason,
            },
            (_, said) => said,
        }
    }
}

/// What a reply says of the money of all sends so far, and not only of its own: `before` is what was
/// known when its send began.
fn news(before: Money, status: StatusCode, said: &ReceiptStanding) -> Money {
    let news = Money::said(status, said);
    let earlier_send_is_open = before == Money::Sent;
    if news == Money::Refused && earlier_send_is_open {
        Money::Sent
    } else {
        news
    }
}

/// What a purchase was asked to do out of its order.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PurchaseError {
    /// Terms were accepted before.
    #[error("this purchase has accepted an offer already")]
    AlreadyAccepted,
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

/// The bytes are shown at most this often: once, and three times again.
const MOST_SHOWS: u32 = 4;

/// Facilitators refuse what expires within six seconds; the rest is for the way there.
const LAST_SHOW_BEFORE_EXPIRY: Duration = Duration::from_secs(10);
