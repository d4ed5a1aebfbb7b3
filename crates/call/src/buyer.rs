//! The paying side of one call: reads offers by the policy and keeps the one purchase.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use paywait_signals::{
    FailureClass, OfferStanding, ReceiptStanding, Standing, Timestamp, clock_ahead,
};
pub(crate) use paywait_x402::Showing;
use paywait_x402::alloy_primitives::Address;
use paywait_x402::{
    Derivation, Mend, Money, Offer, PaymentId, Policy, Purchase, PurchaseKey, Refusal,
    SignedPayment, Terms, mend_of, valid_before,
};

use crate::{Answered, End, Facts, NotPaid, Paid};

/// What a wallet and its owner lend to one call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Means {
    /// What may be signed.
    pub policy: Arc<Policy>,
    /// Who pays.
    pub payer: Address,
    /// How nonce and identifier follow from the key.
    pub derivation: Derivation,
    /// The purchase key: the caller's, or a random one.
    pub key: PurchaseKey,
    /// Whether the caller named the purchase.
    pub named: bool,
}

impl Means {
    /// Returns what a wallet lends to a call: `payer` pays by `policy`.
    pub const fn new(
        policy: Arc<Policy>,
        payer: Address,
        derivation: Derivation,
        key: PurchaseKey,
        named: bool,
    ) -> Self {
        Self {
            policy,
            payer,
            derivation,
            key,
            named,
        }
    }
}

/// The paying side of one call, where it has one.
#[derive(Debug, Default)]
pub(crate) struct Buyer {
    /// Apart: a call that is free does not carry it about.
    errand: Option<Box<Errand>>,
}

/// What one call may buy, and how far that has come.
#[derive(Debug)]
struct Errand {
    means: Means,
    purchase: Purchase,
    /// The last offer that was read, and which entry of it to pay.
    offer: Option<(Offer, Result<usize, Refusal>)>,
    /// What a second signature is to mend.
    mend: Option<Mend>,
    /// The ledger knows of a reason that this call does not: it signs nothing beside what stands.
    barred: bool,
    /// The next send asks for the price, whatever could be shown.
    asks_price: bool,
    /// How far the seller's clock is ahead, bounded.
    ahead: Duration,
}

/// What the next send needs before it can go.
#[derive(Debug)]
pub(crate) enum Ready {
    /// Nothing.
    ToSend,
    /// Terms were accepted: their intent is to be written.
    ToIntend,
    /// It cannot go.
    Not(End),
}

impl Buyer {
    /// Takes means to pay; the first ones count.
    pub(crate) fn lend(&mut self, means: Means) {
        self.errand
            .get_or_insert_with(|| Box::new(Errand::new(means)));
    }

    pub(crate) fn purchase(&self) -> Option<&Purchase> {
        self.errand.as_ref().map(|errand| &errand.purchase)
    }

    pub(crate) fn purchase_mut(&mut self) -> Option<&mut Purchase> {
        self.errand.as_mut().map(|errand| &mut errand.purchase)
    }

    /// Returns the standing of a reply, paid or not.
    pub(crate) fn standing(
        &mut self,
        answer: &Answered<'_>,
        paid: bool,
        now: Timestamp,
    ) -> Standing {
        match &mut self.errand {
            // who has no wallet can still say what was asked for
            None if paid => Standing::unpaid(),
            None => match read_offer(answer) {
                Ok(_) => Standing::offered(OfferStanding::Payable),
                Err(none) => Standing::offered(none),
            },
            Some(errand) => {
                let ahead = clock_ahead(answer.reply.headers, now);
                errand.ahead = ahead.min(MOST_AHEAD);
                if paid {
                    errand.hear(answer, now)
                } else {
                    Standing::offered(errand.read_offer(answer))
                }
            }
        }
    }

    /// Returns why the offer at hand may not be paid, if it may not.
    pub(crate) fn objection(&self, facts: &Facts) -> Option<NotPaid> {
        let Some(errand) = &self.errand else {
            return Some(NotPaid::NoWallet);
        };
        if !facts.replayable {
            return Some(NotPaid::Once);
        }
        if !facts.payable {
            return Some(NotPaid::Insecure);
        }
        if facts.follows_redirects {
            return Some(NotPaid::Redirected);
        }
        let refusal = match &errand.offer {
            Some((_, choice)) => choice.err()?,
            None => Refusal::NothingOffered,
        };
        Some(NotPaid::Policy(refusal))
    }

