//! What a buyer showed in `PAYMENT-SIGNATURE` or `X-PAYMENT`, read with this crate's own eyes.

use std::fmt;
use std::str::FromStr;

use alloy_primitives::{Address, B256, U256, keccak256};
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use http::{HeaderMap, HeaderValue};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::authorization::Authorization;
use crate::token::chain_id;
use crate::{Route, Terms, Token};

/// What the header of the payment held.
#[derive(Debug)]
pub(crate) enum Shown {
    /// No header, or nothing that can be read.
    Nothing,
    /// A payment of another version of the protocol.
    OtherVersion(u64),
    /// A payment.
    Payment(Box<Payment>),
}

/// One payment, as the buyer wrote it.
pub(crate) struct Payment {
    pub(crate) accepted: Accepted,
    pub(crate) extensions: Map<String, Value>,
    /// `None` if the payload is not an EIP-3009 authorization that can be read.
    pub(crate) authorization: Option<Authorization>,
    /// A hash of the whole payload, its signature included.
    pub(crate) fingerprint: B256,
}

/// What the buyer says to pay for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Accepted {
    /// An entry of the offer, echoed (version 2).
    Entry(Value),
    /// What is sold by a scheme on a network (version 1).
    Network { scheme: String, network: String },
}

impl Shown {
    /// Reads the payment of a request for `route`: of a version in which that sells, the newer
    /// first.
    pub(crate) fn read(headers: &HeaderMap, route: Option<&Route>) -> Self {
        let v2 = || {
            let only_v1 = route.is_some_and(Route::sells_in_v1_alone);
            let header = headers.get(PAYMENT_SIGNATURE).filter(|_| !only_v1)?;
            Self::decode(header)
        };
        let v1 = || {
            let route = route.filter(|route| route.sells_in_v1())?;
            Self::decode_v1(headers.get(X_PAYMENT)?, route)
        };
        v2().or_else(v1).unwrap_or(Self::Nothing)
    }

    pub(crate) const fn payment(&self) -> Option<&Payment> {
        match self {
            Self::Payment(payment) => Some(payment),
            Self::Nothing | Self::OtherVersion(_) => None,
        }
    }

    fn decode(header: &HeaderValue) -> Option<Self> {
        let (json, fingerprint) = object(header)?;
        let envelope = Envelope::deserialize(&json).ok()?;
        if envelope.x402_version != 2 {
            return Some(Self::OtherVersion(envelope.x402_version));
        }
        let token = token(&envelope.accepted);
        let authorization = token.and_then(|token| authorization(&envelope.payload, &token));
        Some(Self::Payment(Box::new(Payment {
            accepted: Accepted::Entry(envelope.accepted),
            extensions: envelope.extensions.unwrap_or_default(),
            authorization,
            fingerprint,
        })))
    }

    /// A payment of version 1 does not name its token: it is the one that the route sells for.
    fn decode_v1(header: &HeaderValue, route: &Route) -> Option<Self> {
        let (json, fingerprint) = object(header)?;
        let envelope = EnvelopeV1::deserialize(&json).ok()?;
        if envelope.x402_version != 1 {
            return Some(Self::OtherVersion(envelope.x402_version));
        }
        let accepted = Accepted::Network {
            scheme: envelope.scheme,
            network: envelope.network,
        };
        let token = route.accepted_terms(&accepted).map(Terms::token);
        let authorization = token.and_then(|token| authorization(&envelope.payload, token));
        Some(Self::Payment(Box::new(Payment {
            accepted,
            extensions: Map::new(),
            authorization,
            fingerprint,
        })))
    }
}

impl Payment {
    pub(crate) const fn is_v1(&self) -> bool {
        matches!(self.accepted, Accepted::Network { .. })
    }

    /// Returns the payment identifier that the buyer sent, whatever it looks like.
    pub(crate) fn identifier(&self) -> Option<&str> {
        self.extensions
            .get(PAYMENT_IDENTIFIER)?
            .get("info")?
            .get("id")?
            .as_str()
    }
}

