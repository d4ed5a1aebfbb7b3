//! What a wallet and its owner lend to one call.

use std::sync::Arc;

use paywait_x402::alloy_primitives::Address;
use paywait_x402::{Derivation, Policy, PurchaseKey, Usd};

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
    /// Whether the payer's balances can be asked for.
    pub asks_balances: bool,
    /// The most that is paid without asking; none if nobody is asked.
    pub approve_above: Option<Usd>,
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
            asks_balances: false,
            approve_above: None,
        }
    }

    /// Says whether the payer's balances can be asked for.
    #[must_use]
    pub const fn asks_balances(mut self, asks: bool) -> Self {
        self.asks_balances = asks;
        self
    }

    /// Sets the most that is paid without asking. What has no price in dollars is always asked
    /// about.
    #[must_use]
    pub const fn approve_above(mut self, most: Option<Usd>) -> Self {
        self.approve_above = most;
        self
    }
}
