//! What the reference seller has seen and settled.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Everything the seller wrote down since it started or was reset.
#[non_exhaustive]
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Ledger {
    /// The transfers that the chain made, oldest first.
    pub settlements: Vec<Settlement>,
    /// How often the seller asked its facilitator to verify.
    pub verifies: u64,
    /// How often the seller asked its facilitator to settle, whatever came of it.
    pub settles: u64,
    /// Every request to a path other than `/ledger` and `/reset`, oldest first.
    pub requests: Vec<Request>,
    /// How often the handler behind the paywall ran, by path.
    pub handler_runs: BTreeMap<String, u64>,
}

impl Ledger {
    /// Returns how often the handler of a path ran.
    pub fn runs(&self, path: &str) -> u64 {
        self.handler_runs.get(path).copied().unwrap_or_default()
    }
}

/// One transfer of money.
#[non_exhaustive]
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Settlement {
    /// Who paid: a checksummed address.
    pub payer: String,
    /// Who was paid: a checksummed address.
    pub to: String,
    /// How much, in atomic units, as decimal digits.
    pub value: String,
    /// The nonce of the authorization: `0x` and 64 lower case hex digits.
    pub nonce: String,
    /// The hash of the transaction.
    pub transaction: String,
    /// When, as an RFC 3339 timestamp.
    pub at: String,
}

/// One HTTP request.
#[non_exhaustive]
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// The method.
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// Whether it carried a payment header, readable or not.
    pub paid: bool,
    /// The nonce of its authorization, where the payment header could be read.
    pub nonce: Option<String>,
    /// Its payment identifier, where it carried a well-formed one.
    pub payment_id: Option<String>,
    /// The status of the answer; none while it is still unanswered.
    pub status: Option<u16>,
}
