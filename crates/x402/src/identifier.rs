//! The identifier of one purchase (extension `payment-identifier`).

use std::fmt;

use alloy_primitives::B256;
use uuid::Uuid;

/// The identifier of one purchase: the same on every send of it.
///
/// ```
/// use paywait_x402::PaymentId;
/// let id = PaymentId::random();
/// assert!(id.as_str().starts_with("pay_") && id.as_str().len() == 36);
/// ```
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct PaymentId(String);

impl PaymentId {
    /// Returns an identifier that nobody has had before: a version 4 UUID without hyphens.
    pub fn random() -> Self {
        Self(format!("{PREFIX}{}", Uuid::new_v4().simple()))
    }

    /// Returns the identifier that starts with the first half of `hash`.
    pub(crate) fn from_hash(hash: B256) -> Self {
        let (half, _) = hash.0.split_at(16);
        Self(format!("{PREFIX}{}", alloy_primitives::hex::encode(half)))
    }

    /// Returns the identifier that a ledger kept: 16 to 128 letters, digits, `-` and `_`.
    pub fn kept(text: String) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        let sound = (16..=128).contains(&text.len()) && text.bytes().all(plain);
        sound.then_some(Self(text))
    }

    /// Returns the identifier as it goes over the wire.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PaymentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

const PREFIX: &str = "pay_";
