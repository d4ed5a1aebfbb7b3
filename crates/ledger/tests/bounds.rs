//! Each bound of a ledger from both sides: leases, holds, days, limits, signatures.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use alloy_signer_local::PrivateKeySigner;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use paywait_ledger::{
    Fingerprint, Intent, Ledger, LedgerError, Limits, MemoryLedger, Note, Origin, Owner, Quantity,
    Taken,
};
use paywait_signals::Timestamp;
use paywait_x402::alloy_primitives::{Address, B256};
use paywait_x402::{Derivation, Money, Offer, PurchaseKey, SignedPayment, Terms, Usd, Wallet, usd};

const OFFER: &str = r#"{"x402Version":2,"accepts":[{"scheme":"exact","network":"eip155:84532",
    "amount":"10000","asset":"0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    "payTo":"0x209693Bc6afc0C5328bA36FaF03C514EF312287C","maxTimeoutSeconds":60,
    "extra":{"name":"USDC","version":"2"}}]}"#;

fn terms(valid_before: u64) -> Terms {
    let offer = Offer::decode(STANDARD.encode(OFFER).as_bytes()).unwrap();
    let id = Derivation::default().payment_id(Address::ZERO, key());
    let signer: PrivateKeySigner = KEY.parse().unwrap();
    Terms::new(&offer, 0, signer.address(), B256::ZERO, id, valid_before).unwrap()
}

fn sign(valid_before: u64) -> SignedPayment {
    let signer: PrivateKeySigner = KEY.parse().unwrap();
    ready(Wallet::evm(signer).sign(&terms(valid_before))).unwrap()
}

