//! For how long what was signed counts.

use std::time::Duration;

use paywait_ledger::{OnDeath, Taken};
use paywait_x402::Money;

use crate::desk::{
    DAY, DIES, LEASE, START, VALID_BEFORE, at, before, come_back, intent, is_over, stores,
};

#[test]
fn what_was_signed_counts_until_a_day_after_it_died() {
    for store in stores("0.01") {
        store.signed("one", "0.01");
        let free = at(DIES + DAY);
        assert_eq!(come_back(&store.intend_named("two", "0.01")), Some(free));
        let then = || intent("two", "0.01", DIES + DAY);
        assert!(is_over(&store.intend(then(), before(free))));
        assert!(store.intend(then(), free).is_ok());
    }
}

#[test]
fn what_settled_counts_for_a_day() {
    for store in stores("0.01") {
        let owner = store.intend_named("one", "0.01").unwrap();
        store.persist("one", owner).unwrap();
        assert_eq!(store.note("one", owner, Money::Settled), Ok(()));
        store.release("one", owner, true);
        let free = at(START + DAY);
        assert_eq!(store.used(before(free)), "0.01");
        assert_eq!(store.used(free), "0");
    }
}

#[test]
fn what_was_never_written_as_signed_counts_until_it_is_dead() {
    for store in stores("0.01") {
        let owner = store.intend_named("one", "0.01").unwrap();
        store.release("one", owner, true);
        assert_eq!(store.used(before(at(DIES))), "0.01");
        assert_eq!(store.used(at(DIES)), "0");
        assert_eq!(store.open(), 0, "nothing of it can have been shown");
    }
}

#[test]
fn a_hold_that_is_to_be_let_go_at_death_is_and_one_that_settled_is_not() {
    let margin = Duration::from_secs(600);
    let free = at(VALID_BEFORE + 600);
    for (settles, held) in [(false, "0"), (true, "0.01")] {
        for store in stores("5") {
            let intent = intent("one", "0.01", START).on_death(OnDeath::Release(margin));
            let owner = store.intend(intent, at(START)).unwrap();
            store.persist("one", owner).unwrap();
            if settles {
                store.note("one", owner, Money::Settled).unwrap();
            }
            store.release("one", owner, true);
            assert_eq!(store.used(before(free)), "0.01");
            assert_eq!(store.used(free), held, "settles: {settles}");
        }
    }
}

#[test]
fn a_purchase_with_a_name_is_remembered_and_one_without_is_dropped_when_it_counts_no_more() {
    for store in stores("5") {
        for (name, named) in [("named", true), ("random", false)] {
            let intent = intent(name, "0.01", START).named(named);
            let owner = store.intend(intent, at(START)).unwrap();
            store.persist(name, owner).unwrap();
            store.release(name, owner, true);
        }
        assert_eq!(store.used(before(at(DIES + DAY))), "0.02");
        assert_eq!(store.used(at(DIES + DAY)), "0");
        let late = at(DIES + DAY);
        assert!(matches!(
            store.take_at("named", late),
            Ok(Taken::Standing(_))
        ));
        assert!(matches!(store.take_at("random", late), Ok(Taken::Nothing)));
        assert_eq!(store.open(), 1, "an open name is never dropped");
    }
}

#[test]
fn a_purchase_counts_as_long_as_somebody_has_it() {
    for store in stores("5") {
        let intent = intent("random", "0.01", START).named(false);
        let owner = store.intend(intent, at(START)).unwrap();
        store.persist("random", owner).unwrap();
        let late = DIES + DAY;
        let renewed = store
            .ledger()
            .renew(crate::desk::key("random"), owner, at(late));
        futures_executor::block_on(renewed).unwrap();
        assert_eq!(store.used(at(late)), "0.01");
        assert_eq!(store.used(before(at(late + LEASE))), "0.01");
        assert_eq!(store.used(at(late + LEASE)), "0");
    }
}

#[test]
fn of_a_settled_name_its_key_is_left_and_is_not_bought_again() {
    for store in stores("5") {
        let owner = store.intend_named("one", "0.01").unwrap();
        store.persist("one", owner).unwrap();
        store.note("one", owner, Money::Settled).unwrap();
        store.release("one", owner, true);
        let late = START + DAY;
        assert_eq!(store.used(at(late)), "0");
        let taken = store.take_at("one", at(late)).unwrap();
        assert!(matches!(taken, Taken::Spent(Money::Settled)), "{taken:?}");
        let intent = intent("one", "0.01", late);
        let intended = store.ledger().intend(intent, owner, at(late));
        let intended = futures_executor::block_on(intended).unwrap();
        assert!(matches!(intended, Taken::Spent(Money::Settled)));
        assert_eq!(store.used(at(late)), "0");
    }
}
