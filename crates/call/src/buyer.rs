//! The paying side of one call: reads offers by the policy and keeps the one purchase.

use std::sync::Arc;

use http::StatusCode;
use paywait_signals::{OfferStanding, Standing, Timestamp};
pub(crate) use paywait_x402::Showing;
use paywait_x402::alloy_primitives::Address;
use paywait_x402::{
    Derivation, Money, Offer, PaymentId, Policy, Purchase, PurchaseKey, Refusal, Terms,
    valid_before,
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
    /// The offer of the last unpaid reply, and which entry of it to pay.
    offer: Option<(Offer, Result<usize, Refusal>)>,
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
            Some(errand) if paid => {
                // who was not asked cannot say that the payment moved nothing
                if !answer.same_origin {
                    errand.purchase.handle_lost();
                }
                errand.purchase.handle_reply(answer.reply, now)
            }
            Some(errand) => Standing::offered(errand.read_offer(answer)),
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
        let refusal = match &errand.offer {
            Some((_, choice)) => choice.err()?,
            None => Refusal::NothingOffered,
        };
        Some(NotPaid::Policy(refusal))
    }

    /// Decides what the next send needs before it can go.
    pub(crate) fn ready(&mut self, now: Timestamp) -> Ready {
        let Some(errand) = &mut self.errand else {
            return Ready::ToSend;
        };
        if errand.purchase.is_signed() {
            let may_show = errand.purchase.may_show(now);
            return if may_show {
                Ready::ToSend
            } else {
                Ready::Not(self.conclude(End::NotPaid(NotPaid::Expired)))
            };
        }
        if !errand.has_chosen() {
            return Ready::ToSend;
        }
        match errand.accept(now) {
            Ok(()) => Ready::ToIntend,
            Err(why) => Ready::Not(End::NotPaid(why)),
        }
    }

    /// Hands out the signed bytes for the next send, if there are any.
    pub(crate) fn show(&mut self, now: Timestamp) -> Option<Showing> {
        self.purchase_mut()?.show(now)
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

    /// Returns whether the signed bytes, if there are any, may be shown at `at`.
    pub(crate) fn may_show(&self, at: Timestamp) -> bool {
        let signed = self.purchase().filter(|purchase| purchase.is_signed());
        signed.is_none_or(|purchase| purchase.may_show(at))
    }

    /// How the call ends where it would end `otherwise`, had no money been at stake.
    pub(crate) fn conclude(&self, otherwise: End) -> End {
        let money = self.purchase().map_or(Money::Unspent, Purchase::money);
        if money == Money::Settled {
            return End::PaidNotDelivered;
        }
        let open = matches!(money, Money::Sent | Money::Pending | Money::Unknown);
        if open { End::OutcomeUnknown } else { otherwise }
    }

    /// Returns what was signed and what is known of it, for the report.
    pub(crate) fn paid(&self) -> Option<Paid> {
        let purchase = self.purchase()?;
        let payment = purchase.payment()?;
        let transaction = purchase
            .receipt()
            .map(|receipt| receipt.transaction().to_owned());
        Some(Paid {
            money: purchase.money(),
            amount: payment.amount(),
            asset: payment.asset(),
            payment_id: payment.payment_id().clone(),
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
        }
    }

    /// Reads the offer of a reply to an unpaid request, and keeps it.
    fn read_offer(&mut self, answer: &Answered<'_>) -> OfferStanding {
        self.offer = None;
        match read_offer(answer) {
            Ok(offer) => {
                let choice = self.means.policy.choose(&offer);
                self.offer = Some((offer, choice));
                OfferStanding::Payable
            }
            Err(none) => none,
        }
    }

    /// Returns whether an entry was chosen that waits to be accepted.
    const fn has_chosen(&self) -> bool {
        matches!(&self.offer, Some((_, Ok(_)))) && self.purchase.may_accept()
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
            key,
            ..
        } = &self.means;
        policy.check(entry).map_err(NotPaid::Policy)?;
        let nonce = derivation.nonce(*payer, entry.asset(), *key);
        let until = valid_before(now, entry.max_timeout_seconds(), policy.longest_window());
        let id = self.purchase.payment_id().clone();
        let terms = Terms::new(offer, *choice, *payer, nonce, id, until).map_err(NotPaid::Terms)?;
        let accepted = self.purchase.accept(terms);
        accepted.map_err(|error| NotPaid::Ledger(error.to_string()))
    }
}

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
