//! What bounds one call besides its attempts and its deadline, each from both sides.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a helper of a test fails the test by panicking"
)]

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use alloy_signer_local::PrivateKeySigner;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use paywait_call::{
    Action, Answered, Call, End, Facts, Intended, Means, Patience, Recalled, Report,
};
use paywait_signals::{Reason, Reply, Timestamp};
use paywait_x402::{Derivation, Policy, PurchaseKey, SignedPayment, Wallet, usd};

const OFFER: &str = r#"{"x402Version":2,"accepts":[{"scheme":"exact","network":"eip155:84532",
    "amount":"10000","asset":"0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    "payTo":"0x209693Bc6afc0C5328bA36FaF03C514EF312287C","maxTimeoutSeconds":60,
    "extra":{"name":"USDC","version":"2"}}]}"#;

fn wallet() -> Wallet {
    Wallet::evm(KEY.parse::<PrivateKeySigner>().unwrap())
}

fn buying(now: Timestamp) -> Call {
    let mut call = Call::new(Facts::of(&Method::GET, false), 7, now);
    let policy = Arc::new(Policy::new(usd("0.05").unwrap()));
    let key = PurchaseKey::named("order-17");
    let payer = wallet().payer();
    call.lend_means(Means::new(policy, payer, Derivation::default(), key, true));
    call
}

fn patient(attempts: u32, now: Timestamp) -> Call {
    let mut patience = Patience::default();
    patience.attempts = attempts.try_into().unwrap();
    let mut call = buying(now);
    call.lend_patience(&patience);
    call
}

/// What is signed for the terms that the call asks to sign.
fn sign(call: &mut Call, now: Timestamp) -> SignedPayment {
    let Action::Sign(terms) = call.next(now) else {
        panic!("nothing is to be signed");
    };
    let signing = wallet();
    let mut signing = pin!(signing.sign(&terms));
    match signing
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(signed) => signed.unwrap(),
        Poll::Pending => panic!("a signer in this process is ready at once"),
    }
}

fn offered() -> HeaderMap {
    let name = http::HeaderName::from_static("payment-required");
    HeaderMap::from_iter([(name, STANDARD.encode(OFFER).parse().unwrap())])
}

