//! Which request a purchase is for.

use std::fmt;

use paywait_x402::alloy_primitives::{B256, Keccak256};

/// A request as the caller made it, in one hash: method, URL and body.
///
/// A purchase key belongs to one fingerprint: the same key on another request is a mistake, and is
/// refused.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
pub struct Fingerprint(B256);

impl Fingerprint {
    /// Returns the fingerprint of a request. Each field is hashed behind its length, so that no
    /// two requests share one by where a field ends.
    pub fn of(method: &str, url: &str, body: &[u8]) -> Self {
        let mut hasher = Keccak256::new();
        for field in [method.as_bytes(), url.as_bytes(), body] {
            hasher.update(u64::try_from(field.len()).unwrap_or(u64::MAX).to_be_bytes());
            hasher.update(field);
        }
        Self(hasher.finalize())
    }

    /// Returns the fingerprint with these bytes, as a store kept them.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(B256::new(bytes))
    }

    /// Returns the bytes, for a store to keep.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0.0
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({})", self.0)
    }
}
