//! Limits, and how they are told.

use std::sync::Barrier;

use futures_executor::block_on;
use paywait_ledger::{Limits, Owner, Taken};
use paywait_x402::usd;

use crate::desk::{START, at, come_back, intent, is_over, limits, stores, unlimited};

#[test]
fn many_callers_at_once_are_granted_as_much_as_the_limit_allows_and_no_more() {
    let (callers, allowed) = (64, 7);
    for store in stores("0.07") {
        let barrier = Barrier::new(callers);
        let (store, barrier) = (&store, &barrier);
        let granted: Vec<bool> = std::thread::scope(|scope| {
            let ask = |place: usize| {
                move || {
                    let name = format!("order-{place}");
                    barrier.wait();
                    store.intend_named(&name, "0.01").is_ok()
                }
            };
            let threads: Vec<_> = (0..callers).map(|place| scope.spawn(ask(place))).collect();
            threads.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert_eq!(granted.iter().filter(|granted| **granted).count(), allowed);
        assert_eq!(store.used(at(START)), "0.07");
    }
}

#[test]
fn many_callers_of_one_key_get_one_lease() {
    for store in stores("5") {
        let barrier = Barrier::new(32);
        let ask = || {
            let intent = intent("order", "0.01", START);
            barrier.wait();
            let taken = block_on(store.ledger().intend(intent, Owner::random(), at(START)));
            matches!(taken.unwrap(), Taken::Intended)
        };
        let leases: Vec<bool> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..32).map(|_| scope.spawn(ask)).collect();
            threads.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert_eq!(leases.iter().filter(|lease| **lease).count(), 1);
        assert_eq!(store.used(at(START)), "0.01");
    }
}

#[test]
fn the_tightest_of_several_limits_holds_in_any_order() {
    let without = || Limits::per_call(usd("1").unwrap()).no_daily_limit();
    for order in [
        [limits("5"), limits("0.02"), without()],
        [without(), limits("0.02"), limits("5")],
        [limits("0.02"), without(), limits("5")],
    ] {
        for store in unlimited() {
            for limits in &order {
                store.ledger().register(limits);
            }
            assert!(store.intend_named("one", "0.02").is_ok());
            let over = store.intend_named("two", "0.001");
            assert!(is_over(&over), "{over:?}");
        }
    }
}

#[test]
fn a_limit_is_told_with_what_was_asked_allowed_and_used() {
    for store in stores("0.05") {
        store.signed("one", "0.04");
        let error = store.intend_named("two", "0.02").unwrap_err();
        assert_eq!(
            error.to_string(),
            "0.02 USD more would pass the limit of 0.05 USD per day, of which 0.04 USD is spent or held"
        );
    }
}

#[test]
fn what_never_fits_has_no_time_to_come_back() {
    for store in stores("0.05") {
        store.signed("one", "0.04");
        assert_eq!(come_back(&store.intend_named("two", "0.06")), None);
    }
}

#[test]
fn a_refused_intent_holds_nothing() {
    for store in stores("0.05") {
        assert!(is_over(&store.intend_named("one", "0.06")));
        assert_eq!(store.used(at(START)), "0");
        assert!(matches!(store.take("one"), Ok(Taken::Nothing)));
    }
}
