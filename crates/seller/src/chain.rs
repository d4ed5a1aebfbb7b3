//! The chain that this seller settles on: EIP-3009 nonces, balances, and the transfers made.

use std::collections::BTreeMap;
use std::time::Duration;

use alloy_primitives::{Address, B256, U256, keccak256};
use paywait_signals::Timestamp;

use crate::Token;
use crate::authorization::{Authorization, Slot};

/// One transfer: money that has moved.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settlement {
    /// The token.
    pub token: Token,
    /// Who paid.
    pub payer: Address,
    /// Who was paid.
    pub pay_to: Address,
    /// How much, in atomic units.
    pub amount: U256,
    /// The EIP-3009 nonce that it used up.
    pub nonce: B256,
    /// When it was broadcast.
    pub at: Timestamp,
    /// When it is, or was, mined.
    pub mined_at: Timestamp,
    /// The transaction.
    pub transaction: B256,
    /// The ordinal of the request that it was settled in; `None` if it was cashed in later.
    pub request: Option<usize>,
    /// The payment identifier that came with it.
    pub payment_id: Option<String>,
    key: B256,
}

/// The request that a settlement belongs to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Occasion {
    pub(crate) request: Option<usize>,
    pub(crate) payment_id: Option<String>,
}

/// Why the chain refuses a transfer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Revert {
    NonceUsed,
    Balance,
    /// Another transfer of this nonce was broadcast first and is not mined yet.
    Overtaken,
}

/// Nonces, balances and transfers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chain {
    settlements: Vec<Settlement>,
    used: BTreeMap<Slot, usize>,
    /// Payers that are not listed have as much as they need.
    balances: BTreeMap<((u64, Address), Address), U256>,
}

impl Chain {
    pub(crate) fn settlements(&self) -> &[Settlement] {
        &self.settlements
    }

    pub(crate) fn balance(&self, token: &Token, payer: Address) -> Option<U256> {
        self.balances.get(&(token.space(), payer)).copied()
    }

    pub(crate) fn set_balance(&mut self, token: &Token, payer: Address, balance: U256) {
        self.balances.insert((token.space(), payer), balance);
    }

    pub(crate) fn is_used(&self, slot: &Slot) -> bool {
        self.used.contains_key(slot)
    }

    /// Returns the transfer made by exactly this authorization.
    pub(crate) fn settlement_of(&self, authorization: &Authorization) -> Option<&Settlement> {
        let made = self
            .settlements
            .get(*self.used.get(&authorization.slot())?)?;
        (made.key == authorization.key()).then_some(made)
    }

    /// Waits for the transfer made by exactly this authorization, if it is not mined yet.
    pub(crate) fn mine(&mut self, authorization: &Authorization, now: Timestamp) -> Option<B256> {
        let key = authorization.key();
        let made = self
            .settlements
            .get_mut(*self.used.get(&authorization.slot())?)?;
        if made.key != key || made.mined_at <= now {
            return None;
        }
        made.mined_at = now;
        Some(made.transaction)
    }

    /// Asks whether a transfer would succeed now, by what is mined.
    pub(crate) fn simulate(
        &self,
        authorization: &Authorization,
        now: Timestamp,
    ) -> Result<(), Revert> {
        let made = self
            .used
            .get(&authorization.slot())
            .and_then(|made| self.settlements.get(*made));
        if made.is_some_and(|made| made.mined_at <= now) {
            return Err(Revert::NonceUsed);
        }
        // a payment that is under way has taken its money already
        let short = made.is_none()
            && self
                .balance(&authorization.token, authorization.from)
                .is_some_and(|balance| balance < authorization.value);
        if short { Err(Revert::Balance) } else { Ok(()) }
    }

    /// Makes the transfer, to be mined at `mined_at`.
    pub(crate) fn broadcast(
        &mut self,
        authorization: &Authorization,
        occasion: Occasion,
        now: Timestamp,
        mined_at: Timestamp,
    ) -> Result<B256, Revert> {
        self.simulate(authorization, now)?;
        let slot = authorization.slot();
        if self.is_used(&slot) {
            return Err(Revert::Overtaken);
        }
        let payer = (authorization.token.space(), authorization.from);
        if let Some(balance) = self.balances.get_mut(&payer) {
            *balance = balance.saturating_sub(authorization.value);
        }
        let transaction = transaction(authorization);
        self.used.insert(slot, self.settlements.len());
        self.settlements.push(Settlement {
            token: authorization.token.clone(),
            payer: authorization.from,
            pay_to: authorization.to,
            amount: authorization.value,
            nonce: authorization.nonce,
            at: now,
            mined_at,
            transaction,
            request: occasion.request,
            payment_id: occasion.payment_id,
            key: authorization.key(),
        });
        Ok(transaction)
    }
}

/// Returns the hash of the transaction that carries `authorization`.
pub(crate) fn transaction(authorization: &Authorization) -> B256 {
    keccak256([b"transaction".as_slice(), authorization.key().as_slice()].concat())
}

/// Returns whether `authorization` can still be settled at `now`, by its own window.
pub(crate) fn is_alive(authorization: &Authorization, now: Timestamp) -> bool {
    U256::from(now.as_secs()) < authorization.valid_before
}

/// Returns the time by which an authorization must outlive `now` to be accepted.
pub(crate) fn latest_acceptable(now: Timestamp) -> U256 {
    U256::from(now.saturating_add(MARGIN).as_secs())
}

/// What the reference facilitator asks for beyond now, for the transaction to be mined in time.
const MARGIN: Duration = Duration::from_secs(6);
