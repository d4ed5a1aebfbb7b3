//! A ledger in memory: what it grants, what it holds, and whom it believes.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a helper of a test fails the test by panicking"
)]

use std::future::Future;
use std::pin::pin;
use std::sync::{Barrier, LazyLock};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use alloy_signer_local::PrivateKeySigner;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use paywait_ledger::{
    Epoch, Fingerprint, Intent, Ledger, LedgerError, Limits, MemoryLedger, Taken,
};
use paywait_signals::Timestamp;
use paywait_x402::alloy_primitives::B256;
use paywait_x402::{Money, Offer, PaymentId, PurchaseKey, SignedPayment, Terms, Usd, Wallet, usd};
use proptest::prelude::*;
use serde_json::json;

static SIGNER: LazyLock<PrivateKeySigner> = LazyLock::new(PrivateKeySigner::random);

/// What is signed for the terms of each test. A ledger does not look into it.
static PAYMENT: LazyLock<SignedPayment> = LazyLock::new(|| sign(VALID_BEFORE));

/// What another caller signed.
static OTHER: LazyLock<SignedPayment> = LazyLock::new(|| sign(VALID_BEFORE + 7));

fn sign(valid_before: u64) -> SignedPayment {
    ready(Wallet::evm(SIGNER.clone()).sign(&terms(valid_before))).unwrap()
}

fn terms(valid_before: u64) -> Terms {
    let offer = json!({"x402Version": 2, "accepts": [{
        "scheme": "exact", "network": "eip155:84532", "amount": "10000",
        "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C", "maxTimeoutSeconds": 120,
        "extra": {"name": "USDC", "version": "2"},
    }]});
    let offer = Offer::decode(STANDARD.encode(offer.to_string()).as_bytes()).unwrap();
    let (nonce, id) = (B256::repeat_byte(1), PaymentId::random());
    Terms::new(&offer, 0, SIGNER.address(), nonce, id, valid_before).unwrap()
}

