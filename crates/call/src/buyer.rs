//! The paying side of one call: reads offers by the policy and keeps the one purchase.

use std::sync::Arc;

use http::StatusCode;
use paywait_signals::{OfferStanding, Standing, Timestamp};
use paywait_x402::alloy_primitives::Address;
use paywait_x402::{
    Derivation, Offer, PaymentId, Policy, Purchase, PurchaseKey, Refusal, Terms, headers,
    valid_before,
};

use crate::{Answered, NotPaid, Paid};

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

/// The paying side of one call.
#[derive(Debug)]
pub(crate) struct Buyer {
    means: Means,
    pub(crate) purchase: Purchase,
    /// The offer of the last unpaid reply, and which entry of it to pay.
    offer: Option<(Offer, Result<usize, Refusal>)>,
}

impl Buyer {
    pub(crate) fn new(means: Means) -> Self {
        let payment_id = if means.named {
            means.derivation.payment_id(means.payer, means.key)
        } else {
            PaymentId::random()
        };
        let purchase = Purchase::new(means.key, payment_id);
        Self {
            means,
            purchase,
            offer: None,
        }
    }

    /// Reads the offer of a reply to an unpaid request, and keeps it.
    ///
    /// An offer from another origin than the one that was asked is none.
    pub(crate) fn read_offer(&mut self, answer: &Answered<'_>) -> OfferStanding {
        self.offer = None;
        let refused = answer.reply.status == StatusCode::PAYMENT_REQUIRED && answer.same_origin;
        let field = answer.reply.headers.get(headers::PAYMENT_REQUIRED);
        let Some(field) = field.filter(|_| refused) else {
            return OfferStanding::None;
        };
        let Ok(offer) = Offer::decode(field.as_bytes()) else {
            return OfferStanding::Unreadable;
        };
        if offer.is_empty() {
            return OfferStanding::Unreadable;
        }
        let choice = self.means.policy.choose(&offer);
        self.offer = Some((offer, choice));
        OfferStanding::Payable
    }

    /// Returns why the offer at hand may not be paid, if it may not.
    pub(crate) fn objection(&self) -> Option<NotPaid> {
        match &self.offer {
            Some((_, Ok(_))) => None,
            Some((_, Err(refusal))) => Some(NotPaid::Policy(*refusal)),
            None => Some(NotPaid::Policy(Refusal::NothingOffered)),
        }
    }

    /// Returns whether an offer was accepted and waits to be signed.
    pub(crate) const fn is_buying(&self) -> bool {
        matches!(&self.offer, Some((_, Ok(_)))) && self.purchase.may_accept()
    }

    /// Accepts the chosen entry, with a window that starts now.
    ///
    /// The entry is checked against the policy once more: what is signed is what was checked.
    pub(crate) fn accept(&mut self, now: Timestamp) -> Result<(), NotPaid> {
        let Some((offer, Ok(choice))) = &self.offer else {
            return Err(NotPaid::Policy(Refusal::NothingOffered));
        };
        let entry = offer.entries().get(*choice);
        let entry = entry.ok_or(NotPaid::Policy(Refusal::NothingOffered))?;
        let policy = &self.means.policy;
        policy.check(entry).map_err(NotPaid::Policy)?;
        let nonce = self
            .means
            .derivation
            .nonce(self.means.payer, entry.asset(), self.means.key);
        let valid_before = valid_before(now, entry.max_timeout_seconds(), policy.longest_window());
        let terms = Terms::new(
            offer,
            *choice,
            self.means.payer,
            nonce,
            self.purchase.payment_id().clone(),
            valid_before,
        )
        .map_err(NotPaid::Terms)?;
        self.purchase
            .accept(terms)
            .map_err(|error| NotPaid::Ledger(error.to_string()))
    }

    /// Returns the standing of a reply, paid or not.
    pub(crate) fn standing(
        &mut self,
        answer: &Answered<'_>,
        paid: bool,
        now: Timestamp,
    ) -> Standing {
        if paid {
            let reply = answer.reply;
            return self.purchase.handle_reply(reply.status, reply.headers, now);
        }
        Standing::offered(self.read_offer(answer))
    }

    /// Returns what was signed and what is known of it, for the report.
    pub(crate) fn paid(&self) -> Option<Paid> {
        let payment = self.purchase.payment()?;
        let receipt = self.purchase.receipt();
        let transaction = receipt.map(|receipt| receipt.transaction().to_owned());
        Some(Paid {
            money: self.purchase.money(),
            amount: payment.amount(),
            asset: payment.asset(),
            payment_id: self.purchase.payment_id().clone(),
            valid_before: payment.valid_before(),
            transaction: transaction.filter(|hash| !hash.is_empty()),
        })
    }
}