impl fmt::Debug for Payment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Payment")
            .field("authorization", &self.authorization)
            .finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct Envelope {
    #[serde(rename = "x402Version")]
    x402_version: u64,
    #[serde(default)]
    payload: Value,
    #[serde(default)]
    accepted: Value,
    extensions: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
struct EnvelopeV1 {
    #[serde(rename = "x402Version")]
    x402_version: u64,
    scheme: String,
    network: String,
    #[serde(default)]
    payload: Value,
}

#[derive(Deserialize)]
struct ExactPayload {
    signature: String,
    authorization: Fields,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fields {
    from: String,
    to: String,
    value: String,
    valid_after: String,
    valid_before: String,
    nonce: String,
}

/// Reads the JSON in base64 that a header holds, and its hash.
fn object(header: &HeaderValue) -> Option<(Value, B256)> {
    let header = header.as_bytes();
    if header.len() > MAX_HEADER || !padding_is_whole(header) {
        return None;
    }
    let bytes = BASE64.decode(header).ok()?;
    let mut json: Value = serde_json::from_slice(&bytes).ok()?;
    json.sort_all_objects();
    let fingerprint = keccak256(serde_json::to_vec(&json).ok()?);
    Some((json, fingerprint))
}

/// Reads the token that `accepted` names: what the signature is a signature for.
fn token(accepted: &Value) -> Option<Token> {
    let chain_id = chain_id(accepted.get("network")?.as_str()?)?;
    let address = hex(accepted.get("asset")?.as_str()?)?;
    let extra = accepted.get("extra")?;
    let name = extra.get("name")?.as_str()?;
    let version = extra.get("version")?.as_str()?;
    Some(Token::new(chain_id, address, name, version))
}

fn authorization(payload: &Value, token: &Token) -> Option<Authorization> {
    let ExactPayload {
        signature,
        authorization,
    } = ExactPayload::deserialize(payload).ok()?;
    let digits = signature.strip_prefix("0x")?;
    Some(Authorization::new(
        token.clone(),
        (
            hex::<Address>(&authorization.from)?,
            hex::<Address>(&authorization.to)?,
        ),
        decimal(&authorization.value)?,
        (
            decimal(&authorization.valid_after)?,
            decimal(&authorization.valid_before)?,
        ),
        hex::<B256>(&authorization.nonce)?,
        alloy_primitives::hex::decode(digits).ok()?,
    ))
}

/// Reads hexadecimal digits that must be introduced by `0x`.
fn hex<T: FromStr>(text: &str) -> Option<T> {
    text.starts_with("0x").then(|| text.parse().ok())?
}

/// Reads a number that must be written in decimal digits alone.
fn decimal(text: &str) -> Option<U256> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| U256::from_str_radix(text, 10).ok())?
}

/// Padding is complete or entirely absent, as the reference server wants it.
fn padding_is_whole(base64: &[u8]) -> bool {
    !base64.ends_with(b"=") || base64.len().is_multiple_of(4)
}

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);
/// A header longer than this is no payment: HTTP servers refuse it long before.
const MAX_HEADER: usize = 64 * 1024;
pub(crate) const PAYMENT_IDENTIFIER: &str = "payment-identifier";
const PAYMENT_SIGNATURE: &str = "payment-signature";
const X_PAYMENT: &str = "x-payment";

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(header: &str) -> Shown {
        let mut headers = HeaderMap::new();
        headers.insert(PAYMENT_SIGNATURE, header.parse().unwrap());
        Shown::read(&headers, None)
    }

    #[test]
    fn reads_the_published_payment() {
        let Shown::Payment(payment) =
            shown(include_str!("../tests/data/payment-signature.b64").trim())
        else {
            panic!("not read")
        };
        let authorization = payment.authorization.as_ref().unwrap();
        assert_eq!(authorization.value, U256::from(10_000));
        assert!(authorization.is_signed());
        assert_eq!(
            payment.identifier(),
            Some("pay_7d5d747be160e280504c099d984bcfe0")
        );
    }

    #[test]
    fn what_cannot_be_read_is_no_payment() {
        for header in [
            "",
            "!",
            "e30",
            "bnVsbA==",
            "W10=",
            "eyJ4NDAyVmVyc2lvbiI6Mn0",
            "e30==",
        ] {
            let read = shown(header);
            assert!(
                matches!(read, Shown::Nothing) || read.payment().unwrap().authorization.is_none(),
                "{header}"
            );
        }
        assert!(matches!(
            shown("eyJ4NDAyVmVyc2lvbiI6M30="),
            Shown::OtherVersion(3)
        ));
    }

    #[test]
    fn half_padding_is_refused_and_none_is_taken() {
        assert!(padding_is_whole(b"YQ=="));
        assert!(padding_is_whole(b"YQ"));
        assert!(!padding_is_whole(b"YQ="));
    }

    #[test]
    fn numbers_are_decimal_digits_and_nothing_else() {
        assert_eq!(decimal("007"), Some(U256::from(7)));
        for text in ["", "1_0", "0x10", "-1", "1.0", " 1", &"9".repeat(79)] {
            assert_eq!(decimal(text), None, "{text}");
        }
    }
}