/// Drives a call to its end; each reply to a paid send asks for a second, with the next body.
fn throttled(bodies: impl Iterator<Item = &'static str>) -> Report {
    let mut bodies = bodies;
    let mut now = START;
    let mut call = patient(20, now);
    let slow = HeaderMap::from_iter([(http::header::RETRY_AFTER, HeaderValue::from_static("1"))]);
    loop {
        match call.next(now) {
            Action::Send(_) if call.is_paying() => {
                let body = bodies.next().unwrap().as_bytes();
                let reply = Reply::new(StatusCode::TOO_MANY_REQUESTS, &slow, body);
                call.handle_reply(&Answered::new(reply), now);
            }
            Action::Send(_) => {
                let (status, fields) = (StatusCode::PAYMENT_REQUIRED, offered());
                call.handle_reply(&Answered::new(Reply::new(status, &fields, &[])), now);
            }
            Action::Sleep(until) => now = until,
            Action::Intend(_) => call.handle_intended(Intended::New, now),
            Action::Sign(_) => {
                let signed = sign(&mut call, now);
                call.handle_signed(Ok(signed));
            }
            Action::Persist(payment) => call.handle_persisted(Ok(payment)),
            Action::Finish(_) => return call.into_report(),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_refusal_that_comes_a_third_time_alike_is_stored_and_others_are_not() {
    let paid = |report: &Report| report.sends.iter().filter(|sent| sent.paid).count();
    let alike = throttled(std::iter::repeat("{}"));
    assert_eq!(paid(&alike), 3);
    let reason = alike.decision().unwrap().reason;
    assert_eq!(
        (reason, alike.end),
        (Reason::StoredRefusal, End::OutcomeUnknown)
    );
    // with another body in between they are not alike, and the bytes are shown four times
    let others = throttled(["{}", "{}", "[]", "{}"].into_iter());
    assert_eq!(paid(&others), 4);
    assert_ne!(others.decision().unwrap().reason, Reason::StoredRefusal);
}

/// How many seconds after now the authorization ends that is signed for a seller whose clock is so
/// far ahead.
fn ends_after(ahead: u64) -> u64 {
    let mut call = patient(5, START);
    assert!(matches!(call.next(START), Action::Send(_)));
    let mut fields = offered();
    let date = HTTP_DATES.iter().find(|(by, _)| *by == ahead).unwrap().1;
    fields.insert(http::header::DATE, HeaderValue::from_static(date));
    let reply = Reply::new(StatusCode::PAYMENT_REQUIRED, &fields, &[]);
    call.handle_reply(&Answered::new(reply), START);
    match call.next(START) {
        Action::Intend(terms) => terms.valid_before() - START.as_secs(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_seller_s_clock_moves_the_end_of_a_window_by_two_minutes_at_most() {
    assert_eq!(ends_after(119), 60 + 119);
    assert_eq!(ends_after(120), 60 + 120);
    assert_eq!(ends_after(121), 60 + 120);
}

/// Waits for another caller that never ends; returns each sleep.
fn waits(mut call: Call) -> (End, Vec<Duration>) {
    let mut now = START;
    let mut sleeps = Vec::new();
    call.recall_first();
    loop {
        match call.next(now) {
            Action::Recall => call.handle_recalled(Recalled::InFlight, now),
            Action::Sleep(until) => {
                sleeps.push(now.until(until));
                now = until;
            }
            Action::Finish(end) => return (end, sleeps),
            other => panic!("{other:?}"),
        }
        assert!(sleeps.len() < 1_000, "it does not end");
    }
}

#[test]
fn another_caller_is_waited_for_three_minutes_in_steps_of_a_second() {
    let (end, sleeps) = waits(buying(START));
    assert_eq!(end, End::InFlight);
    assert_eq!(sleeps.first(), Some(&Duration::from_millis(20)));
    assert_eq!(sleeps.iter().max(), Some(&Duration::from_secs(1)));
    let all: Duration = sleeps.iter().sum();
    let limit = Duration::from_secs(180);
    assert!(
        all <= limit && all > limit - Duration::from_secs(1),
        "{all:?}"
    );
}

#[test]
fn another_caller_is_waited_for_no_longer_than_the_deadline() {
    let mut call = buying(START);
    call.set_deadline(START.saturating_add(Duration::from_millis(60)));
    let (end, sleeps) = waits(call);
    assert_eq!(end, End::InFlight);
    assert_eq!(sleeps, [20, 40].map(Duration::from_millis));
}

#[test]
fn at_the_end_of_time_a_call_ends_too() {
    let mut call = patient(20, Timestamp::MAX);
    let slow = HeaderMap::from_iter([(http::header::RETRY_AFTER, HeaderValue::from_static("60"))]);
    let mut sends = 0;
    loop {
        match call.next(Timestamp::MAX) {
            Action::Send(_) => {
                sends += 1;
                let reply = Reply::new(StatusCode::TOO_MANY_REQUESTS, &slow, &[]);
                call.handle_reply(&Answered::new(reply), Timestamp::MAX);
            }
            Action::Finish(end) => {
                assert_eq!(end, End::Exhausted(Reason::RateLimited));
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(sends, 20);
}

/// How many seconds after the start each of these is.
const HTTP_DATES: [(u64, &str); 3] = [
    (119, "Fri, 15 Jan 2027 08:01:59 GMT"),
    (120, "Fri, 15 Jan 2027 08:02:00 GMT"),
    (121, "Fri, 15 Jan 2027 08:02:01 GMT"),
];

/// 2027-01-15T08:00:00Z.
const START: Timestamp = Timestamp::from_secs(1_800_000_000);

/// The first account of the usual test mnemonic: known to everybody.
const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
