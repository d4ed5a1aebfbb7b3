//! No type of a ledger shows a payment, a body that was paid for, or a URL.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

use std::fmt::Debug;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use alloy_signer_local::PrivateKeySigner;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use paywait_ledger::{
    Fingerprint, Intent, Kept, Ledger, Limits, MemoryLedger, Note, Origin, Owner, Taken,
};
use paywait_signals::Timestamp;
use paywait_x402::alloy_primitives::B256;
use paywait_x402::{Money, Offer, PaymentId, PurchaseKey, SignedPayment, Terms, Wallet, usd};
use serde_json::json;

/// Whoever asked for this URL has put a key into it; sellers repeat it.
const URL: &str = "https://user:hunter2@seller.example/report?key=sesame";

const NOW: Timestamp = Timestamp::from_secs(0);

fn terms() -> Terms {
    let offer = json!({"x402Version": 2, "resource": {"url": URL}, "accepts": [{
        "scheme": "exact", "network": "eip155:84532", "amount": "10000", "more": URL,
        "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C", "maxTimeoutSeconds": 60,
        "extra": {"name": "USDC", "version": "2"},
    }]});
    let offer = Offer::decode(STANDARD.encode(offer.to_string()).as_bytes()).unwrap();
    let payer = signer().address();
    Terms::new(&offer, 0, payer, B256::ZERO, PaymentId::random(), 1_000).unwrap()
}

fn signer() -> PrivateKeySigner {
    KEY.parse().unwrap()
}

/// What is in memory is ready at once.
fn ready<F: Future>(future: F) -> F::Output {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

/// Both ways of printing: on one line, and on many.
fn told(value: &impl Debug) -> String {
    format!("{value:?} {value:#?}")
}

/// The header of a payment, as a store keeps it.
fn header(payment: &SignedPayment) -> String {
    let sealed = payment.seal();
    let text = String::from_utf8_lossy(sealed.as_bytes()).into_owned();
    let (_, header) = text.split_once(r#""header":""#).unwrap();
    header.to_owned()
}

fn origin() -> Origin {
    "https://seller.example".parse().unwrap()
}

fn key() -> PurchaseKey {
    PurchaseKey::named("sesame")
}

fn kept() -> Arc<Kept> {
    let field = ("set-cookie".to_owned(), b"hunter2".to_vec());
    Arc::new(Kept::new(200, vec![field], b"the sesame report".to_vec()))
}

fn assert_tells_nothing(words: &str, payment: &SignedPayment) {
    let header = header(payment);
    let listed = |text: &str| format!("{:?}", text.as_bytes()).replace(['[', ']'], "");
    for secret in ["sesame", "hunter2", header.get(..40).unwrap()] {
        assert!(!words.contains(secret), "{words}");
        assert!(!words.contains(&listed(secret)), "{words}");
    }
}

#[test]
fn what_a_ledger_is_told_and_answers_shows_no_payment_no_body_and_no_url() {
    let (owner, other) = (Owner::random(), Owner::random());
    let fingerprint = Fingerprint::of("POST", URL, b"sesame");
    let payment = ready(Wallet::evm(signer()).sign(&terms())).unwrap();
    let ledger = MemoryLedger::new();
    ledger.register(&Limits::per_call(usd("1").unwrap()).no_daily_limit());
    let price = usd("0.01").unwrap();
    let intent = Intent::new(key(), fingerprint, origin(), &terms(), Some(price)).named(true);
    let mut words = told(&intent);
    words.push_str(&told(&ready(ledger.intend(intent, owner, NOW))));
    let stands = ready(ledger.persist(key(), owner, payment.clone(), NOW));
    words.push_str(&told(&stands));
    ledger.release(key(), owner, true);
    let taken = ready(ledger.take(key(), fingerprint, owner, NOW)).unwrap();
    assert!(matches!(taken, Taken::Standing(_)));
    words.push_str(&told(&taken));
    words.push_str(&told(&ready(ledger.open_purchases())));

    let stranger = Fingerprint::of("GET", URL, b"");
    let error = ready(ledger.take(key(), stranger, other, NOW)).unwrap_err();
    words.push_str(&format!("{error} {error:?}"));

    let note = Note::new(Money::Settled, 1)
        .delivered(true)
        .kept(Some(kept()));
    words.push_str(&told(&note));
    ready(ledger.note(key(), owner, note, NOW)).unwrap();
    ledger.release(key(), owner, true);
    let taken = ready(ledger.take(key(), fingerprint, other, NOW)).unwrap();
    assert!(matches!(taken, Taken::Kept(_)));
    words.push_str(&told(&taken));
    words.push_str(&told(&ledger));
    assert_tells_nothing(&words, &payment);
}

/// The first account of the usual test mnemonic: known to everybody.
const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
