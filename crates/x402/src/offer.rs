//! A seller's offer: the ways to pay that this client can read, and why it cannot read the others.

use std::collections::BTreeMap;
use std::fmt;

use http::HeaderMap;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::encoding::{self, EncodingError};
use crate::{Entry, EntryError, Version, headers};

/// A seller's offer (`PaymentRequired` of x402, version 1 or 2).
///
/// Entries are read one by one: a bad one does not spoil the rest. What is echoed later is kept as
/// the text that came.
#[derive(Clone)]
pub struct Offer {
    version: Version,
    source: OfferSource,
    entries: Vec<Entry>,
    rejected: Vec<(usize, EntryError)>,
    error: Option<String>,
    pub(crate) resource: Option<Box<RawValue>>,
    pub(crate) extensions: BTreeMap<String, Box<RawValue>>,
    pub(crate) identifier: Identifier,
}

/// Where in a reply an offer stood.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum OfferSource {
    /// In the header `PAYMENT-REQUIRED`.
    Header,
    /// In the body, and there was no such header.
    Body,
    /// In the body, and there was a header that cannot be read.
    BodyDespiteHeader,
}

/// The offer as it comes. Whatever else it holds is of no use to a buyer.
#[derive(Deserialize)]
struct Wire {
    #[serde(rename = "x402Version")]
    version: u64,
    /// Sellers of version 1 put whatever they caught here.
    error: Option<Value>,
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
    /// Reads the offer of a reply, if it has one: from the header `PAYMENT-REQUIRED`, else from
    /// the JSON object in the body.
    ///
    /// The header wins over the body, whatever version it speaks. Where it cannot be read, an
    /// offer in the body is taken, and [`source`](Self::source) says so. `body` is the start of
    /// the body: an offer that is cut off, or longer than 64 KiB, cannot be read.
    ///
    /// ```
    /// use http::HeaderMap;
    /// use paywait_x402::{Offer, OfferSource, Version};
    /// let body = br#"{"x402Version":1,"error":"X-PAYMENT header is required","accepts":[]}"#;
    /// let offer = Offer::of(&HeaderMap::new(), body)?.unwrap();
    /// assert_eq!((offer.version(), offer.source()), (Version::V1, OfferSource::Body));
    ///
    /// let other = Offer::of(&HeaderMap::new(), br#"{"error":"out of credits"}"#)?;
    /// assert!(other.is_none());
    /// # Ok::<(), paywait_x402::OfferError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// An [`OfferError`]: there is an offer, and it cannot be read; of two, why not the header's.
    pub fn of(fields: &HeaderMap, body: &[u8]) -> Result<Option<Self>, OfferError> {
        let Some(field) = fields.get(headers::PAYMENT_REQUIRED) else {
            return Self::in_body(body, OfferSource::Body);
        };
        Self::decode(field.as_bytes())
            .map(Some)
            .or_else(|unreadable| {
                let despite = Self::in_body(body, OfferSource::BodyDespiteHeader);
                let despite = despite.ok().flatten();
                despite.map(Some).ok_or(unreadable)
            })
    }

    /// Reads the value of a `PAYMENT-REQUIRED` header.
    ///
    /// # Errors
    ///
    /// An [`OfferError`]. An offer whose entries are all bad, or that has none, is no error.
    pub fn decode(field: &[u8]) -> Result<Self, OfferError> {
        Self::read(encoding::decode(field)?, OfferSource::Header)
    }

    /// Reads the offer that is the body of a 402. A body that never names x402 is none.
    fn in_body(body: &[u8], source: OfferSource) -> Result<Option<Self>, OfferError> {
        let body = body.get(..LONGEST_BODY).unwrap_or(body);
        match encoding::object(body) {
            Ok(wire) => Self::read(wire, source).map(Some),
            Err(_) if names_x402(body) => Err(OfferError::Body),
            Err(_) => Ok(None),
        }
    }

    fn read(wire: Wire, source: OfferSource) -> Result<Self, OfferError> {
        let version = Version::numbered(wire.version).ok_or(OfferError::Version(wire.version))?;
        if wire.accepts.len() > MOST_ENTRIES {
            return Err(OfferError::TooManyEntries);
        }
        let mut entries = Vec::new();
        let mut rejected = Vec::new();
        for (place, raw) in wire.accepts.into_iter().enumerate() {
            match Entry::read(raw, version) {
                Ok(entry) => entries.push(entry),
                Err(error) => rejected.push((place, error)),
            }
        }
        // version 1 has no extensions, whatever its offer holds
        let extensions = wire.extensions.filter(|_| version != Version::V1);
        let extensions = extensions.unwrap_or_default();
        if extensions.len() > MOST_EXTENSIONS {
            return Err(OfferError::TooManyExtensions);
        }
        let identifier = extensions
            .get(PAYMENT_IDENTIFIER)
            .map_or(Identifier::NotAsked, |raw| Identifier::read(raw));
        Ok(Self {
            version,
            source,
            entries,
            rejected,
            error: wire.error.and_then(text).map(bounded),
            resource: wire.resource,
            extensions,
            identifier,
        })
    }

    /// Returns the version of x402 that the seller speaks.
    pub const fn version(&self) -> Version {
        self.version
    }

    /// Returns where in the reply this offer stood.
    pub const fn source(&self) -> OfferSource {
        self.source
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

/// The resource and the extensions can hold the URL that was asked for, query and all.
impl fmt::Debug for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Offer")
            .field("version", &self.version)
            .field("source", &self.source)
            .field("entries", &self.entries)
            .field("rejected", &self.rejected)
            .finish_non_exhaustive()
    }
}

/// Returns a value that is a text.
pub(crate) fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            None
        }
    }
}

/// Whether a body that is no offer was meant to be one.
fn names_x402(body: &[u8]) -> bool {
    let names = |name: &[u8]| body.windows(name.len()).any(|part| part == name);
    OWN_NAMES.into_iter().any(names)
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
    /// The body was cut off, or it is no offer though it names x402.
    #[error("the body is cut off, or not the offer that it should be")]
    Body,
    /// It is an offer of another version of x402.
    #[error("this is an offer of x402 version {0}, not 1 or 2")]
    Version(u64),
    /// It has more entries than anybody needs.
    #[error("the offer has more entries than are read")]
    TooManyEntries,
    /// It declares more extensions than anybody needs.
    #[error("the offer declares more extensions than are read")]
    TooManyExtensions,
}

/// The extension by which a seller recognises a purchase that it has seen.
pub(crate) const PAYMENT_IDENTIFIER: &str = "payment-identifier";

/// Fields that an offer has and hardly anything else on a 402: of one that was cut off, in whatever
/// order it was written, one of them is there.
const OWN_NAMES: [&[u8]; 2] = [b"\"x402Version\"", b"\"accepts\""];

/// Of a body so much is read.
const LONGEST_BODY: usize = 64 * 1024;

const MOST_ENTRIES: usize = 64;

/// A dozen is registered.
const MOST_EXTENSIONS: usize = 64;

pub(crate) const LONGEST_TEXT: usize = 512;
