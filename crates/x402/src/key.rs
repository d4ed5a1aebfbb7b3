//! What names a purchase, and what follows from the name: its nonce and its identifier.

use std::fmt;

use alloy_primitives::{Address, B256, Keccak256};
use uuid::Uuid;

use crate::{Asset, PaymentId};

/// What names one purchase: 32 bytes, from the caller's name or from chance.
///
/// Nonce and identifier follow from it, so that a process that lost its records asks for the same
/// payment again and not for another one.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct PurchaseKey(B256);

impl PurchaseKey {
    /// Returns the key of the purchase that the caller calls `name`.
    pub fn named(name: &str) -> Self {
        Self(hash(b"paywait/key/1", [name.as_bytes()]))
    }

    /// Returns the key of one request among those made in a namespace: `request` is its
    /// fingerprint, and `ordinal` tells wanted repeats apart.
    pub fn in_namespace(namespace: &str, request: &[u8; 32], ordinal: u64) -> Self {
        let ordinal = ordinal.to_be_bytes();
        Self(hash(
            b"paywait/scope/1",
            [namespace.as_bytes(), request.as_slice(), ordinal.as_slice()],
        ))
    }

    /// Returns a key that nobody has had before: two version 4 UUIDs.
    pub fn random() -> Self {
        let halves = [Uuid::new_v4(), Uuid::new_v4()].map(Uuid::into_bytes);
        Self(B256::from_slice(halves.as_flattened()))
    }

    /// Returns the key with these bytes, as a store kept them.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(B256::new(bytes))
    }

    /// Returns the bytes, for a store to keep.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0.0
    }
}

impl fmt::Debug for PurchaseKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PurchaseKey({})", self.0)
    }
}

impl fmt::Display for PurchaseKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// How nonce and identifier follow from a purchase key.
///
/// Both are Keccak-256 over fields behind their lengths. They use parsed values, so that two
/// spellings of one chain or address give one nonce. An optional secret keeps whoever sees the
/// chain from testing guesses at the caller's names; it must be kept, since another secret gives
/// other nonces, and so other payments.
#[derive(Clone, Default)]
pub struct Derivation {
    secret: Vec<u8>,
}

impl Derivation {
    /// Hashes a secret in.
    pub fn with_secret(secret: impl Into<Vec<u8>>) -> Self {
        Self {
            secret: secret.into(),
        }
    }

    /// Returns the nonce of the purchase of `key` by `payer`, recorded by the contract of `asset`
    /// (EIP-3009).
    pub fn nonce(&self, payer: Address, asset: Asset, key: PurchaseKey) -> B256 {
        let chain = asset.network.chain_id().to_be_bytes();
        self.hash(
            b"paywait/nonce/1",
            [
                payer.as_slice(),
                chain.as_slice(),
                asset.contract.as_slice(),
                key.0.as_slice(),
            ],
        )
    }

    /// Returns the payment identifier of the purchase of `key` by `payer`.
    pub fn payment_id(&self, payer: Address, key: PurchaseKey) -> PaymentId {
        let hash = self.hash(b"paywait/id/1", [payer.as_slice(), key.0.as_slice()]);
        PaymentId::from_hash(hash)
    }

    fn hash<const N: usize>(&self, domain: &[u8], fields: [&[u8]; N]) -> B256 {
        hash(domain, fields.into_iter().chain([self.secret.as_slice()]))
    }
}

impl fmt::Debug for Derivation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Derivation")
            .field("secret", &!self.secret.is_empty())
            .finish_non_exhaustive()
    }
}

/// Each field stands behind its length, so that no two lists of fields give the same bytes.
fn hash<'a>(domain: &'a [u8], fields: impl IntoIterator<Item = &'a [u8]>) -> B256 {
    let mut hasher = Keccak256::new();
    for field in std::iter::once(domain).chain(fields) {
        hasher.update(u64::try_from(field.len()).unwrap_or(u64::MAX).to_be_bytes());
        hasher.update(field);
    }
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KnownAsset;

    const PAYER: Address = Address::repeat_byte(0x11);

    #[test]
    fn the_derivation_never_changes() {
        let key = PurchaseKey::named("order-17");
        let derivation = Derivation::default();
        let asset = KnownAsset::all()[1].asset;
        assert_eq!(key.to_string(), KEY);
        assert_eq!(derivation.nonce(PAYER, asset, key).to_string(), NONCE);
        assert_eq!(derivation.payment_id(PAYER, key).as_str(), ID);
    }

    #[test]
    fn each_field_tells_purchases_apart() {
        let asset = |place: usize| KnownAsset::all()[place].asset;
        let key = PurchaseKey::named("order-17");
        let nonce = Derivation::default().nonce(PAYER, asset(0), key);
        let others = [
            Derivation::default().nonce(Address::repeat_byte(0x12), asset(0), key),
            Derivation::default().nonce(PAYER, asset(1), key),
            Derivation::default().nonce(PAYER, asset(0), PurchaseKey::named("order-18")),
            Derivation::with_secret("s").nonce(PAYER, asset(0), key),
        ];
        assert!(others.iter().all(|other| *other != nonce));
    }

    #[test]
    fn where_a_field_ends_tells_purchases_apart() {
        assert_ne!(
            hash(b"d", [b"ab".as_slice(), b"c"]),
            hash(b"d", [b"a".as_slice(), b"bc"])
        );
    }

    #[test]
    fn a_secret_is_not_printed() {
        assert!(!format!("{:?}", Derivation::with_secret("hush")).contains("hush"));
    }

    const KEY: &str = "0x26d51c92c8d165c470d4b0d3917ac00e8669c7b0e7da507d7ae1481775a21e93";
    const NONCE: &str = "0xe04f945fc6eb2e39be7b51a24e994bd42240de69a44ca9ef9466ae314f93ff0a";
    const ID: &str = "pay_a5e1248bd1a944232cccdabd6f40b78b";
}