    /// Returns whether a second signature would mend what the seller refused, and is allowed.
    pub(crate) fn mends(&self, now: Timestamp) -> bool {
        self.errand.as_ref().is_some_and(|errand| errand.mends(now))
    }

    /// The ledger let nothing be signed beside what this call had: it asks no more.
    pub(crate) fn bar_another(&mut self) {
        if let Some(errand) = &mut self.errand {
            errand.barred |= errand.purchase.is_signed();
        }
    }

    /// Decides what the next send needs before it can go.
    pub(crate) fn ready(&mut self, now: Timestamp) -> Ready {
        let Some(errand) = &mut self.errand else {
            return Ready::ToSend;
        };
        let mends = errand.mends(now);
        errand.asks_price = false;
        if errand.purchase.may_show(now) && !mends {
            return Ready::ToSend;
        }
        if errand.purchase.is_signed() && !mends && !errand.outlived(now) {
            return Ready::Not(self.conclude(End::NotPaid(NotPaid::Expired)));
        }
        if !errand.has_chosen() {
            errand.asks_price = true;
            return Ready::ToSend;
        }
        match errand.accept(now) {
            Ok(()) => Ready::ToIntend,
            Err(why) => Ready::Not(self.conclude(End::NotPaid(why))),
        }
    }

    /// Hands out the signed bytes for the next send, if there are any and it is not to ask for the
    /// price.
    pub(crate) fn show(&mut self, now: Timestamp) -> Option<Showing> {
        let errand = self.errand.as_mut().filter(|errand| !errand.asks_price)?;
        let showing = errand.purchase.show(now)?;
        // what was offered before is paid for: a second signature asks again
        errand.mend = None;
        Some(showing)
    }

    /// The bytes of the last send did not leave.
    pub(crate) fn take_back(&mut self) {
        if let Some(purchase) = self.purchase_mut() {
            purchase.handle_unsent();
        }
    }

    /// The last send, which carried a payment or not, got no answer. An offer in the head of an
    /// answer that did not come is none.
    pub(crate) fn lose(&mut self, paid: bool) {
        let Some(errand) = &mut self.errand else {
            return;
        };
        if paid {
            errand.purchase.handle_lost();
        } else {
            errand.offer = None;
        }
    }

    /// Returns when a send that would go at `at` can go: at once with the signed bytes, if there are
    /// any and they live until then; else when a second signature is allowed; else never.
    pub(crate) fn goes_at(&mut self, at: Timestamp) -> Option<Timestamp> {
        let Some(errand) = self
            .errand
            .as_mut()
            .filter(|errand| errand.purchase.is_signed())
        else {
            return Some(at);
        };
        if errand.purchase.may_show(at) {
            return Some(at);
        }
        let outlives = errand.purchase.show_until()? <= at;
        let at = errand.purchase.expires().filter(|_| outlives)?.max(at);
        // the price of then, not of now
        errand.offer = None;
        errand.may_sign_again(at).then_some(at)
    }

    /// How the call ends where it would end `otherwise`, had no money been at stake.
    pub(crate) fn conclude(&self, otherwise: End) -> End {
        let Some(errand) = &self.errand else {
            return otherwise;
        };
        match errand.purchase.money() {
            // a random nonce has nobody else to use it
            Money::Settled if errand.purchase.is_spent_elsewhere() && errand.means.named => {
                End::KeySpent
            }
            Money::Settled => End::PaidNotDelivered,
            Money::Sent | Money::Pending | Money::Unknown => End::OutcomeUnknown,
            Money::Unspent | Money::Signed | Money::Refused | _ => otherwise,
        }
    }

    /// Returns what was signed and what is known of it, for the report.
    pub(crate) fn paid(&self) -> Option<Paid> {
        let purchase = self.purchase()?;
        let payment = purchase.payment()?;
        let transaction = purchase
            .receipt()
            .map(|receipt| receipt.transaction().to_owned());
        Some(Paid {
            key: purchase.key(),
            money: purchase.money(),
            amount: purchase.at_stake().unwrap_or_else(|| payment.amount()),
            asset: payment.asset(),
            payment_id: payment.payment_id().clone(),
            nonce: payment.nonce(),
            valid_before: payment.valid_before(),
            transaction: transaction.filter(|hash| !hash.is_empty()),
        })
    }
}

