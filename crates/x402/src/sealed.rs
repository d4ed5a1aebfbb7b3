//! A signed payment as a ledger keeps it, so that another process can show the same bytes.

use std::fmt;

use alloy_primitives::{Address, B256, keccak256};
use http::HeaderValue;
use serde::{Deserialize, Serialize};

use crate::payload::PaymentHeader;
use crate::{Amount, Asset, Network, PaymentId, SignedPayment, Version};

/// A signed payment as a ledger keeps it. Whoever has these bytes can cash it: they belong where
/// keys belong, and in no log.
#[derive(Clone, Eq, PartialEq)]
pub struct Sealed(Vec<u8>);

impl Sealed {
    /// Returns the bytes, for a store to keep.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns what a store kept.
    pub const fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sealed").finish_non_exhaustive()
    }
}

/// The fields as they are kept. Numbers that can be large are texts.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    payer: Address,
    pay_to: Address,
    amount: String,
    chain: u64,
    contract: Address,
    nonce: B256,
    valid_before: u64,
    payment_id: String,
    version: u8,
    header: String,
}

impl SignedPayment {
    /// Returns this payment as a ledger keeps it: a mark of the format, a check sum, the fields.
    pub fn seal(&self) -> Sealed {
        let fields = Fields {
            payer: self.payer,
            pay_to: self.pay_to,
            amount: self.amount.to_string(),
            chain: self.asset.network.chain_id(),
            contract: self.asset.contract,
            nonce: self.nonce,
            valid_before: self.valid_before,
            payment_id: self.payment_id.as_str().to_owned(),
            version: self.header.version.number(),
            header: self.header.value.to_str().unwrap_or_default().to_owned(),
        };
        // texts and whole numbers: there is nothing in it that JSON cannot hold
        let json = serde_json::to_vec(&fields).unwrap_or_default();
        let mut bytes = Vec::with_capacity(json.len().saturating_add(64));
        bytes.extend_from_slice(FORMAT);
        bytes.extend_from_slice(keccak256(&json).as_slice());
        bytes.extend_from_slice(&json);
        Sealed(bytes)
    }

    /// Takes a payment out of what a ledger kept.
    ///
    /// # Errors
    ///
    /// [`UnsealError`]: it is of another format, or it was damaged. A damaged payment is never shown.
    pub fn unseal(sealed: &Sealed) -> Result<Self, UnsealError> {
        if sealed.0.len() > LARGEST {
            return Err(UnsealError::TooLarge);
        }
        let rest = sealed.0.strip_prefix(FORMAT).ok_or(UnsealError::Format)?;
        let (sum, json) = rest.split_at_checked(32).ok_or(UnsealError::Damaged)?;
        if sum != keccak256(json).as_slice() {
            return Err(UnsealError::Damaged);
        }
        let fields: Fields = serde_json::from_slice(json).map_err(|_| UnsealError::Format)?;
        let is_written = !fields.header.is_empty() && fields.header.is_ascii();
        let header = Some(fields.header).filter(|_| is_written);
        let value = header.and_then(|header| HeaderValue::try_from(header).ok());
        let mut value = value.ok_or(UnsealError::Format)?;
        value.set_sensitive(true);
        let version = Version::numbered(u64::from(fields.version)).ok_or(UnsealError::Format)?;
        Ok(Self {
            payer: fields.payer,
            pay_to: fields.pay_to,
            amount: fields
                .amount
                .parse::<Amount>()
                .map_err(|_| UnsealError::Format)?,
            asset: Asset::new(Network::evm(fields.chain), fields.contract),
            nonce: fields.nonce,
            valid_before: fields.valid_before,
            payment_id: PaymentId::kept(fields.payment_id).ok_or(UnsealError::Format)?,
            header: PaymentHeader { version, value },
        })
    }
}

/// Why a payment cannot be taken out of what a ledger kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UnsealError {
    /// It is larger than any payment.
    #[error("the kept payment is larger than any payment")]
    TooLarge,
    /// It is of a format that this version does not know.
    #[error("the kept payment is of a format that this version does not know")]
    Format,
    /// It is not what was kept.
    #[error("the kept payment is damaged")]
    Damaged,
}

/// A header of 14 KB and a handful of fields are a quarter of it.
const LARGEST: usize = 64 * 1024;

/// Marks the format; a later one has another mark.
const FORMAT: &[u8] = b"paywait/payment/1\n";
