//! How purchases end: taken over, kept, resolved.

use std::sync::Arc;

use futures_executor::block_on;
use paywait_ledger::{Intent, Kept, LedgerError, Note, Owner, Resolution, Taken};
use paywait_x402::{Money, usd};

use crate::desk::{
    DIES, LEASE, START, Store, VALID_BEFORE, at, before, intent, key, origin, request, stores,
    terms,
};

/// The intent of an unnamed purchase for the request of `path`, with a key of its own.
fn unnamed(own: &str, path: &str, secs: u64) -> Intent {
    let price = usd("0.01").unwrap();
    Intent::new(
        key(own),
        request(path),
        origin(),
        &terms(secs + 120),
        Some(price),
    )
    .takes_over(true)
}

/// An unnamed purchase for the request of `report` that ended so.
fn left(store: &Store, money: Money, delivered: bool) {
    let owner = store
        .intend(unnamed("first", "report", START), at(START))
        .unwrap();
    store.persist("first", owner).unwrap();
    let note = Note::new(money, 1).delivered(delivered);
    block_on(store.ledger().note(key("first"), owner, note, at(START))).unwrap();
    store.release("first", owner, true);
}

/// The key of the purchase that an unnamed intent is shown in place of its own.
fn shown(store: &Store, intent: Intent, secs: u64) -> Option<paywait_x402::PurchaseKey> {
    match block_on(store.ledger().intend(intent, Owner::random(), at(secs))).unwrap() {
        Taken::Standing(standing) => Some(standing.key),
        _ => None,
    }
}

#[test]
fn an_unnamed_purchase_that_ended_open_or_undelivered_is_named_to_its_repeat() {
    for money in [Money::Sent, Money::Refused, Money::Unknown, Money::Settled] {
        for store in stores("5") {
            left(&store, money, false);
            let repeat = shown(&store, unnamed("second", "report", START), START);
            assert_eq!(repeat, Some(key("first")), "{money}");
            // it is nobody's until it is taken under its own key
            let owner = Owner::random();
            let taken = store
                .ledger()
                .take(key("first"), request("report"), owner, at(START));
            assert!(matches!(block_on(taken), Ok(Taken::Standing(_))));
            let other = shown(&store, unnamed("third", "report", START), START);
            assert_eq!(other, None, "it is in hand");
        }
    }
}

#[test]
fn what_was_delivered_is_of_another_request_or_is_long_gone_is_not() {
    let late = VALID_BEFORE + 3_600;
    for store in stores("5") {
        left(&store, Money::Unknown, false);
        let other = unnamed("second", "another report", START);
        assert_eq!(shown(&store, other, START), None);
        let unwanted = unnamed("third", "report", START).takes_over(false);
        assert_eq!(shown(&store, unwanted, START), None);
        let named = unnamed("fourth", "report", START).named(true);
        assert_eq!(shown(&store, named, START), None);
        let last = unnamed("fifth", "report", late - 1);
        assert_eq!(shown(&store, last, late - 1), Some(key("first")));
        let after = unnamed("sixth", "report", late);
        assert_eq!(shown(&store, after, late), None);
    }
    for store in stores("5") {
        left(&store, Money::Settled, true);
        let repeat = unnamed("second", "report", START);
        assert_eq!(shown(&store, repeat, START), None, "it was delivered");
    }
}

#[test]
fn a_response_that_is_kept_is_given_out() {
    for store in stores("5") {
        let owner = store.intend_named("one", "0.01").unwrap();
        store.persist("one", owner).unwrap();
        let kept = Kept::new(200, vec![("a".to_owned(), b"b".to_vec())], b"body".to_vec());
        let note = Note::new(Money::Settled, 1).delivered(true);
        let note = note.kept(Some(Arc::new(kept.clone())));
        block_on(store.ledger().note(key("one"), owner, note, at(START))).unwrap();
        store.release("one", owner, true);
        let taken = store.take("one").unwrap();
        let Taken::Kept(again) = taken else {
            panic!("{taken:?}");
        };
        assert_eq!(*again, kept);
        assert_eq!(store.open(), 0);
    }
}

#[test]
fn what_is_open_is_listed_until_it_is_delivered_or_ended() {
    for store in stores("5") {
        store.signed("one", "0.01");
        store.signed("two", "0.02");
        let open = block_on(store.ledger().open_purchases()).unwrap();
        let mut prices: Vec<_> = open
            .iter()
            .map(|one| one.stake.price.unwrap().to_string())
            .collect();
        prices.sort();
        assert_eq!(prices, ["0.01", "0.02"]);
        assert!(open.iter().all(|one| one.signatures() == 1 && one.named));
        let resolved = store
            .ledger()
            .resolve(key("one"), Resolution::Finished, at(START));
        block_on(resolved).unwrap();
        assert_eq!(store.open(), 1);
    }
}

#[test]
fn each_way_to_end_a_purchase_counts_as_it_says_and_spends_its_key() {
    for (resolution, now, dead) in [
        (Resolution::Finished, "0.01", "0.01"),
        (Resolution::Settled, "0.01", "0.01"),
        (Resolution::Presumed, "0.01", "0.01"),
        (Resolution::GivenUp, "0.01", "0.01"),
        (Resolution::Unused, "0", "0"),
    ] {
        for store in stores("5") {
            store.signed("one", "0.01");
            let resolved = store.ledger().resolve(key("one"), resolution, at(START));
            block_on(resolved).unwrap();
            assert_eq!(store.used(at(START)), now, "{resolution:?}");
            assert_eq!(store.used(at(DIES)), dead, "{resolution:?}");
            let taken = store.take("one").unwrap();
            assert!(
                matches!(taken, Taken::Spent(_)),
                "{resolution:?}: {taken:?}"
            );
        }
    }
}

#[test]
fn what_a_call_has_in_hand_is_not_ended_and_what_is_not_there_cannot_be() {
    for store in stores("5") {
        store.signed("one", "0.01");
        store.stands("one", at(START));
        let end = |name: &str, now| {
            let resolved = store.ledger().resolve(key(name), Resolution::GivenUp, now);
            block_on(resolved)
        };
        let lapses = at(START + LEASE);
        assert_eq!(end("one", before(lapses)), Err(LedgerError::InHand));
        assert_eq!(end("two", lapses), Err(LedgerError::Lost));
        assert_eq!(end("one", lapses), Ok(()));
        let intent = intent("one", "0.01", START);
        let intended = block_on(store.ledger().intend(intent, Owner::random(), lapses));
        assert!(matches!(intended, Ok(Taken::Spent(_))));
    }
}
