//! No type of a call shows a payment, or what a seller repeats of the URL.

#![expect(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
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
use http::{HeaderMap, HeaderName, Method, StatusCode};
use paywait_call::{Action, Answered, Call, Facts, Intended, Means, NotPaid, Patience, Recalled};
use paywait_signals::{Reply, Timestamp};
use paywait_x402::{Derivation, Money, Policy, PurchaseKey, SignedPayment, Wallet, usd};
use serde_json::{Value, json};

/// Whoever asked for this URL has put a key into it; sellers repeat it.
const URL: &str = "https://user:hunter2@seller.example/report?key=sesame";

fn field(name: &'static str, value: &Value) -> HeaderMap {
    let value = STANDARD.encode(value.to_string()).parse().unwrap();
    HeaderMap::from_iter([(HeaderName::from_static(name), value)])
}

fn offer() -> Value {
    json!({"x402Version": 2, "resource": {"url": URL}, "error": URL, "accepts": [{
        "scheme": "exact", "network": "eip155:84532", "amount": "10000", "more": URL,
        "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C", "maxTimeoutSeconds": 60,
        "extra": {"name": "USDC", "version": "2"},
    }]})
}

fn means(wallet: &Wallet) -> Means {
    let policy = Arc::new(Policy::new(usd("0.05").unwrap()));
    let key = PurchaseKey::named("order-17");
    let derivation = Derivation::with_secret("sesame");
    Means::new(policy, wallet.payer(), derivation, key, true)
}

/// Both ways of printing: on one line, and on many.
fn told(value: &impl Debug) -> String {
    format!("{value:?} {value:#?}")
}

fn signed(wallet: &Wallet, terms: &paywait_x402::Terms) -> SignedPayment {
    let mut signing = pin!(wallet.sign(terms));
    match signing
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(signed) => signed.unwrap(),
        Poll::Pending => panic!("a signer in this process is ready at once"),
    }
}

/// Drives a call that buys and is refused after it paid; returns all that it and its actions say on
/// the way, and the payment that it showed.
fn bought() -> (String, String) {
    let now = Timestamp::from_secs(1_800_000_000);
    let wallet = Wallet::evm(KEY.parse::<PrivateKeySigner>().unwrap());
    let mut call = Call::new(Facts::of(&Method::POST, false), 7, now);
    call.lend_patience(&Patience::default());
    call.lend_means(means(&wallet));
    let mut words = told(&means(&wallet));
    let mut shown = None;
    loop {
        let action = call.next(now);
        words.push_str(&told(&action));
        words.push_str(&told(&call));
        match action {
            Action::Send(outgoing) => {
                let paid = call.is_paying();
                let mut request = HeaderMap::new();
                outgoing.write(&mut request);
                words.push_str(&told(&request));
                shown = shown.or_else(|| request.remove("payment-signature"));
                let (status, fields) = if paid {
                    let receipt = json!({"success": true, "transaction": "0x12", "x": URL});
                    (500, field("payment-response", &receipt))
                } else {
                    (402, field("payment-required", &offer()))
                };
                let status = StatusCode::from_u16(status).unwrap();
                let answer = Answered::new(Reply::new(status, &fields, URL.as_bytes()));
                words.push_str(&told(&answer));
                call.handle_reply(&answer, now);
            }
            Action::Intend(_) => call.handle_intended(Intended::New, now),
            Action::Sign(terms) => call.handle_signed(Ok(signed(&wallet, &terms))),
            Action::Persist(payment) => {
                let payments = vec![payment.clone()];
                let standing = Recalled::Standing {
                    key: PurchaseKey::named("order-17"),
                    payments,
                    money: Money::Signed,
                    shown: 0,
                };
                words.push_str(&told(&Intended::Stands(standing)));
                call.handle_persisted(Ok(payment));
            }
            Action::Sleep(_) => call.give_up(paywait_call::End::Unanswered),
            Action::Finish(end) => {
                words.push_str(&format!("{end} {}", told(&end)));
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    let report = call.into_report();
    let sends = report.sends.iter().map(|sent| format!("{sent} "));
    words.extend(sends);
    words.push_str(&format!("{report} {}", told(&report)));
    words.push_str(&format!("{}", report.paid.as_ref().unwrap()));
    let shown = shown.unwrap();
    (words, shown.to_str().unwrap().to_owned())
}

#[test]
fn a_call_that_buys_shows_no_payment() {
    let (words, payment) = bought();
    let payload = STANDARD.decode(&payment).unwrap();
    let payload: Value = serde_json::from_slice(&payload).unwrap();
    let signature = payload.pointer("/payload/signature").unwrap();
    let signature = signature.as_str().unwrap().trim_start_matches("0x");
    assert!(!words.contains(payment.get(..40).unwrap()), "{words}");
    assert!(!words.contains(signature.get(..40).unwrap()), "{words}");
}

#[test]
fn a_call_shows_nothing_of_what_a_seller_repeats() {
    let (words, _) = bought();
    for secret in ["sesame", "hunter2"] {
        assert!(!words.contains(secret), "{words}");
    }
}

#[test]
fn why_a_price_was_not_paid_shows_no_offer() {
    let now = Timestamp::from_secs(1_800_000_000);
    let wallet = Wallet::evm(KEY.parse::<PrivateKeySigner>().unwrap());
    let mut dear = offer();
    *dear.pointer_mut("/accepts/0/amount").unwrap() = json!("99000000");
    let mut call = Call::new(Facts::of(&Method::GET, false), 7, now);
    call.lend_means(means(&wallet));
    assert!(matches!(call.next(now), Action::Send(_)));
    let fields = field("payment-required", &dear);
    let reply = Reply::new(StatusCode::PAYMENT_REQUIRED, &fields, &[]);
    call.handle_reply(&Answered::new(reply), now);
    let Action::Finish(paywait_call::End::NotPaid(why)) = call.next(now) else {
        panic!("it is paid");
    };
    assert!(matches!(why, NotPaid::Policy(_)));
    let words = format!("{why} {} {}", told(&why), told(&call));
    assert!(
        !words.contains("sesame") && !words.contains("hunter2"),
        "{words}"
    );
}

/// The first account of the usual test mnemonic: known to everybody.
const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
