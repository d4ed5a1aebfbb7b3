//! A seller's offer: the ways to pay that this client can read, and why it cannot read the others.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::encoding::{self, EncodingError};
use crate::{Entry, EntryError};

/// A seller's offer (`PaymentRequired`, x402 version 2).
///
/// Entries are read one by one: a bad one does not spoil the rest. What is echoed later is kept as
/// the text that came.
#[derive(Clone, Debug)]
pub struct Offer {
    entries: Vec<Entry>,
    rejected: Vec<(usize, EntryError)>,
    error: Option<String>,
    pub(crate) resource: Option<Box<RawValue>>,
    pub(crate) extensions: BTreeMap<String, Box<RawValue>>,
    pub(crate) identifier: Identifier,
}

/// The offer as it comes. Whatever else it holds is of no use to a buyer.
#[derive(Deserialize)]
struct Wire {
    #[serde(rename = "x402Version")]
    version: u64,
    error: Option<String>,
    resource: Option<Box<RawValue>>,
    accepts: Vec<Box<RawValue>>,
    extensions: Option<BTreeMap<String, Box<RawValue>>>,
}

/// What is read of the declared extension `payment-identifier`.
#[derive(Deserialize)]
struct Declared {
    info: DeclaredInfo,
}

#[derive(Deserialize)]
struct DeclaredInfo {
    required: Option<Value>,
}

/// How a seller asks for a payment identifier.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Identifier {
    /// It does not, or not in a form that takes one.
    NotAsked,
    /// It takes one, and may require it.
    Asked,
    /// It may require one, in a form that is not understood.
    Odd,
}

impl Identifier {
    fn read(raw: &RawValue) -> Self {
        let declared = serde_json::from_str::<Declared>(raw.get());
        match declared.map(|declared| declared.info.required) {
            Ok(Some(Value::Bool(_))) => Self::Asked,
            Ok(None) | Err(_) => Self::NotAsked,
            Ok(Some(_)) => Self::Odd,
        }
    }
}

impl Offer {
    /// Reads the value of a `PAYMENT-REQUIRED` header.
    ///
    /// # Errors
    ///
    /// An [`OfferError`]. An offer whose entries are all bad, or that has none, is no error.
    pub fn decode(field: &[u8]) -> Result<Self, OfferError> {
        let wire: Wire = encoding::decode(field)?;
        if wire.version != 2 {
            return Err(OfferError::Version(wire.version));
        }
        if wire.accepts.len() > MOST_ENTRIES {
            return Err(OfferError::TooManyEntries);
        }
        let mut entries = Vec::new();
        let mut rejected = Vec::new();
        for (place, raw) in wire.accepts.into_iter().enumerate() {
            match Entry::read(raw) {
                Ok(entry) => entries.push(entry),
                Err(error) => rejected.push((place, error)),
            }
        }
        let extensions = wire.extensions.unwrap_or_default();
        let identifier = extensions
            .get(PAYMENT_IDENTIFIER)
            .map_or(Identifier::NotAsked, |raw| Identifier::read(raw));
        Ok(Self {
            entries,
            rejected,
            error: wire.error.map(bounded),
            resource: wire.resource,
            extensions,
            identifier,
        })
    }

    /// Returns the entries that this client can pay, in the seller's order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the places of the entries that it cannot, and why.
    pub fn rejected(&self) -> &[(usize, EntryError)] {
        &self.rejected
    }

    /// Returns whether the seller offers no way to pay at all, readable or not.
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.rejected.is_empty()
    }

    /// Returns why the seller asks for payment, or why it refused one. At most 512 bytes of it.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }
}

/// Cuts a seller's text to a length that can be kept.
pub(crate) fn bounded(mut text: String) -> String {
    let end = text.floor_char_boundary(LONGEST_TEXT);
    text.truncate(end);
    text
}

/// Why an offer cannot be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OfferError {
    /// The header itself cannot be read.
    #[error(transparent)]
    Encoding(#[from] EncodingError),
    /// It is an offer of another version of x402.
    #[error("this is an offer of x402 version {0}, not 2")]
    Version(u64),
    /// It has more entries than anybody needs.
    #[error("the offer has more entries than are read")]
    TooManyEntries,
}

/// The extension by which a seller recognises a purchase that it has seen.
pub(crate) const PAYMENT_IDENTIFIER: &str = "payment-identifier";

const MOST_ENTRIES: usize = 64;

const LONGEST_TEXT: usize = 512;
