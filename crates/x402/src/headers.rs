//! The names of the payment headers (x402 versions 1 and 2, HTTP transport).

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::Version;

/// The seller's offer, on a 402.
pub const PAYMENT_REQUIRED: HeaderName = HeaderName::from_static("payment-required");

/// The buyer's payment, on a request.
pub const PAYMENT_SIGNATURE: HeaderName = HeaderName::from_static("payment-signature");

/// The seller's receipt, on any status.
pub const PAYMENT_RESPONSE: HeaderName = HeaderName::from_static("payment-response");

/// The receipt by its name in version 1, which some sellers still use.
pub const X_PAYMENT_RESPONSE: HeaderName = HeaderName::from_static("x-payment-response");

/// The payment by its name in version 1.
pub const X_PAYMENT: HeaderName = HeaderName::from_static("x-payment");

/// Returns the header that carries a payment of `version`.
pub const fn payment(version: Version) -> HeaderName {
    match version {
        Version::V1 => X_PAYMENT,
        Version::V2 => PAYMENT_SIGNATURE,
    }
}

/// Returns the receipt of a reply; the newer name wins.
pub fn receipt(fields: &HeaderMap) -> Option<&HeaderValue> {
    fields
        .get(PAYMENT_RESPONSE)
        .or_else(|| fields.get(X_PAYMENT_RESPONSE))
}

/// Returns whether a request carries a payment already.
pub fn carries_payment(fields: &HeaderMap) -> bool {
    fields.contains_key(PAYMENT_SIGNATURE) || fields.contains_key(X_PAYMENT)
}
