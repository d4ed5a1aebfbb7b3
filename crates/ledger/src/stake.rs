//! What a purchase can cost, and until when.

use std::time::Duration;

use paywait_signals::Timestamp;
use paywait_x402::alloy_primitives::{Address, B256};
use paywait_x402::{Amount, Asset, PaymentId, Terms, Usd};

/// What a purchase can cost: the largest amount and the latest expiry over all its signatures.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Stake {
    /// Who pays.
    pub payer: Address,
    /// Who is paid.
    pub pay_to: Address,
    /// The token.
    pub asset: Asset,
    /// The nonce that lets it settle once.
    pub nonce: B256,
    /// The identifier that the seller knows it by.
    pub payment_id: PaymentId,
    /// How much, in atomic units of the token.
    pub amount: Amount,
    /// How much, in dollars, rounded up; nothing for a token that has no price in dollars.
    pub price: Option<Usd>,
    /// Until when it can be cashed, in seconds since the Unix epoch.
    pub valid_before: u64,
}

impl Stake {
    pub(crate) fn of(terms: &Terms, price: Option<Usd>) -> Self {
        Self {
            payer: terms.payer(),
            pay_to: terms.pay_to(),
            asset: terms.asset(),
            nonce: terms.nonce(),
            payment_id: terms.payment_id().clone(),
            amount: terms.amount(),
            price,
            valid_before: terms.valid_before(),
        }
    }

    /// Returns when nothing of it can settle any more, `margin` after it expires.
    pub(crate) fn dies(&self, margin: Duration) -> Timestamp {
        Timestamp::from_secs(self.valid_before).saturating_add(margin)
    }

    /// Returns `self`, raised to what was at stake before: a stake is never lowered.
    pub(crate) fn raised(mut self, before: &Self) -> Self {
        self.amount = self.amount.max(before.amount);
        self.price = self.price.max(before.price);
        self.valid_before = self.valid_before.max(before.valid_before);
        self
    }
}

/// What becomes of a hold when what was signed has died with neither receipt nor proof.
///
/// Death is no proof that it did not settle before.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize, Eq, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub enum OnDeath {
    /// It counts as spent on that day.
    #[default]
    Presume,
    /// It is let go this long after it expired. What had settled unseen is then not counted: choose
    /// it only where limits may be passed by that much.
    Release(Duration),
}