/// What is in memory is ready at once.
fn ready<F: Future>(future: F) -> F::Output {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

fn key() -> PurchaseKey {
    PurchaseKey::named("order-17")
}

fn origin() -> Origin {
    "https://seller.example".parse().unwrap()
}

fn request() -> Fingerprint {
    Fingerprint::of("GET", "https://seller.example/report", b"")
}

fn owner(byte: u8) -> Owner {
    Owner::from_bytes([byte; 16])
}

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// A millisecond before `moment`, and that moment.
fn around(moment: u64) -> [Timestamp; 2] {
    [at(moment - 1), at(moment)]
}

fn ledger(per_day: &str) -> MemoryLedger {
    let ledger = MemoryLedger::new();
    let per_call = Limits::per_call(usd("1000000").unwrap());
    ledger.register(&per_call.per_day(usd(per_day).unwrap()).open_share(100));
    ledger
}

fn intent(name: PurchaseKey, price: Usd) -> Intent {
    Intent::new(name, request(), origin(), &terms(BEFORE), Some(price)).named(true)
}

fn intend(ledger: &MemoryLedger, intent: Intent, now: Timestamp) -> Result<Taken, LedgerError> {
    ready(ledger.intend(intent, owner(1), now))
}

/// A ledger in which one payment of a dollar was signed, and nothing of it was heard.
fn signed() -> MemoryLedger {
    let ledger = ledger("5");
    intend(&ledger, intent(key(), usd("1").unwrap()), at(0)).unwrap();
    ready(ledger.persist(key(), owner(1), sign(BEFORE), at(0))).unwrap();
    ledger
}

fn used(ledger: &MemoryLedger, now: Timestamp) -> String {
    ledger.used_today(now).to_string()
}

#[test]
fn a_lease_lasts_thirty_seconds() {
    let ledger = signed();
    let [last, over] = around(30_000);
    let take = |now| ready(ledger.take(key(), request(), owner(2), now)).unwrap();
    assert!(matches!(take(last), Taken::InFlight));
    assert!(matches!(take(over), Taken::Standing(_)));
}

#[test]
fn the_limit_of_a_day_is_spent_to_the_last_place_and_no_further() {
    let (most, least) = (usd("5").unwrap(), usd("0.000000000000000001").unwrap());
    let ledger = ledger("5");
    let taken = intend(&ledger, intent(key(), most), at(0)).unwrap();
    assert!(matches!(taken, Taken::Intended));
    let other = PurchaseKey::named("order-18");
    let over = intend(&ledger, intent(other, least), at(0)).unwrap_err();
    let LedgerError::OverLimit(over) = over else {
        panic!("{over:?}");
    };
    let told = (over.asked, over.limit.most(), over.used);
    let [asked, allowed, used] = [least, most, most].map(Quantity::Usd);
    assert_eq!(told, (asked, allowed, used));
}

#[test]
fn prices_that_do_not_add_up_are_over_the_limit_and_no_wrap() {
    let most = "115792089237316195423570985008687907853269984665640564039457";
    let ledger = ledger(most);
    intend(&ledger, intent(key(), usd(most).unwrap()), at(0)).unwrap();
    let other = PurchaseKey::named("order-18");
    let over = intend(&ledger, intent(other, usd(most).unwrap()), at(0));
    assert!(matches!(over, Err(LedgerError::OverLimit(_))), "{over:?}");
}

#[test]
fn what_was_signed_is_held_for_a_day_after_it_died() {
    let ledger = signed();
    let [last, over] = around(BEFORE * 1_000 + 120_000 + DAY);
    assert_eq!(used(&ledger, last), "1");
    assert_eq!(used(&ledger, over), "0");
}

#[test]
fn what_was_intended_and_never_signed_is_held_until_it_would_have_died() {
    let ledger = ledger("5");
    intend(&ledger, intent(key(), usd("1").unwrap()), at(0)).unwrap();
    let [last, over] = around(BEFORE * 1_000 + 120_000);
    assert_eq!(used(&ledger, last), "1");
    assert_eq!(used(&ledger, over), "0");
}

#[test]
fn what_was_settled_counts_for_a_day_from_then() {
    let ledger = signed();
    let settled = Note::new(Money::Settled, 1).delivered(true);
    ready(ledger.note(key(), owner(1), settled, at(7_000))).unwrap();
    ledger.release(key(), owner(1), true);
    let [last, over] = around(7_000 + DAY);
    assert_eq!(used(&ledger, last), "1");
    assert_eq!(used(&ledger, over), "0");
}

#[test]
fn an_unnamed_purchase_is_taken_over_for_an_hour_after_it_expired() {
    let [last, over] = around((BEFORE + 3_600) * 1_000);
    for (now, is_taken_over) in [(last, true), (over, false)] {
        let ledger = ledger("5");
        let first = Intent::new(key(), request(), origin(), &terms(BEFORE), usd("1").ok());
        intend(&ledger, first, at(0)).unwrap();
        ready(ledger.persist(key(), owner(1), sign(BEFORE), at(0))).unwrap();
        ledger.release(key(), owner(1), true);
        let name = PurchaseKey::named("order-18");
        let again = Intent::new(name, request(), origin(), &terms(BEFORE), usd("1").ok());
        let taken = ready(ledger.intend(again.takes_over(true), owner(2), now)).unwrap();
        let stands = matches!(taken, Taken::Standing(_));
        assert_eq!(stands, is_taken_over, "{taken:?}");
    }
}

#[test]
fn two_signatures_stand_and_a_third_is_answered_with_the_second() {
    let ledger = signed();
    for (known, secs) in [(1, 60), (2, 120)] {
        let refused = Note::new(Money::Refused, 1);
        ready(ledger.note(key(), owner(1), refused, at(0))).unwrap();
        let more = intent(key(), usd("1").unwrap()).known(known);
        intend(&ledger, more, at(0)).unwrap();
        let payment = sign(BEFORE + secs);
        let stands = ready(ledger.persist(key(), owner(1), payment, at(0))).unwrap();
        assert_eq!(stands.valid_before(), BEFORE + 60);
    }
    let open = ready(ledger.open_purchases()).unwrap();
    assert_eq!(open.first().map(|record| record.signatures()), Some(2));
}

#[test]
fn at_the_end_of_time_nothing_wraps() {
    let ledger = ledger("5");
    let dollar = usd("1").unwrap();
    let far = Intent::new(key(), request(), origin(), &terms(u64::MAX), Some(dollar)).named(true);
    intend(&ledger, far, Timestamp::MAX).unwrap();
    ready(ledger.persist(key(), owner(1), sign(u64::MAX), Timestamp::MAX)).unwrap();
    let before = Timestamp::MAX.saturating_sub(Duration::from_millis(1));
    assert_eq!(used(&ledger, before), "1");
}

const BEFORE: u64 = 1_000;

/// In milliseconds.
const DAY: u64 = 86_400_000;

/// The first account of the usual test mnemonic: known to everybody.
const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
