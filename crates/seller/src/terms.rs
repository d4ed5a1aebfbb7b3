//! One way to pay for a route: an entry of `accepts` in the offer.

use alloy_primitives::{Address, U256};
use serde_json::{Value, json};

use crate::Token;

/// When a route settles, in the words of x402's `paymentFlow`.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Flow {
    /// Verify, run the handler, and settle if it answered below 400.
    #[default]
    Authorization,
    /// Settle without verifying first, then run the handler: its failures are paid for.
    Upfront,
}

/// One way to pay for a route: an entry of `accepts` in the offer, scheme `exact`.
///
/// ```
/// use paywait_seller::{Flow, Terms};
/// use alloy_primitives::Address;
///
/// // 0.01 USDC on Base Sepolia, settled before the handler runs
/// let terms = Terms::usdc(10_000, Address::repeat_byte(0x22)).flow(Flow::Upfront).max_timeout(30);
/// assert_eq!(terms.amount().to_string(), "10000");
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Terms {
    token: Token,
    amount: U256,
    pay_to: Address,
    max_timeout: u64,
    flow: Flow,
    /// What version 1 calls the chain, where this is sold in version 1.
    v1_network: Option<String>,
}

impl Terms {
    /// Returns a price of `amount` atomic units of `token`, paid to `pay_to` within 60 seconds,
    /// settled after the handler.
    pub const fn new(token: Token, amount: U256, pay_to: Address) -> Self {
        Self {
            token,
            amount,
            pay_to,
            max_timeout: 60,
            flow: Flow::Authorization,
            v1_network: None,
        }
    }

    /// Returns a price of `amount` millionths of a dollar, in USDC on Base Sepolia.
    pub fn usdc(amount: u64, pay_to: Address) -> Self {
        Self::new(Token::usdc_base_sepolia(), U256::from(amount), pay_to)
    }

    /// Sets `maxTimeoutSeconds`: for how long the seller asks the authorization to be valid.
    #[must_use]
    pub const fn max_timeout(mut self, seconds: u64) -> Self {
        self.max_timeout = seconds;
        self
    }

    /// Sets when the route settles.
    #[must_use]
    pub const fn flow(mut self, flow: Flow) -> Self {
        self.flow = flow;
        self
    }

    /// Sells in version 1 of x402, which calls the token's chain `network`: offers stand in the
    /// body, payments in `X-PAYMENT`, receipts in `X-PAYMENT-RESPONSE`.
    ///
    /// Version 1 settles after the handler, whatever [`flow`](Self::flow) says. It refuses with a
    /// 402 that has a whole offer in its body and no receipt, be it that the payment is no good or
    /// that its settlement failed after the handler ran.
    ///
    /// ```
    /// use alloy_primitives::Address;
    /// use paywait_seller::{Route, Terms};
    ///
    /// let terms = Terms::usdc(10_000, Address::repeat_byte(0x22));
    /// // what a seller does that serves old buyers beside new ones
    /// let route = Route::new("/report", terms.clone()).or(terms.v1("base-sepolia"));
    /// # drop(route);
    /// ```
    #[must_use]
    pub fn v1(mut self, network: impl Into<String>) -> Self {
        self.v1_network = Some(network.into());
        self
    }

    /// Returns the token.
    pub const fn token(&self) -> &Token {
        &self.token
    }

    /// Returns the price in atomic units of the token.
    pub const fn amount(&self) -> U256 {
        self.amount
    }

    /// Returns the payee.
    pub const fn pay_to(&self) -> Address {
        self.pay_to
    }

    /// Returns when the route settles.
    pub const fn payment_flow(&self) -> Flow {
        match self.v1_network {
            Some(_) => Flow::Authorization,
            None => self.flow,
        }
    }

    /// Returns whether this is sold in version 1.
    pub(crate) const fn is_v1(&self) -> bool {
        self.v1_network.is_some()
    }

    /// Returns what its version calls the chain.
    pub(crate) fn network(&self) -> String {
        self.v1_network
            .clone()
            .unwrap_or_else(|| self.token.network())
    }

    pub(crate) const fn reprice(&mut self, amount: U256) {
        self.amount = amount;
    }

    /// Returns the entry of `accepts` that says all this in version 1.
    pub(crate) fn entry_v1(&self, resource: &str) -> Value {
        json!({
            "scheme": "exact",
            "network": self.network(),
            "maxAmountRequired": self.amount.to_string(),
            "resource": resource,
            "description": "",
            "mimeType": "application/json",
            "payTo": self.pay_to.to_string(),
            "maxTimeoutSeconds": self.max_timeout,
            "asset": self.token.address().to_string(),
            "extra": { "name": self.token.name(), "version": self.token.version() },
        })
    }

    /// Returns the entry of `accepts` that says all this in version 2.
    pub(crate) fn entry(&self) -> Value {
        let mut extra = json!({ "name": self.token.name(), "version": self.token.version() });
        if let (Flow::Upfront, Some(extra)) = (self.flow, extra.as_object_mut()) {
            extra.insert("paymentFlow".to_owned(), "upfront".into());
        }
        json!({
            "scheme": "exact",
            "network": self.token.network(),
            "amount": self.amount.to_string(),
            "asset": self.token.address().to_string(),
            "payTo": self.pay_to.to_string(),
            "maxTimeoutSeconds": self.max_timeout,
            "extra": extra,
        })
    }

    /// Returns whether a buyer's `accepted` is this entry: every field equal, `extra` a superset.
    pub(crate) fn is_echoed_by(&self, accepted: &Value) -> bool {
        let entry = self.entry();
        let (Some(entry), Some(accepted)) = (entry.as_object(), accepted.as_object()) else {
            return false;
        };
        entry.len() == accepted.len()
            && entry.iter().all(|(name, asked)| {
                accepted
                    .get(name)
                    .is_some_and(|echoed| match name.as_str() {
                        "extra" => contains(echoed, asked),
                        _ => echoed == asked,
                    })
            })
    }
}

/// Returns whether the object `whole` has every field of the object `part`, with an equal value.
pub(crate) fn contains(whole: &Value, part: &Value) -> bool {
    match (whole.as_object(), part.as_object()) {
        (Some(whole), Some(part)) => part
            .iter()
            .all(|(name, value)| whole.get(name) == Some(value)),
        _ => whole == part,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms() -> Terms {
        Terms::usdc(10_000, Address::repeat_byte(0x22))
    }

    #[test]
    fn the_entry_itself_is_an_echo_and_more_extra_is_allowed() {
        let mut echo = terms().entry();
        assert!(terms().is_echoed_by(&echo));
        echo["extra"]["more"] = json!(1);
        assert!(terms().is_echoed_by(&echo));
    }

    #[test]
    fn a_changed_dropped_or_added_field_is_no_echo() {
        let mut changed = terms().entry();
        changed["amount"] = json!("10001");
        let mut dropped = terms().entry();
        dropped.as_object_mut().unwrap().remove("maxTimeoutSeconds");
        let mut added = terms().entry();
        added["more"] = json!(1);
        let mut poorer = terms().entry();
        poorer["extra"] = json!({ "name": "USDC" });
        for echo in [changed, dropped, added, poorer, json!(null), json!([])] {
            assert!(!terms().is_echoed_by(&echo), "{echo}");
        }
    }

    #[test]
    fn an_upfront_entry_says_so_and_its_echo_must_too() {
        let upfront = terms().flow(Flow::Upfront);
        assert_eq!(upfront.entry()["extra"]["paymentFlow"], "upfront");
        assert!(!upfront.is_echoed_by(&terms().entry()));
    }
}
