//! Who has a purchase in hand.

use futures_executor::block_on;
use paywait_ledger::{Fingerprint, Intent, LedgerError, Owner, Taken};
use paywait_x402::{Money, usd};

use crate::desk::{
    DAY, LEASE, START, VALID_BEFORE, at, before, intent, key, origin, request, stores, terms,
};

#[test]
fn a_purchase_has_one_taker_at_a_time() {
    for store in stores("5") {
        let owner = store.intend_named("one", "0.01").unwrap();
        let again = || {
            let intent = intent("one", "0.01", START);
            block_on(store.ledger().intend(intent, Owner::random(), at(START)))
        };
        assert!(matches!(again(), Ok(Taken::InFlight)));
        assert!(matches!(store.take("one"), Ok(Taken::InFlight)));
        store.persist("one", owner).unwrap();
        assert!(matches!(store.take("one"), Ok(Taken::InFlight)));
        store.release("one", owner, true);
        assert!(matches!(store.take("one"), Ok(Taken::Standing(_))));
        assert!(matches!(again(), Ok(Taken::InFlight)));
    }
}

#[test]
fn one_that_writes_nothing_for_half_a_minute_is_gone() {
    for store in stores("5") {
        store.signed("one", "0.01");
        let (first, _) = store.stands("one", at(START));
        let renewed = |now| block_on(store.ledger().renew(key("one"), first, now));
        renewed(at(START + 20)).unwrap();
        let late = at(START + 20 + LEASE);
        let early = store.take_at("one", before(late));
        assert!(matches!(early, Ok(Taken::InFlight)));
        let (second, _) = store.stands("one", late);
        assert_ne!(first, second);
        assert_eq!(renewed(late), Err(LedgerError::Lost));
        let noted = store.note("one", first, Money::Refused);
        assert_eq!(noted, Err(LedgerError::Lost));
    }
}

#[test]
fn who_is_gone_may_have_shown_again_what_was_refused_to_it() {
    for store in stores("5") {
        let owner = store.intend_named("one", "0.01").unwrap();
        store.persist("one", owner).unwrap();
        store.note("one", owner, Money::Refused).unwrap();
        let (second, standing) = store.stands("one", at(START + LEASE));
        assert_eq!(standing.money, Money::Unknown);
        // who gives it back leaves word of what it knew
        store.note("one", second, Money::Refused).unwrap();
        store.release("one", second, true);
        let (_, standing) = store.stands("one", at(START + LEASE));
        assert_eq!(standing.money, Money::Refused);
    }
}

#[test]
fn a_clock_that_jumps_back_locks_no_key_for_long() {
    for store in stores("5") {
        store.signed("one", "0.01");
        store.stands("one", at(START + DAY / 2));
        store.stands("one", at(START));
    }
}

#[test]
fn an_owner_that_has_it_no_more_writes_nothing() {
    for store in stores("5") {
        let loser = store.intend_named("one", "0.01").unwrap();
        store.release("one", loser, true);
        let winner = store.intend_named("one", "0.01").unwrap();

        assert_eq!(store.persist("one", loser).unwrap_err(), LedgerError::Lost);
        let noted = store.note("one", loser, Money::Refused);
        assert_eq!(noted, Err(LedgerError::Lost));
        // nor does it give back what the winner holds
        store.release("one", loser, false);
        assert!(matches!(store.take("one"), Ok(Taken::InFlight)));
        assert_eq!(store.used(at(START)), "0.01");
        assert!(store.persist("one", winner).is_ok());
    }
}

#[test]
fn a_receipt_is_booked_whoever_brings_it() {
    for store in stores("5") {
        let older = store.signed("one", "0.01");
        let (newer, _) = store.stands("one", at(START));
        let written = store.note("one", older, Money::Settled);
        assert_eq!(written, Err(LedgerError::Lost));
        // what the newer one knows less of does not take it back
        assert_eq!(store.note("one", newer, Money::Unknown), Ok(()));
        store.release("one", newer, false);
        let (_, standing) = store.stands("one", at(START));
        assert_eq!(standing.money, Money::Settled);
        assert_eq!(store.used(before(at(START + DAY))), "0.01");
    }
}

#[test]
fn a_key_belongs_to_one_request() {
    for store in stores("5") {
        let owner = store.intend_named("one", "0.01").unwrap();
        let of_another = || {
            let price = usd("0.01").unwrap();
            let (elsewhere, terms) = (request("elsewhere"), terms(VALID_BEFORE));
            let intent = Intent::new(key("one"), elsewhere, origin(), &terms, Some(price));
            let intended = store.ledger().intend(intent, Owner::random(), at(START));
            let taken = store.ledger().take(key("one"), elsewhere, owner, at(START));
            [block_on(intended).err(), block_on(taken).err()]
        };
        let refused = [
            Some(LedgerError::OtherRequest),
            Some(LedgerError::OtherRequest),
        ];
        assert_eq!(of_another(), refused);
        store.persist("one", owner).unwrap();
        store.release("one", owner, true);
        assert_eq!(of_another(), refused);
    }
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
        assert!(all.iter().skip(place + 1).all(|other| other != one));
        assert_eq!(Fingerprint::from_bytes(*one.as_bytes()), *one);
    }
}