/// A ledger in memory is ready at once.
fn ready<F: Future>(future: F) -> F::Output {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

fn ledger(per_day: &str) -> MemoryLedger {
    let ledger = MemoryLedger::new();
    ledger.register(limits(per_day));
    ledger
}

fn limits(per_day: &str) -> Limits {
    Limits::per_call(usd("1").unwrap()).per_day(usd(per_day).unwrap())
}

fn key(name: &str) -> PurchaseKey {
    PurchaseKey::named(name)
}

fn request(path: &str) -> Fingerprint {
    Fingerprint::of("POST", &format!("https://seller.example/{path}"), b"")
}

/// The intent of the caller's purchase `name`, to be signed at `secs`.
fn intent(name: &str, price: &str, secs: u64) -> Intent {
    let terms = terms(secs + WINDOW);
    Intent::new(key(name), request(name), &terms, usd(price).unwrap()).named(true)
}

fn at(secs: u64) -> Timestamp {
    Timestamp::from_secs(secs)
}

fn before(moment: Timestamp) -> Timestamp {
    moment.saturating_sub(Duration::from_millis(1))
}

fn intend(ledger: &MemoryLedger, intent: Intent, now: Timestamp) -> Result<Epoch, LedgerError> {
    match ready(ledger.intend(intent, now))? {
        Taken::Intended(epoch) => Ok(epoch),
        other => panic!("{other:?}"),
    }
}

fn persist(ledger: &MemoryLedger, name: &str, epoch: Epoch) -> Result<SignedPayment, LedgerError> {
    ready(ledger.persist(key(name), epoch, PAYMENT.clone(), at(START)))
}

fn take(ledger: &MemoryLedger, name: &str) -> Result<Taken, LedgerError> {
    ready(ledger.take(key(name), request(name), at(START)))
}

fn note(ledger: &MemoryLedger, name: &str, epoch: Epoch, money: Money) -> Result<(), LedgerError> {
    ready(ledger.note(key(name), epoch, money, at(START)))
}

/// A purchase that is signed, written and given back.
fn signed(ledger: &MemoryLedger, name: &str, price: &str) -> Epoch {
    let epoch = intend(ledger, intent(name, price, START), at(START)).unwrap();
    persist(ledger, name, epoch).unwrap();
    ledger.release(key(name), epoch, true);
    epoch
}

fn used(ledger: &MemoryLedger, now: Timestamp) -> String {
    ledger.used_today(now).to_string()
}

fn is_over(result: &Result<Epoch, LedgerError>) -> bool {
    matches!(result, Err(LedgerError::OverLimit { .. }))
}

fn come_back(result: &Result<Epoch, LedgerError>) -> Option<Timestamp> {
    match result {
        Err(LedgerError::OverLimit { come_back, .. }) => *come_back,
        other => panic!("{other:?}"),
    }
}

#[test]
fn many_callers_at_once_are_granted_as_much_as_the_limit_allows_and_no_more() {
    let (callers, allowed) = (64, 7);
    let ledger = ledger("0.07");
    let barrier = Barrier::new(callers);
    let (ledger_ref, barrier) = (&ledger, &barrier);
    let granted: Vec<bool> = std::thread::scope(|scope| {
        let ask = |place: usize| {
            move || {
                let intent = intent(&format!("order-{place}"), "0.01", START);
                barrier.wait();
                intend(ledger_ref, intent, at(START)).is_ok()
            }
        };
        let threads: Vec<_> = (0..callers).map(|place| scope.spawn(ask(place))).collect();
        threads.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(granted.iter().filter(|granted| **granted).count(), allowed);
    assert_eq!(used(&ledger, at(START)), "0.07");
}

#[test]
fn many_callers_of_one_key_get_one_lease() {
    let ledger = ledger("5");
    let barrier = Barrier::new(32);
    let ask = || {
        let intent = intent("order", "0.01", START);
        barrier.wait();
        let taken = ready(ledger.intend(intent, at(START))).unwrap();
        matches!(taken, Taken::Intended(_))
    };
    let leases: Vec<bool> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..32).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(leases.iter().filter(|lease| **lease).count(), 1);
    assert_eq!(used(&ledger, at(START)), "0.01");
}

#[test]
fn what_was_signed_counts_until_a_day_after_it_died() {
    let ledger = ledger("0.01");
    signed(&ledger, "one", "0.01");
    let free = at(DIES + DAY);
    let refused = intend(&ledger, intent("two", "0.01", START), at(START));
    assert_eq!(come_back(&refused), Some(free));
    assert!(is_over(&intend(
        &ledger,
        intent("two", "0.01", DIES + DAY),
        before(free)
    )));
    assert!(intend(&ledger, intent("two", "0.01", DIES + DAY), free).is_ok());
}

#[test]
fn what_settled_counts_for_a_day() {
    let ledger = ledger("0.01");
    let epoch = signed(&ledger, "one", "0.01");
    assert_eq!(note(&ledger, "one", epoch, Money::Settled), Ok(()));
    let free = at(START + DAY);
    assert_eq!(used(&ledger, before(free)), "0.01");
    assert_eq!(used(&ledger, free), "0");
}

#[test]
fn what_was_never_written_as_signed_counts_until_it_is_dead() {
    let ledger = ledger("0.01");
    let epoch = intend(&ledger, intent("one", "0.01", START), at(START)).unwrap();
    ledger.release(key("one"), epoch, true);
    assert_eq!(used(&ledger, before(at(DIES))), "0.01");
    assert_eq!(used(&ledger, at(DIES)), "0");
}

#[test]
fn the_tightest_of_several_limits_holds_in_any_order() {
    let without = Limits::per_call(usd("1").unwrap()).no_daily_limit();
    for order in [
        [limits("5"), limits("0.02"), without],
        [without, limits("0.02"), limits("5")],
        [limits("0.02"), without, limits("5")],
    ] {
        let ledger = MemoryLedger::new();
        for limits in order {
            ledger.register(limits);
        }
        assert!(intend(&ledger, intent("one", "0.02", START), at(START)).is_ok());
        let over = intend(&ledger, intent("two", "0.001", START), at(START));
        assert!(is_over(&over), "{over:?}");
    }
}

#[test]
fn a_limit_is_told_with_what_was_asked_allowed_and_used() {
    let ledger = ledger("0.05");
    signed(&ledger, "one", "0.04");
    let error = intend(&ledger, intent("two", "0.02", START), at(START)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "0.02 USD more would pass the limit of 0.05 USD per day, of which 0.04 USD is spent or held"
    );
}

#[test]
fn what_never_fits_has_no_time_to_come_back() {
    let ledger = ledger("0.05");
    signed(&ledger, "one", "0.04");
    let over = intend(&ledger, intent("two", "0.06", START), at(START));
    assert_eq!(come_back(&over), None);
}

#[test]
fn a_refused_intent_holds_nothing() {
    let ledger = ledger("0.05");
    assert!(is_over(&intend(
        &ledger,
        intent("one", "0.06", START),
        at(START)
    )));
    assert_eq!(used(&ledger, at(START)), "0");
    assert!(matches!(take(&ledger, "one"), Ok(Taken::Nothing)));
}

#[test]
fn a_hold_is_let_go_only_if_the_signer_was_not_asked() {
    for (asked, written, held) in [
        (false, false, "0"),
        (true, false, "0.01"),
        (true, true, "0.01"),
        (false, true, "0.01"),
    ] {
        let ledger = ledger("5");
        let epoch = intend(&ledger, intent("one", "0.01", START), at(START)).unwrap();
        if written {
            persist(&ledger, "one", epoch).unwrap();
        }
        ledger.release(key("one"), epoch, asked);
        assert_eq!(
            used(&ledger, at(START)),
            held,
            "asked: {asked}, written: {written}"
        );
    }
}

#[test]
fn a_later_caller_who_asked_no_signer_does_not_let_go_of_an_earlier_one_s_hold() {
    let ledger = ledger("5");
    let first = intend(&ledger, intent("one", "0.01", START), at(START)).unwrap();
    ledger.release(key("one"), first, true);
    let second = intend(&ledger, intent("one", "0.01", START), at(START)).unwrap();
    ledger.release(key("one"), second, false);
    assert_eq!(used(&ledger, at(START)), "0.01");
}

#[test]
fn a_hold_is_raised_and_never_lowered() {
    for (first, second, held) in [("0.05", "0.01", "0.05"), ("0.01", "0.05", "0.05")] {
        let ledger = ledger("5");
        let epoch = intend(&ledger, intent("one", first, START), at(START)).unwrap();
        ledger.release(key("one"), epoch, true);
        intend(&ledger, intent("one", second, START), at(START)).unwrap();
        assert_eq!(used(&ledger, at(START)), held);
    }
}

#[test]
fn a_hold_that_is_taken_over_is_not_counted_twice() {
    let ledger = ledger("0.05");
    let epoch = intend(&ledger, intent("one", "0.03", START), at(START)).unwrap();
    ledger.release(key("one"), epoch, true);
    assert!(intend(&ledger, intent("one", "0.04", START), at(START)).is_ok());
    assert_eq!(used(&ledger, at(START)), "0.04");
}

#[test]
fn a_hold_that_counts_no_more_makes_no_room_for_its_purchase() {
    let ledger = ledger("0.10");
    let epoch = intend(&ledger, intent("one", "0.05", START), at(START)).unwrap();
    ledger.release(key("one"), epoch, true);
    let now = at(DIES);
    intend(&ledger, intent("two", "0.08", DIES), now).unwrap();
    assert!(is_over(&intend(&ledger, intent("one", "0.05", DIES), now)));
}

#[test]
fn the_time_to_come_back_does_not_wait_for_the_purchase_s_own_hold() {
    let ledger = ledger("0.10");
    // the hold of the purchase itself ends first, and makes no room for it
    let own = intend(&ledger, intent("own", "0.05", START), at(START)).unwrap();
    ledger.release(key("own"), own, true);
    intend(&ledger, intent("other", "0.05", START + 60), at(START)).unwrap();
    let over = intend(&ledger, intent("own", "0.08", START), at(START));
    assert_eq!(come_back(&over), Some(at(DIES + 60)));
}

#[test]
fn the_epoch_of_a_loser_writes_nothing() {
    let ledger = ledger("5");
    let loser = intend(&ledger, intent("one", "0.01", START), at(START)).unwrap();
    ledger.release(key("one"), loser, true);
    let winner = intend(&ledger, intent("one", "0.01", START), at(START)).unwrap();
    assert!(winner > loser);

    assert_eq!(
        persist(&ledger, "one", loser).unwrap_err(),
        LedgerError::Lost
    );
    assert_eq!(
        note(&ledger, "one", loser, Money::Refused),
        Err(LedgerError::Lost)
    );
    // nor does it give back what the winner holds
    ledger.release(key("one"), loser, false);
    assert!(matches!(take(&ledger, "one"), Ok(Taken::InFlight)));
    assert_eq!(used(&ledger, at(START)), "0.01");
    assert!(persist(&ledger, "one", winner).is_ok());
}

#[test]
fn a_receipt_is_booked_whoever_brings_it() {
    let ledger = ledger("5");
    let older = signed(&ledger, "one", "0.01");
    let Ok(Taken::Standing { epoch, .. }) = take(&ledger, "one") else {
        panic!("it stands");
    };
    let written = note(&ledger, "one", older, Money::Settled);
    assert_eq!(written, Err(LedgerError::Lost));
    // what the newer one knows less of does not take it back
    assert_eq!(note(&ledger, "one", epoch, Money::Unknown), Ok(()));
    ledger.release(key("one"), epoch, false);
    let Ok(Taken::Standing { money, .. }) = take(&ledger, "one") else {
        panic!("it stands");
    };
    assert_eq!(money, Money::Settled);
    assert_eq!(used(&ledger, before(at(START + DAY))), "0.01");
    assert_eq!(used(&ledger, at(START + DAY)), "0");
}

#[test]
fn the_bytes_that_were_written_first_stand() {
    let ledger = ledger("5");
    let epoch = intend(&ledger, intent("one", "0.01", START), at(START)).unwrap();
    persist(&ledger, "one", epoch).unwrap();
    note(&ledger, "one", epoch, Money::Settled).unwrap();
    let second = ready(ledger.persist(key("one"), epoch, OTHER.clone(), at(START))).unwrap();
    assert_eq!(second.valid_before(), PAYMENT.valid_before());
    ledger.release(key("one"), epoch, true);
    let taken = ready(ledger.intend(intent("one", "0.01", START), at(START))).unwrap();
    let Taken::Standing { payment, money, .. } = taken else {
        panic!("{taken:?}");
    };
    assert_eq!(payment.valid_before(), PAYMENT.valid_before());
    assert_eq!(money, Money::Settled);
}

#[test]
fn a_purchase_has_one_taker_at_a_time() {
    let ledger = ledger("5");
    let epoch = intend(&ledger, intent("one", "0.01", START), at(START)).unwrap();
    let again = || ready(ledger.intend(intent("one", "0.01", START), at(START)));
    assert!(matches!(take(&ledger, "one"), Ok(Taken::InFlight)));
    assert!(matches!(again(), Ok(Taken::InFlight)));
    persist(&ledger, "one", epoch).unwrap();
    assert!(matches!(take(&ledger, "one"), Ok(Taken::InFlight)));
    ledger.release(key("one"), epoch, true);
    assert!(matches!(take(&ledger, "one"), Ok(Taken::Standing { .. })));
    assert!(matches!(again(), Ok(Taken::InFlight)));
}

#[test]
fn a_key_belongs_to_one_request() {
    let ledger = ledger("5");
    let epoch = intend(&ledger, intent("one", "0.01", START), at(START)).unwrap();
    let of_another = || {
        let intent = Intent::new(
            key("one"),
            request("elsewhere"),
            &terms(VALID_BEFORE),
            usd("0.01").unwrap(),
        );
        let intended = ready(ledger.intend(intent, at(START)));
        let taken = ready(ledger.take(key("one"), request("elsewhere"), at(START)));
        [intended.err(), taken.err()]
    };
    let refused = [
        Some(LedgerError::OtherRequest),
        Some(LedgerError::OtherRequest),
    ];
    assert_eq!(of_another(), refused);
    persist(&ledger, "one", epoch).unwrap();
    ledger.release(key("one"), epoch, true);
    assert_eq!(of_another(), refused);
}

#[test]
fn method_url_and_body_tell_requests_apart() {
    let url = "https://seller.example/a";
    let all = [
        Fingerprint::of("POST", url, b"x"),
        Fingerprint::of("PUT", url, b"x"),
        Fingerprint::of("POST", "https://seller.example/ax", b""),
        Fingerprint::of("POST", url, b"y"),
    ];
    for (place, one) in all.iter().enumerate() {
        assert!(all[place + 1..].iter().all(|other| other != one));
        assert_eq!(Fingerprint::from_bytes(*one.as_bytes()), *one);
    }
}

#[test]
fn a_purchase_with_a_name_is_remembered_and_one_without_is_dropped_when_it_counts_no_more() {
    let ledger = ledger("5");
    for (name, named) in [("named", true), ("random", false)] {
        let intent = intent(name, "0.01", START).named(named);
        let epoch = intend(&ledger, intent, at(START)).unwrap();
        persist(&ledger, name, epoch).unwrap();
        ledger.release(key(name), epoch, true);
    }
    assert_eq!(used(&ledger, before(at(DIES + DAY))), "0.02");
    assert_eq!(used(&ledger, at(DIES + DAY)), "0");
    assert!(matches!(take(&ledger, "named"), Ok(Taken::Standing { .. })));
    assert!(matches!(take(&ledger, "random"), Ok(Taken::Nothing)));
}

#[test]
fn a_purchase_without_a_name_is_not_dropped_while_somebody_has_it() {
    let ledger = ledger("5");
    let intent = intent("random", "0.01", START).named(false);
    let epoch = intend(&ledger, intent, at(START)).unwrap();
    persist(&ledger, "random", epoch).unwrap();
    assert_eq!(used(&ledger, at(DIES + DAY)), "0");
    assert_eq!(note(&ledger, "random", epoch, Money::Settled), Ok(()));
    assert_eq!(used(&ledger, at(START)), "0.01");
}

#[test]
fn what_nobody_intended_cannot_be_written() {
    let ledger = ledger("5");
    let epoch = Epoch::new(1);
    assert_eq!(
        persist(&ledger, "one", epoch).unwrap_err(),
        LedgerError::Lost
    );
    assert_eq!(
        note(&ledger, "one", epoch, Money::Settled),
        Err(LedgerError::Lost)
    );
    ledger.release(key("one"), epoch, false);
    assert_eq!(used(&ledger, at(START)), "0");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// What was granted never passes the limit, and the time to come back is the first at which
    /// there is room.
    #[test]
    fn nothing_passes_the_limit_and_there_is_room_when_it_was_said(
        asked in prop::collection::vec((1_u32..60, 0_u64..40_000, any::<bool>()), 1..24),
    ) {
        let ledger = ledger("1");
        let limit = usd("1").unwrap();
        let mut now = START;
        for (place, (cents, later, settles)) in asked.into_iter().enumerate() {
            now += later;
            let name = format!("order-{place}");
            let price = format!("0.{cents:02}");
            let answer = intend(&ledger, intent(&name, &price, now), at(now));
            match answer {
                Ok(epoch) => {
                    ready(ledger.persist(key(&name), epoch, PAYMENT.clone(), at(now))).unwrap();
                    if settles {
                        ready(ledger.note(key(&name), epoch, Money::Settled, at(now))).unwrap();
                    }
                    ledger.release(key(&name), epoch, true);
                }
                Err(LedgerError::OverLimit { come_back, used, .. }) => {
                    prop_assert_eq!(used, ledger.used_today(at(now)));
                    let room = come_back.unwrap();
                    prop_assert!(room > at(now));
                    prop_assert!(has_room(&ledger, &price, before(room), at(now)).is_none());
                    prop_assert!(has_room(&ledger, &price, room, at(now)).is_some());
                    // the ledger has seen that moment; it goes on from there
                    now = room.as_secs();
                }
                Err(other) => prop_assert!(false, "{other:?}"),
            }
            prop_assert!(ledger.used_today(at(now)) <= limit);
        }
    }
}

/// Whether `price` fits at `then`. What is asked for is given back at once.
fn has_room(ledger: &MemoryLedger, price: &str, then: Timestamp, now: Timestamp) -> Option<Usd> {
    let name = "somebody else";
    let epoch = intend(ledger, intent(name, price, now.as_secs()), then).ok()?;
    let used = ledger.used_today(then);
    ledger.release(key(name), epoch, false);
    Some(used)
}

/// When the tests begin, in seconds.
const START: u64 = 1_800_000_000;

/// For how long what is signed can be cashed, in seconds.
const WINDOW: u64 = 120;

const VALID_BEFORE: u64 = START + WINDOW;

/// When what is signed at the start can no longer settle: two minutes after it expired.
const DIES: u64 = VALID_BEFORE + 120;

const DAY: u64 = 24 * 60 * 60;
