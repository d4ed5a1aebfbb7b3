//! What is held, and when it is let go.

use paywait_ledger::{LedgerError, Owner};
use paywait_x402::Money;

use crate::desk::{DIES, START, at, come_back, intent, is_over, key, stores};

#[test]
fn a_hold_is_let_go_only_if_the_signer_was_not_asked() {
    for (asked, written, held) in [
        (false, false, "0"),
        (true, false, "0.01"),
        (true, true, "0.01"),
        (false, true, "0.01"),
    ] {
        for store in stores("5") {
            let owner = store.intend_named("one", "0.01").unwrap();
            if written {
                store.persist("one", owner).unwrap();
            }
            store.release("one", owner, asked);
            let used = store.used(at(START));
            assert_eq!(used, held, "asked: {asked}, written: {written}");
        }
    }
}

#[test]
fn a_later_caller_who_asked_no_signer_does_not_let_go_of_an_earlier_one_s_hold() {
    for store in stores("5") {
        let first = store.intend_named("one", "0.01").unwrap();
        store.release("one", first, true);
        let second = store.intend_named("one", "0.01").unwrap();
        store.release("one", second, false);
        assert_eq!(store.used(at(START)), "0.01");
    }
}

#[test]
fn an_owner_that_died_may_have_asked_the_signer() {
    for store in stores("5") {
        store.intend_named("one", "0.01").unwrap();
        let later = START + crate::desk::LEASE;
        let next = store
            .intend(intent("one", "0.01", START), at(later))
            .unwrap();
        store.release("one", next, false);
        assert_eq!(store.used(at(later)), "0.01");
    }
}

#[test]
fn a_caller_that_was_dropped_before_it_heard_gives_back_what_it_got() {
    for store in stores("5") {
        let owner = Owner::random();
        let intended = store
            .ledger()
            .intend(intent("one", "0.01", START), owner, at(START));
        drop(intended);
        store.release("one", owner, false);
        assert_eq!(store.used(at(START)), "0");
        store.signed("two", "0.01");
        drop(
            store
                .ledger()
                .take(key("two"), crate::desk::request("two"), owner, at(START)),
        );
        store.release("two", owner, false);
        store.stands("two", at(START));
    }
}

#[test]
fn a_hold_is_raised_and_never_lowered() {
    for (first, second, held) in [("0.05", "0.01", "0.05"), ("0.01", "0.05", "0.05")] {
        for store in stores("5") {
            let owner = store.intend_named("one", first).unwrap();
            store.release("one", owner, true);
            store.intend_named("one", second).unwrap();
            assert_eq!(store.used(at(START)), held);
        }
    }
}

#[test]
fn a_hold_that_is_taken_up_is_not_counted_twice() {
    for store in stores("0.05") {
        let owner = store.intend_named("one", "0.03").unwrap();
        store.release("one", owner, true);
        assert!(store.intend_named("one", "0.04").is_ok());
        assert_eq!(store.used(at(START)), "0.04");
    }
}

#[test]
fn a_hold_that_counts_no_more_makes_no_room_for_its_purchase() {
    for store in stores("0.10") {
        let owner = store.intend_named("one", "0.05").unwrap();
        store.release("one", owner, true);
        let now = at(DIES);
        store.intend(intent("two", "0.08", DIES), now).unwrap();
        assert!(is_over(&store.intend(intent("one", "0.05", DIES), now)));
    }
}

#[test]
fn the_time_to_come_back_does_not_wait_for_the_purchase_s_own_hold() {
    for store in stores("0.10") {
        // the hold of the purchase itself ends first, and makes no room for it
        let own = store.intend_named("own", "0.05").unwrap();
        store.release("own", own, true);
        store
            .intend(intent("other", "0.05", START + 60), at(START))
            .unwrap();
        let over = store.intend_named("own", "0.08");
        assert_eq!(come_back(&over), Some(at(DIES + 60)));
    }
}

#[test]
fn what_nobody_intended_cannot_be_written() {
    for store in stores("5") {
        let owner = Owner::random();
        assert_eq!(store.persist("one", owner).unwrap_err(), LedgerError::Lost);
        let noted = store.note("one", owner, Money::Settled);
        assert_eq!(noted, Err(LedgerError::Lost));
        store.release("one", owner, false);
        assert_eq!(store.used(at(START)), "0");
    }
}
