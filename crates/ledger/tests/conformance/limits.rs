//! Limits, and how they are told.

use std::sync::Barrier;

use futures_executor::block_on;
use paywait_ledger::{LedgerError, Limit, Limits, Owner, Period, Taken};
use paywait_x402::alloy_primitives::Address;
use paywait_x402::{Amount, Asset, Money, Network, usd};

use crate::desk::{
    DAY, OTHER, START, at, come_back, intent, is_over, key, limits, stores, unlimited,
};

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

fn without() -> Limits {
    Limits::per_call(usd("1").unwrap()).no_daily_limit()
}

#[test]
fn the_tightest_of_several_limits_holds_in_any_order() {
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

#[test]
fn a_limit_of_zero_blocks_what_it_counts_and_nothing_else() {
    for store in unlimited() {
        let other = Asset::new(Network::evm(1), Address::repeat_byte(7));
        let none_of_it = Limit::units(other, Amount::ZERO, Period::Total);
        store.ledger().register(&without().and(none_of_it));
        assert!(store.intend_named("one", "0.01").is_ok());
        store
            .ledger()
            .register(&without().and(Limit::purchases(0, Period::MINUTE)));
        assert!(is_over(&store.intend_named("two", "0.01")));
    }
}

#[test]
fn a_purchase_that_was_in_hand_as_its_day_ended_counts_no_more_afterwards() {
    for store in unlimited() {
        let of_the_day = Limit::purchases(1, Period::DAY);
        store.ledger().register(&without().and(of_the_day));
        let owner = store
            .intend(intent("one", "0.01", START).named(false), at(START))
            .unwrap();
        store.persist("one", owner).unwrap();
        store.note("one", owner, Money::Settled).unwrap();
        store.release("one", owner, true);
        let day = START + DAY;
        let _taken = store.take_at("one", at(day - 5)).unwrap();
        assert!(is_over(&store.intend(intent("two", "0.01", day), at(day))));
        let late = day + 60;
        assert_eq!(store.used(at(late)), "0");
        assert!(
            store
                .intend(intent("three", "0.01", late), at(late))
                .is_ok()
        );
    }
}

#[test]
fn while_it_is_halted_a_second_signature_that_was_not_shown_is_not() {
    for store in unlimited() {
        let owner = store.intend_named("one", "0.01").unwrap();
        store.persist("one", owner).unwrap();
        store.note("one", owner, Money::Refused).unwrap();
        let again = intent("one", "0.01", START).known(1);
        let intended = block_on(store.ledger().intend(again, owner, at(START)));
        assert!(matches!(intended, Ok(Taken::Intended)), "{intended:?}");
        let written = store
            .ledger()
            .persist(key("one"), owner, OTHER.clone(), at(START));
        assert!(block_on(written).is_ok());
        store.release("one", owner, true);
        block_on(store.ledger().halt(true)).unwrap();
        assert!(matches!(store.take("one"), Err(LedgerError::Halted)));
        block_on(store.ledger().halt(false)).unwrap();
        assert!(matches!(store.take("one"), Ok(Taken::Standing(_))));
    }
}
