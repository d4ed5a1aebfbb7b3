//! What a store kept of a payment.

use alloy_primitives::keccak256;
use http::HeaderMap;
use paywait_signals::Timestamp;
use paywait_x402::{Money, Purchase, PurchaseKey, Sealed, SignedPayment, headers};

/// Reads all as what was kept, and then as the fields in it, behind a right check sum.
pub(crate) fn check(data: &[u8]) {
    let sum = keccak256(data);
    let framed = [FORMAT, sum.as_slice(), data].concat();
    for kept in [data.to_vec(), framed] {
        if let Ok(payment) = SignedPayment::unseal(&Sealed::from_bytes(kept)) {
            holds(payment);
        }
    }
}

/// What is unsealed is sealed as the same again, and has bytes to show.
fn holds(payment: SignedPayment) {
    let sealed = payment.seal();
    let Ok(again) = SignedPayment::unseal(&sealed) else {
        panic!("what was sealed cannot be unsealed");
    };
    assert_eq!(sealed, again.seal());
    assert_eq!(format!("{payment:?}"), format!("{again:?}"));

    let version = payment.version();
    let lives = payment.valid_before() > 10;
    let key = PurchaseKey::named("order-17");
    let mut purchase = Purchase::new(key, payment.payment_id().clone());
    purchase.resume(key, vec![payment], Money::Signed, 0);
    let showing = purchase.show(Timestamp::from_secs(0));
    assert_eq!(showing.is_some(), lives);
    if let Some(showing) = showing {
        let mut fields = HeaderMap::new();
        showing.write(&mut fields);
        let field = fields.get(headers::payment(version));
        assert!(field.is_some_and(|field| !field.is_empty() && field.is_sensitive()));
    }
}

const FORMAT: &[u8] = b"paywait/payment/1\n";
