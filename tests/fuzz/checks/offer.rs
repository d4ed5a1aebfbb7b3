//! What holds of every offer that was read, whatever it was read from.

use alloy_primitives::B256;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use paywait_signals::Timestamp;
use paywait_x402::{
    Amount, Derivation, Money, Offer, Policy, Purchase, PurchaseKey, SignedPayment, Terms, headers,
    usd,
};
use serde_json::Value;

use crate::signer::{PAYER, sign};

/// Fails where an offer has what no offer may have, or where a payment of it is not what it says.
pub(crate) fn holds(offer: &Offer) {
    let read = offer.entries().len().saturating_add(offer.rejected().len());
    assert!(read <= 64, "{read} entries");
    assert!(offer.error().unwrap_or_default().len() <= 512);
    for (place, entry) in offer.entries().iter().enumerate() {
        assert_eq!(entry.version(), offer.version());
        assert!(entry.amount() > Amount::ZERO && entry.max_timeout_seconds() > 0);
        assert!(entry.domain_name().len() <= 512 && entry.domain_version().len() <= 512);
        if place < 2 {
            pay(offer, place);
        }
    }
    for limit in ["0.05", "1000000"] {
        let Ok(limit) = usd(limit) else {
            panic!("no dollars");
        };
        let policy = Policy::new(limit);
        let Ok(place) = policy.choose(offer) else {
            continue;
        };
        let Some(entry) = offer.entries().get(place) else {
            panic!("an entry was chosen that is not there");
        };
        assert!(entry.network().is_testnet());
        let price = policy.check(entry).ok().and_then(|price| price.usd);
        assert!(price.is_some_and(|price| price <= limit));
    }
}

/// Writes a payment of one entry, signed or not, and reads it back as a seller does.
fn pay(offer: &Offer, place: usize) {
    let key = PurchaseKey::named("order-17");
    let id = Derivation::default().payment_id(PAYER, key);
    let nonce = B256::repeat_byte(7);
    let Ok(terms) = Terms::new(offer, place, PAYER, nonce, id.clone(), BEFORE) else {
        return;
    };
    let Ok(payment) = sign(&terms) else {
        panic!("terms that were written are signed");
    };
    let sealed = payment.seal();
    let Ok(kept) = SignedPayment::unseal(&sealed) else {
        panic!("what was sealed cannot be unsealed");
    };
    assert_eq!(kept.seal(), sealed);

    let mut purchase = Purchase::new(key, id);
    purchase.resume(key, vec![kept], Money::Signed, 0);
    let Some(showing) = purchase.show(Timestamp::from_secs(0)) else {
        panic!("a fresh payment is not shown");
    };
    let mut fields = HeaderMap::new();
    showing.write(&mut fields);
    let Some(field) = fields.get(headers::payment(offer.version())) else {
        panic!("the payment stands in another header");
    };
    assert!(field.len() <= 14_000, "{} bytes", field.len());
    let json = STANDARD.decode(field).unwrap_or_default();
    let Ok(payload) = serde_json::from_slice::<Value>(&json) else {
        panic!("the payment is not JSON");
    };
    let written = |pointer: &str| payload.pointer(pointer).and_then(Value::as_str);
    let amount = terms.amount().to_string();
    assert_eq!(written("/payload/authorization/value"), Some(&*amount));
    let nonce = nonce.to_string();
    assert_eq!(written("/payload/authorization/nonce"), Some(&*nonce));
    let signature = written("/payload/signature").unwrap_or_default();
    assert!(signature.len() == 132 && !signature.contains('S'));
}

const BEFORE: u64 = 1_800_000_000;
