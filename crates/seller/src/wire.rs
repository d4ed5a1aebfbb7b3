//! The seller's side of the wire: offers, receipts, and plain refusals.

use alloy_primitives::B256;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use serde_json::{Value, json};

use crate::Terms;
use crate::authorization::Authorization;

/// Returns a 402 with an offer: of version 2 in a header, of version 1 in the body.
pub(crate) fn offer(v2: Option<&Value>, v1: Option<&Value>) -> Response<Bytes> {
    let mut response = unpaid();
    if let Some(required) = v2 {
        insert(response.headers_mut(), PAYMENT_REQUIRED, required);
    }
    if let Some(required) = v1 {
        *response.body_mut() = required.to_string().into();
    }
    response
}

/// Returns a 402 with a receipt that says no.
pub(crate) fn failed(
    authorization: &Authorization,
    reason: &str,
    transaction: Option<B256>,
) -> Response<Bytes> {
    let mut response = unpaid();
    let receipt = json!({
        "success": false,
        "errorReason": reason,
        "payer": authorization.from.to_string(),
        "transaction": transaction.map(|hash| hash.to_string()).unwrap_or_default(),
        "network": authorization.token.network(),
    });
    insert(response.headers_mut(), PAYMENT_RESPONSE, &receipt);
    response
}

/// Returns the reply with a receipt that says yes, in the version of `terms`.
pub(crate) fn receipted(
    mut reply: Response<Bytes>,
    authorization: &Authorization,
    terms: &Terms,
    transaction: B256,
) -> Response<Bytes> {
    let receipt = json!({
        "success": true,
        "payer": authorization.from.to_string(),
        "transaction": transaction.to_string(),
        "network": terms.network(),
    });
    let headers = reply.headers_mut();
    let name = if terms.is_v1() {
        X_PAYMENT_RESPONSE
    } else {
        PAYMENT_RESPONSE
    };
    insert(headers, name, &receipt);
    headers.append(CACHE_CONTROL, HeaderValue::from_static("private"));
    reply
}

/// Returns a refusal that has nothing to do with x402, in the reference server's form.
pub(crate) fn error(status: StatusCode, error: &str) -> Response<Bytes> {
    json_response(status, json!({ "error": error }).to_string())
}

fn unpaid() -> Response<Bytes> {
    let mut response = json_response(StatusCode::PAYMENT_REQUIRED, "{}");
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn json_response(status: StatusCode, body: impl Into<Bytes>) -> Response<Bytes> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: &Value) {
    // base64 has no character that a header cannot carry
    if let Ok(value) = HeaderValue::try_from(STANDARD.encode(value.to_string())) {
        headers.insert(name, value);
    }
}

const PAYMENT_REQUIRED: HeaderName = HeaderName::from_static("payment-required");
const PAYMENT_RESPONSE: HeaderName = HeaderName::from_static("payment-response");
const X_PAYMENT_RESPONSE: HeaderName = HeaderName::from_static("x-payment-response");
