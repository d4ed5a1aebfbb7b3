//! Who verifies and settles for the shop, with the reasons of the reference facilitator.

use alloy_primitives::B256;
use paywait_signals::Timestamp;

use crate::Terms;
use crate::authorization::Authorization;
use crate::chain::{Chain, Occasion, Revert, latest_acceptable, transaction};

/// What a facilitator answers when it is asked to settle a payment that it has settled.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Facilitator {
    /// Success again, with the same transaction: in the flow `upfront` the handler runs again.
    #[default]
    Idempotent,
    /// `invalid_exact_evm_nonce_already_used`.
    Strict,
}

/// A settlement that was refused, with the transaction where one was broadcast.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) reason: &'static str,
    pub(crate) transaction: Option<B256>,
}

impl Refusal {
    /// The payment was broadcast, and waiting for it was given up.
    pub(crate) const fn pending(transaction: B256) -> Self {
        Self {
            reason: "settlement_pending",
            transaction: Some(transaction),
        }
    }
}

impl Facilitator {
    /// Verifies a payment and simulates its transfer; an error is the reason.
    pub(crate) fn verify(
        chain: &Chain,
        payment: (&Authorization, bool),
        terms: &Terms,
        now: Timestamp,
    ) -> Result<(), &'static str> {
        check(payment, terms, now)?;
        chain.simulate(payment.0, now).map_err(reason)
    }

    /// Settles a payment.
    pub(crate) fn settle(
        self,
        chain: &mut Chain,
        payment: (&Authorization, bool),
        terms: &Terms,
        occasion: Occasion,
        now: Timestamp,
    ) -> Result<B256, Refusal> {
        if let Some(mined) = chain.mine(payment.0, now) {
            return Ok(mined);
        }
        match (self, chain.settlement_of(payment.0)) {
            (Self::Idempotent, Some(made)) => Ok(made.transaction),
            (Self::Idempotent, None) | (Self::Strict, _) => {
                Self::broadcast(chain, payment, terms, occasion, now, now)
            }
        }
    }

    /// Broadcasts a payment, to be mined at `mined_at`, unless it was broadcast before.
    pub(crate) fn broadcast(
        chain: &mut Chain,
        payment: (&Authorization, bool),
        terms: &Terms,
        occasion: Occasion,
        now: Timestamp,
        mined_at: Timestamp,
    ) -> Result<B256, Refusal> {
        check(payment, terms, now).map_err(|reason| Refusal {
            reason,
            transaction: None,
        })?;
        chain
            .broadcast(payment.0, occasion, now, mined_at)
            .map_err(|revert| Refusal {
                reason: reason(revert),
                transaction: (revert == Revert::Overtaken).then(|| transaction(payment.0)),
            })
    }
}

/// What needs no chain, in the order of the reference. The scheme and the network were compared
/// with the offer before.
fn check(
    (authorization, signed): (&Authorization, bool),
    terms: &Terms,
    now: Timestamp,
) -> Result<(), &'static str> {
    if !signed {
        return Err("invalid_exact_evm_signature");
    }
    if authorization.to != terms.pay_to() {
        return Err("invalid_exact_evm_recipient_mismatch");
    }
    if authorization.valid_before < latest_acceptable(now) {
        return Err("invalid_exact_evm_payload_authorization_valid_before");
    }
    if authorization.valid_after > alloy_primitives::U256::from(now.as_secs()) {
        return Err("invalid_exact_evm_payload_authorization_valid_after");
    }
    if authorization.value != terms.amount() {
        return Err("invalid_exact_evm_payload_authorization_value_mismatch");
    }
    Ok(())
}

const fn reason(revert: Revert) -> &'static str {
    match revert {
        Revert::NonceUsed => "invalid_exact_evm_nonce_already_used",
        Revert::Balance => "invalid_exact_evm_insufficient_balance",
        Revert::Overtaken => "invalid_exact_evm_transaction_failed",
    }
}
