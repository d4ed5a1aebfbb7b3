//! What a wallet and its owner lend to one call.

use std::sync::Arc;

use paywait_x402::alloy_primitives::Address;
use paywait_x402::{Derivation, Policy, PurchaseKey};

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
