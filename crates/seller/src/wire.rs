//! The seller's side of the wire: offers, receipts, and plain refusals.

use alloy_primitives::B256;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use serde_json::{Value, json};

use crate::authorization::Authorization;
use crate::facilitator::Refusal;

/// Returns a 402 with an offer.
pub(crate) fn offer(required: &Value) -> Response<Bytes> {
    let mut response = unpaid();
    insert(response.headers_mut(), PAYMENT_REQUIRED, required);
    response
}

/// Returns a 402 with a receipt that says no.
pub(crate) fn not_settled(authorization: &Authorization, refusal: &Refusal) -> Response<Bytes> {
    let Refusal {
        reason,
        transaction,
    } = refusal;
    failed(authorization, reason, *transaction)
}

/// Returns a 402 with a receipt that says no, for any reason.
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

/// Returns the reply with a receipt that says yes.
pub(crate) fn receipted(
    mut reply: Response<Bytes>,
    authorization: &Authorization,
    transaction: B256,
) -> Response<Bytes> {
    let receipt = json!({
        "success": true,
        "payer": authorization.from.to_string(),
        "transaction": transaction.to_string(),
        "network": authorization.token.network(),
    });
    let headers = reply.headers_mut();
    insert(headers, PAYMENT_RESPONSE, &receipt);
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
