//! The payment as it goes over the wire: what is echoed, and what is signed.

use std::collections::BTreeMap;

use alloy_primitives::Signature;
use http::{HeaderMap, HeaderValue};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::encoding::encode;
use crate::offer::{Identifier, PAYMENT_IDENTIFIER};
use crate::{Entry, Offer, PaymentId, Version, evm, headers};

/// A payment (`PaymentPayload`) of version 1.
#[derive(Serialize)]
struct PayloadV1<'a> {
    #[serde(rename = "x402Version")]
    version: u8,
    scheme: &'static str,
    network: &'a str,
    payload: Exact,
}

/// A payment (`PaymentPayload`) of version 2.
#[derive(Serialize)]
struct PayloadV2<'a> {
    #[serde(rename = "x402Version")]
    version: u8,
    payload: Exact,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    extensions: BTreeMap<&'a str, Box<RawValue>>,
    accepted: &'a RawValue,
}

/// The payload of scheme `exact` on EVM chains, by EIP-3009.
#[derive(Serialize)]
struct Exact {
    authorization: Authorization,
    signature: String,
}

/// All numbers are decimal strings.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Authorization {
    from: String,
    to: String,
    value: String,
    valid_after: String,
    valid_before: String,
    nonce: String,
}

impl Exact {
    fn unsigned(signed: &evm::Authorization) -> Self {
        Self {
            authorization: Authorization {
                from: signed.from.to_checksum(None),
                to: signed.to.to_checksum(None),
                value: signed.value.to_string(),
                valid_after: signed.valid_after.to_string(),
                valid_before: signed.valid_before.to_string(),
                nonce: signed.nonce.to_string(),
            },
            signature: format!("0x{UNSIGNED}"),
        }
    }
}

/// How much of the offer's extensions is echoed. A seller compares what is echoed, and only that:
/// leaving extensions out is always valid.
#[derive(Clone, Copy, Debug)]
enum Echo {
    Everything,
    /// Without the schemas, which are large and not compared.
    NoSchemas,
    /// The identifier alone.
    Identifier,
}

/// A payment that is written but for its signature.
///
/// What it echoes and how large it is are settled before anybody is asked to sign.
#[derive(Clone)]
pub(crate) struct Draft {
    version: Version,
    before: String,
    after: String,
}

impl Draft {
    pub(crate) fn new(paid: &Paid<'_>) -> Result<Self, PayloadError> {
        for echo in [Echo::Everything, Echo::NoSchemas, Echo::Identifier] {
            let text = write(paid, echo)?;
            if text.len() <= MOST_WRITTEN {
                let around = text.split_once(UNSIGNED).ok_or(PayloadError::Unwritable)?;
                return Ok(Self {
                    version: paid.entry.version(),
                    before: around.0.to_owned(),
                    after: around.1.to_owned(),
                });
            }
        }
        Err(PayloadError::TooLarge)
    }

    /// Returns the header that carries this with `signature`.
    pub(crate) fn header(&self, signature: &Signature) -> Result<PaymentHeader, PayloadError> {
        let signature = alloy_primitives::hex::encode(signature.as_bytes());
        let text = encode(format!("{}{signature}{}", self.before, self.after).as_bytes());
        let mut value = HeaderValue::try_from(text).map_err(|_| PayloadError::Unwritable)?;
        value.set_sensitive(true);
        Ok(PaymentHeader {
            version: self.version,
            value,
        })
    }
}

/// A signed payment as a header: its version names it.
#[derive(Clone)]
pub(crate) struct PaymentHeader {
    pub(crate) version: Version,
    pub(crate) value: HeaderValue,
}

impl PaymentHeader {
    /// Puts this into the headers of a request, in place of a payment that stands there: a request
    /// carries one.
    pub(crate) fn write(self, fields: &mut HeaderMap) {
        for version in [Version::V1, Version::V2] {
            fields.remove(headers::payment(version));
        }
        fields.insert(headers::payment(self.version), self.value);
    }
}

/// What a payment is for.
pub(crate) struct Paid<'a> {
    pub(crate) offer: &'a Offer,
    pub(crate) entry: &'a Entry,
    pub(crate) authorization: evm::Authorization,
    pub(crate) payment_id: &'a PaymentId,
}

fn write(paid: &Paid<'_>, echo: Echo) -> Result<String, PayloadError> {
    let version = paid.entry.version();
    // its signature stands before anything that a seller wrote freely
    let payload = Exact::unsigned(&paid.authorization);
    let written = match version {
        Version::V1 => serde_json::to_string(&PayloadV1 {
            version: version.number(),
            scheme: "exact",
            network: &paid.entry.network_name,
            payload,
        }),
        Version::V2 => serde_json::to_string(&PayloadV2 {
            version: version.number(),
            payload,
            resource: paid.offer.resource.as_deref(),
            extensions: extensions(paid, echo)?,
            accepted: &paid.entry.raw,
        }),
    };
    written.map_err(|_| PayloadError::Unwritable)
}

/// The seller's values win; the identifier is added to what it declared.
fn extensions<'a>(
    paid: &Paid<'a>,
    echo: Echo,
) -> Result<BTreeMap<&'a str, Box<RawValue>>, PayloadError> {
    let mut echoed = BTreeMap::new();
    for (name, declared) in paid.offer.extensions.iter() {
        let identifies = name == PAYMENT_IDENTIFIER && paid.offer.identifier == Identifier::Asked;
        let value = match echo {
            Echo::Identifier if !identifies => continue,
            Echo::Everything if !identifies => declared.clone(),
            Echo::Everything | Echo::NoSchemas | Echo::Identifier => {
                let keeps_schema = matches!(echo, Echo::Everything);
                let id = identifies.then(|| paid.payment_id.as_str());
                rewrite(declared, id, keeps_schema)?
            }
        };
        echoed.insert(name.as_str(), value);
    }
    Ok(echoed)
}

fn rewrite(
    declared: &RawValue,
    id: Option<&str>,
    keeps_schema: bool,
) -> Result<Box<RawValue>, PayloadError> {
    let unwritable = |_| PayloadError::Unwritable;
    let fields = serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(declared.get());
    let Ok(mut fields) = fields else {
        return Ok(declared.to_owned());
    };
    if !keeps_schema {
        fields.remove("schema");
    }
    if let (Some(id), Some(info)) = (id, fields.get_mut("info"))
        && let Ok(Value::Object(mut declared)) = serde_json::from_str(info.get())
    {
        declared.insert("id".to_owned(), Value::from(id));
        *info = to_raw_value(&declared).map_err(unwritable)?;
    }
    to_raw_value(&fields).map_err(unwritable)
}

/// Why a payment cannot be written.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PayloadError {
    /// It would be larger than servers read.
    #[error("the payment would be larger than the headers that servers read")]
    TooLarge,
    /// It cannot be written as JSON or as a header.
    #[error("the payment cannot be written")]
    Unwritable,
}

/// Stands for the 65 bytes of a signature, in hexadecimal digits.
const UNSIGNED: &str = concat!(
    "SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS",
    "SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS",
);

/// Node servers refuse 16 KiB of headers in all. Base64 makes four characters of three: 14,000
/// leave room for the others.
const MOST_WRITTEN: usize = 10_500;
