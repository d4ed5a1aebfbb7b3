//! The signatures of one purchase: all are kept, and few are allowed.

use futures_executor::block_on;
use paywait_ledger::{LedgerError, Owner, Taken};
use paywait_x402::{Money, SignedPayment};

use crate::desk::{
    DAY, DIES, OTHER, PAYMENT, START, Store, VALID_BEFORE, at, before, intent, key, stores,
};

fn intend_again(store: &Store, owner: Owner, known: usize, price: &str, now: u64) -> Taken {
    let intent = intent("one", price, now).known(known);
    block_on(store.ledger().intend(intent, owner, at(now))).unwrap()
}

fn persist_other(store: &Store, owner: Owner) -> Result<SignedPayment, LedgerError> {
    let written = store
        .ledger()
        .persist(key("one"), owner, OTHER.clone(), at(START));
    block_on(written)
}

/// A purchase that was signed once and refused, in the hands of its owner.
fn refused(store: &Store) -> Owner {
    let owner = store.intend_named("one", "0.01").unwrap();
    store.persist("one", owner).unwrap();
    store.note("one", owner, Money::Refused).unwrap();
    owner
}

#[test]
fn the_bytes_that_were_written_first_stand_where_no_others_were_intended() {
    for store in stores("5") {
        let owner = store.intend_named("one", "0.01").unwrap();
        store.persist("one", owner).unwrap();
        let second = persist_other(&store, owner).unwrap();
        assert_eq!(second.valid_before(), PAYMENT.valid_before());
        store.release("one", owner, true);
        let (_, standing) = store.stands("one", at(START));
        assert_eq!(standing.payments.len(), 1);
        assert_eq!(standing.payments[0].seal(), PAYMENT.seal());
    }
}

#[test]
fn a_second_signature_raises_the_hold_first_and_both_are_kept() {
    for store in stores("5") {
        let owner = refused(&store);
        let intended = intend_again(&store, owner, 1, "0.03", START + 60);
        assert!(matches!(intended, Taken::Intended), "{intended:?}");
        assert_eq!(store.used(at(START)), "0.03");
        persist_other(&store, owner).unwrap();
        store.release("one", owner, true);
        let (_, standing) = store.stands("one", at(START));
        let sealed: Vec<_> = standing.payments.iter().map(SignedPayment::seal).collect();
        assert_eq!(sealed, [PAYMENT.seal(), OTHER.seal()]);
        assert_eq!(
            standing.money,
            Money::Signed,
            "nobody has refused these bytes"
        );
        assert_eq!(standing.shown, 0);
        let dies = at(DIES + 60 + DAY);
        assert_eq!(store.used(before(dies)), "0.03");
        assert_eq!(store.used(dies), "0");
    }
}

#[test]
fn there_is_no_third_signature() {
    for store in stores("5") {
        let owner = refused(&store);
        intend_again(&store, owner, 1, "0.01", START);
        persist_other(&store, owner).unwrap();
        store.note("one", owner, Money::Refused).unwrap();
        let third = intend_again(&store, owner, 2, "0.01", START);
        assert!(matches!(third, Taken::Standing(_)), "{third:?}");
    }
}

#[test]
fn an_intent_that_knows_of_less_is_handed_what_stands() {
    for store in stores("5") {
        let owner = refused(&store);
        let taken = intend_again(&store, owner, 0, "0.01", START);
        assert!(matches!(taken, Taken::Standing(_)), "{taken:?}");
        assert_eq!(store.used(at(START)), "0.01");
    }
}

#[test]
fn nothing_is_signed_beside_what_is_open_and_alive() {
    for money in [Money::Sent, Money::Pending, Money::Unknown, Money::Settled] {
        for store in stores("5") {
            let owner = store.intend_named("one", "0.01").unwrap();
            store.persist("one", owner).unwrap();
            store.note("one", owner, money).unwrap();
            let alive = intend_again(&store, owner, 1, "0.01", VALID_BEFORE - 1);
            assert!(matches!(alive, Taken::Standing(_)), "{money}: {alive:?}");
            let dead = intend_again(&store, owner, 1, "0.01", VALID_BEFORE);
            let intended = matches!(dead, Taken::Intended);
            assert_eq!(intended, money != Money::Settled, "{money}: {dead:?}");
        }
    }
}

#[test]
fn a_raise_that_does_not_fit_leaves_what_was_held() {
    for store in stores("0.05") {
        let owner = refused(&store);
        let intent = intent("one", "0.06", START).known(1);
        let over = block_on(store.ledger().intend(intent, owner, at(START)));
        assert!(matches!(over, Err(LedgerError::OverLimit(_))));
        assert_eq!(store.used(at(START)), "0.01");
    }
}