impl Errand {
    fn new(means: Means) -> Self {
        let payment_id = if means.named {
            means.derivation.payment_id(means.payer, means.key)
        } else {
            PaymentId::random()
        };
        Self {
            purchase: Purchase::new(means.key, payment_id),
            means,
            offer: None,
            mend: None,
            barred: false,
            asks_price: false,
            ahead: Duration::ZERO,
        }
    }

    /// Reads the offer of a reply to an unpaid request, and keeps it.
    fn read_offer(&mut self, answer: &Answered<'_>) -> OfferStanding {
        self.offer = None;
        match read_offer(answer) {
            Ok(offer) => {
                let choice = match self.purchase.payment() {
                    Some(first) => self.means.policy.choose_again(&offer, first),
                    None => self.means.policy.choose(&offer),
                };
                self.offer = Some((offer, choice));
                OfferStanding::Payable
            }
            Err(none) => none,
        }
    }

    /// Reads a reply to a paid send. Where it refuses what a second signature could mend, it may
    /// bring the offer for that one.
    fn hear(&mut self, answer: &Answered<'_>, now: Timestamp) -> Standing {
        // who was not asked cannot say that the payment moved nothing
        if !answer.same_origin {
            self.purchase.handle_lost();
        }
        let standing = self.purchase.handle_reply(answer.reply, now);
        if let ReceiptStanding::Failed {
            class: FailureClass::BeforeBroadcast,
            reason,
        } = &standing.receipt
        {
            self.mend = mend_of(reason);
            let brings_offer = read_offer(answer).is_ok();
            if brings_offer || self.mend == Some(Mend::Terms) {
                self.read_offer(answer);
            }
        }
        standing
    }

    fn mends(&self, now: Timestamp) -> bool {
        self.mend.is_some() && self.may_sign_again(now)
    }

    fn may_sign_again(&self, now: Timestamp) -> bool {
        !self.barred && self.purchase.may_sign_again(now)
    }

    /// Returns whether what was signed is too old to be shown, and may be signed again.
    fn outlived(&self, now: Timestamp) -> bool {
        let until = self.purchase.show_until();
        until.is_some_and(|until| until <= now) && self.may_sign_again(now)
    }

    /// Returns whether an entry was chosen.
    const fn has_chosen(&self) -> bool {
        matches!(&self.offer, Some((_, Ok(_))))
    }

    /// Accepts the chosen entry, with a window that starts now.
    ///
    /// The entry is checked against the policy once more: what is signed is what was checked.
    fn accept(&mut self, now: Timestamp) -> Result<(), NotPaid> {
        let nothing = NotPaid::Policy(Refusal::NothingOffered);
        let Some((offer, Ok(choice))) = &self.offer else {
            return Err(nothing);
        };
        let entry = offer.entries().get(*choice).ok_or(nothing)?;
        let Means {
            policy,
            payer,
            derivation,
            ..
        } = &self.means;
        policy.check(entry).map_err(NotPaid::Policy)?;
        let nonce = match self.purchase.payment() {
            Some(first) => SignedPayment::nonce(first),
            None => derivation.nonce(*payer, entry.asset(), self.means.key),
        };
        // a window that proved too short is as long as is allowed at all
        let asked = match self.mend {
            Some(Mend::Window) => u64::MAX,
            _ => entry.max_timeout_seconds(),
        };
        let start = now.saturating_add(self.ahead);
        let until = valid_before(start, asked, policy.longest_window());
        let id = self.purchase.payment_id().clone();
        let terms = Terms::new(offer, *choice, *payer, nonce, id, until).map_err(NotPaid::Terms)?;
        let accepted = self.purchase.accept(terms, now);
        accepted.map_err(|error| NotPaid::Ledger(error.to_string()))
    }
}

/// A seller's clock may move the end of a window by no more than this.
const MOST_AHEAD: Duration = Duration::from_secs(120);

/// Reads the offer of a reply to an unpaid request, or says why there is none to pay.
///
/// An offer from another origin than the one that was asked is none.
fn read_offer(answer: &Answered<'_>) -> Result<Offer, OfferStanding> {
    let reply = answer.reply;
    if reply.status != StatusCode::PAYMENT_REQUIRED || !answer.same_origin {
        return Err(OfferStanding::None);
    }
    match Offer::of(reply.headers, reply.body) {
        Ok(None) => Err(OfferStanding::None),
        Ok(Some(offer)) if !offer.is_empty() => Ok(offer),
        Ok(Some(_)) | Err(_) => Err(OfferStanding::Unreadable),
    }
}
