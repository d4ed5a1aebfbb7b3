//! A purchase that is told what happened out of its order.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

use alloy_primitives::{Address, B256};
use alloy_signer_local::PrivateKeySigner;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use paywait_signals::Timestamp;
use paywait_x402::{
    Derivation, Money, Offer, Purchase, PurchaseError, PurchaseKey, SignedPayment, Terms, Wallet,
};

const OFFER: &str = r#"{"x402Version":2,"accepts":[{"scheme":"exact","network":"eip155:84532",
    "amount":"10000","asset":"0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    "payTo":"0x209693Bc6afc0C5328bA36FaF03C514EF312287C","maxTimeoutSeconds":60,
    "extra":{"name":"USDC","version":"2"}}]}"#;

async fn signed(nonce: B256, valid_before: u64) -> (Terms, SignedPayment) {
    let offer = Offer::decode(STANDARD.encode(OFFER).as_bytes()).unwrap();
    let id = Derivation::default().payment_id(Address::ZERO, name());
    let signer: PrivateKeySigner = KEY.parse().unwrap();
    let terms = Terms::new(&offer, 0, signer.address(), nonce, id, valid_before).unwrap();
    let payment = Wallet::evm(signer).sign(&terms).await.unwrap();
    (terms, payment)
}

fn standing(payment: &SignedPayment, money: Money) -> Purchase {
    let mut purchase = Purchase::new(name(), payment.payment_id().clone());
    purchase.resume(name(), vec![payment.clone()], money, 0);
    purchase
}

fn name() -> PurchaseKey {
    PurchaseKey::named("order-17")
}

fn at(secs: u64) -> Timestamp {
    Timestamp::from_secs(secs)
}

#[tokio::test]
async fn a_payment_in_another_space_is_not_put_beside_the_first_whoever_says_that_it_stands() {
    let (terms, own) = signed(B256::ZERO, 1_000).await;
    let (_, stray) = signed(B256::repeat_byte(9), 1_000).await;
    let mut purchase = standing(&own, Money::Refused);
    purchase.accept(terms, at(0)).unwrap();
    purchase.handle_signed(own).unwrap();
    let stands = purchase.handle_persisted(stray);
    assert_eq!(stands, Err(PurchaseError::OtherSpace));
    assert_eq!(purchase.payments().len(), 1);
    purchase.handle_unsigned();
    assert!(purchase.may_show(at(0)), "the first stands");
}

#[tokio::test]
async fn word_that_a_send_did_not_leave_comes_too_late_after_a_second_signature() {
    let (_, first) = signed(B256::ZERO, 1_000).await;
    let (terms, again) = signed(B256::ZERO, 2_000).await;
    let mut purchase = standing(&first, Money::Refused);
    assert!(purchase.show(at(0)).is_some());
    purchase.accept(terms, at(1_000)).unwrap();
    purchase.handle_signed(again.clone()).unwrap();
    purchase.handle_persisted(again).unwrap();
    purchase.handle_unsent();
    assert_eq!(purchase.money(), Money::Sent);
}

/// The first account of the usual test mnemonic: known to everybody.
const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
