//! No type that can hold a key, a signature or a query shows it.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

use std::fmt::Debug;

use alloy_primitives::B256;
use alloy_signer_local::PrivateKeySigner;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderValue, StatusCode};
use paywait_signals::{Reply, Timestamp};
use paywait_x402::{
    Derivation, Money, Offer, PaymentId, Purchase, PurchaseKey, Receipt, Sealed, SignedPayment,
    Terms, Wallet, headers,
};
use serde_json::{Value, json};

/// Whoever asked for this URL has put a key into it; sellers repeat it.
const URL: &str = "https://user:hunter2@seller.example/report?key=sesame";

fn entry(version: u8) -> Value {
    let (network, price) = match version {
        1 => ("base-sepolia", "maxAmountRequired"),
        _ => ("eip155:84532", "amount"),
    };
    json!({
        "scheme": "exact", "network": network, price: "10000", "resource": URL,
        "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C", "maxTimeoutSeconds": 60,
        "extra": {"name": "USDC", "version": "2"},
    })
}

fn offer(version: u8) -> Offer {
    let offer = json!({
        "x402Version": version, "accepts": [entry(version), {"scheme": URL}], "error": URL,
        "resource": {"url": URL},
        "extensions": {"bazaar": {"info": {"input": {"url": URL}}}},
    });
    Offer::decode(STANDARD.encode(offer.to_string()).as_bytes()).unwrap()
}

fn terms(offer: &Offer) -> Terms {
    let payer = signer().address();
    Terms::new(offer, 0, payer, B256::ZERO, PaymentId::random(), 1_000).unwrap()
}

fn signer() -> PrivateKeySigner {
    KEY.parse().unwrap()
}

async fn signed(offer: &Offer) -> SignedPayment {
    Wallet::evm(signer()).sign(&terms(offer)).await.unwrap()
}

/// Both ways of printing: on one line, and on many.
fn told(value: &impl Debug) -> String {
    format!("{value:?} {value:#?}")
}

fn assert_no_query(told: &str) {
    for secret in ["sesame", "hunter2"] {
        assert!(!told.contains(secret), "{told}");
    }
}

/// The header of a payment and the signature in it.
fn bytes(payment: SignedPayment) -> [String; 2] {
    let version = payment.version();
    let mut purchase = Purchase::new(PurchaseKey::named("x"), PaymentId::random());
    purchase.resume(purchase.key(), vec![payment], Money::Signed, 0);
    let mut fields = HeaderMap::new();
    let showing = purchase.show(Timestamp::from_secs(0)).unwrap();
    showing.write(&mut fields);
    let field = fields.get(headers::payment(version)).unwrap();
    assert!(!told(&fields).contains(field.to_str().unwrap()));
    let payload: Value = serde_json::from_slice(&STANDARD.decode(field).unwrap()).unwrap();
    let signature = payload.pointer("/payload/signature").unwrap();
    let signature = signature.as_str().unwrap().trim_start_matches("0x");
    [field.to_str().unwrap(), signature].map(str::to_owned)
}

#[test]
fn an_offer_and_its_entries_show_no_query() {
    for version in [1, 2] {
        let offer = offer(version);
        assert_eq!(offer.entries().len(), 1);
        assert_no_query(&told(&offer));
        assert_no_query(&told(&offer.entries()));
        assert_no_query(&told(&terms(&offer)));
    }
}

#[test]
fn an_offer_that_cannot_be_read_shows_nothing_of_itself() {
    let json = json!({"x402Version": 9, "accepts": [URL], "resource": URL}).to_string();
    let fields = HeaderMap::from_iter([(
        headers::PAYMENT_REQUIRED,
        HeaderValue::try_from(STANDARD.encode(&json)).unwrap(),
    )]);
    let header = Offer::of(&fields, &[]).unwrap_err();
    let cut = json.get(..json.len().saturating_sub(1)).unwrap();
    let body = Offer::of(&HeaderMap::new(), cut.as_bytes()).unwrap_err();
    let receipt = Receipt::decode(STANDARD.encode(&json).as_bytes()).unwrap_err();
    assert_no_query(&format!("{header} {body} {receipt}"));
    assert_no_query(&format!("{header:?} {body:?} {receipt:?}"));
}

#[tokio::test]
async fn nothing_that_was_signed_shows_its_bytes() {
    for version in [1, 2] {
        let offer = offer(version);
        let payment = signed(&offer).await;
        let sealed = payment.seal();
        let mut purchase = Purchase::new(PurchaseKey::named("x"), PaymentId::random());
        purchase
            .accept(terms(&offer), Timestamp::from_secs(0))
            .unwrap();
        let mut all = told(&purchase);
        let mut purchase = Purchase::new(PurchaseKey::named("x"), PaymentId::random());
        purchase.resume(purchase.key(), vec![payment.clone()], Money::Signed, 0);
        let showing = purchase.show(Timestamp::from_secs(0)).unwrap();
        for part in [
            told(&payment),
            told(&sealed),
            told(&purchase),
            told(&showing),
        ] {
            all.push_str(&part);
        }
        drop(showing);
        let damaged = Sealed::from_bytes(sealed.as_bytes().iter().rev().copied().collect());
        let error = SignedPayment::unseal(&damaged).unwrap_err();
        all.push_str(&format!("{error} {}", told(&error)));
        for secret in bytes(payment) {
            let start = secret.get(..40).unwrap();
            assert!(!all.contains(start), "{all}");
        }
        // a list of numbers is the bytes as well
        let listed = format!("{:?}", sealed.as_bytes().get(..8).unwrap());
        assert!(!all.contains(listed.trim_matches(['[', ']'])));
        assert_no_query(&all);
    }
}

#[tokio::test]
async fn a_purchase_that_heard_a_reply_shows_nothing_of_its_header() {
    let receipt = json!({"success": true, "transaction": "0x12", "extensions": {"x": URL}});
    let value = HeaderValue::try_from(STANDARD.encode(receipt.to_string())).unwrap();
    let fields = HeaderMap::from_iter([(headers::PAYMENT_RESPONSE, value)]);
    let mut purchase = Purchase::new(PurchaseKey::named("x"), PaymentId::random());
    let payments = vec![signed(&offer(2)).await];
    purchase.resume(purchase.key(), payments, Money::Signed, 0);
    assert!(purchase.show(Timestamp::from_secs(0)).is_some());
    let reply = Reply::new(StatusCode::OK, &fields, URL.as_bytes());
    let standing = purchase.handle_reply(reply, Timestamp::from_secs(0));
    assert_eq!(purchase.money(), Money::Settled);
    assert_no_query(&format!(
        "{} {} {}",
        told(&purchase),
        told(&standing),
        told(&reply)
    ));
}

#[test]
fn a_wallet_and_a_derivation_show_no_secret() {
    let wallet = told(&Wallet::evm(signer()));
    let digits = KEY.trim_start_matches("0x");
    let start = digits.get(..16).unwrap();
    assert!(!wallet.to_lowercase().contains(start), "{wallet}");
    assert!(wallet.contains("payer"));
    let derivation = told(&Derivation::with_secret("sesame"));
    assert!(!derivation.contains("sesame") && !derivation.contains("115, 101"));
}

#[test]
fn a_purchase_key_does_not_show_the_name_that_it_is_of() {
    let key = PurchaseKey::named("sesame");
    assert_no_query(&format!("{key} {}", told(&key)));
}

/// The first account of the usual test mnemonic: known to everybody.
const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
