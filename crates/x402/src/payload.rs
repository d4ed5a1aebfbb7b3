//! The payment as it goes over the wire: what is echoed, and what is signed.

use std::collections::BTreeMap;

use alloy_primitives::Signature;
use http::HeaderValue;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use crate::Terms;
use crate::encoding::encode;
use crate::offer::PAYMENT_IDENTIFIER;

/// A payment (`PaymentPayload`, x402 version 2).
#[derive(Serialize)]
struct Payload<'a> {
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

/// Writes the header that carries `signature` over `terms`.
pub(crate) fn header(terms: &Terms, signature: &Signature) -> Result<HeaderValue, PayloadError> {
    for echo in [Echo::Everything, Echo::NoSchemas, Echo::Identifier] {
        let text = encode(&write(terms, signature, echo)?);
        if text.len() <= MOST_ENCODED {
            let mut header = HeaderValue::try_from(text).map_err(|_| PayloadError::Unwritable)?;
            header.set_sensitive(true);
            return Ok(header);
        }
    }
    Err(PayloadError::TooLarge)
}

fn write(terms: &Terms, signature: &Signature, echo: Echo) -> Result<Vec<u8>, PayloadError> {
    let signed = terms.authorization();
    let payload = Payload {
        version: 2,
        payload: Exact {
            authorization: Authorization {
                from: signed.from.to_checksum(None),
                to: signed.to.to_checksum(None),
                value: signed.value.to_string(),
                valid_after: signed.valid_after.to_string(),
                valid_before: signed.valid_before.to_string(),
                nonce: signed.nonce.to_string(),
            },
            signature: alloy_primitives::hex::encode_prefixed(signature.as_bytes()),
        },
        resource: terms.resource.as_deref(),
        extensions: extensions(terms, echo)?,
        accepted: &terms.entry.raw,
    };
    serde_json::to_vec(&payload).map_err(|_| PayloadError::Unwritable)
}

/// The seller's values win; the identifier is added to what it declared.
fn extensions(terms: &Terms, echo: Echo) -> Result<BTreeMap<&str, Box<RawValue>>, PayloadError> {
    let mut echoed = BTreeMap::new();
    for (name, declared) in terms.extensions.iter() {
        let identifies = name == PAYMENT_IDENTIFIER && terms.sends_identifier;
        let value = match echo {
            Echo::Identifier if !identifies => continue,
            Echo::Everything if !identifies => declared.clone(),
            Echo::Everything | Echo::NoSchemas | Echo::Identifier => {
                let keeps_schema = matches!(echo, Echo::Everything);
                let id = identifies.then(|| terms.payment_id().as_str());
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
    let mut fields: Map<String, Value> = match serde_json::from_str(declared.get()) {
        Ok(Value::Object(fields)) => fields,
        _ => return Ok(declared.to_owned()),
    };
    if !keeps_schema {
        fields.remove("schema");
    }
    let info = fields.get_mut("info").and_then(Value::as_object_mut);
    if let (Some(id), Some(info)) = (id, info) {
        info.insert("id".to_owned(), Value::from(id));
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

/// Node servers refuse 16 KiB of headers in all; this leaves room for the others.
const MOST_ENCODED: usize = 14_000;
