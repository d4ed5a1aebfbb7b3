//! The same purchase a second time: by its name, by the same call, and by two callers at once.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

use http::Extensions;
use paywait::{End, PurchaseName, usd};
use reqwest::Response;
use support::reference::ReferenceSeller;

use crate::book::Book;
use crate::buyer::{Buyer, ended};

/// Calls `path` under one name, each time the same.
async fn call(buyer: &Buyer, seller: &ReferenceSeller, path: &str) -> Response {
    let request = buyer.client.get(seller.url(path));
    let named = request.with_extension(PurchaseName::new("order-17"));
    named.send().await.unwrap()
}

#[tokio::test]
async fn a_purchase_that_was_served_is_not_bought_again_under_its_name() {
    let seller = match ReferenceSeller::start().await {
        Ok(seller) => seller,
        Err(left_out) => return left_out.report("a served purchase under its name again"),
    };
    for path in ["/authorization/200", "/upfront/200/identified"] {
        let buyer = Buyer::with_attempts(3);
        let first = call(&buyer, &seller, path).await;
        assert_eq!(ended(&first), (200, End::Served), "{path}");
        // the same bytes are shown, and the reference serves no payment twice
        let again = call(&buyer, &seller, path).await;
        assert_eq!(ended(&again), (402, End::PaidNotDelivered), "{path}");
        let book = Book::of(&seller.ledger().await, path);
        assert_eq!(
            (book.sends, book.nonces, book.settlements),
            (3, 1, 1),
            "{path}"
        );
        assert_eq!(book.runs, 1, "{path}");
        assert_eq!(buyer.held(), usd("0.01").unwrap(), "{path}");
    }
}

#[tokio::test]
async fn a_purchase_that_ended_unknown_is_delivered_under_its_name_later() {
    let seller = match ReferenceSeller::start().await {
        Ok(seller) => seller,
        Err(left_out) => return left_out.report("an unknown purchase under its name again"),
    };
    for status in [429, 500] {
        let path = &format!("/authorization/{status}-then-200/identified");
        let buyer = Buyer::with_attempts(1);
        let first = call(&buyer, &seller, path).await;
        assert_eq!(ended(&first), (status, End::OutcomeUnknown), "{path}");
        let book = Book::of(&seller.ledger().await, path);
        assert_eq!((book.nonces, book.settlements), (1, 0), "{path}");
        assert_eq!(buyer.held(), usd("0.01").unwrap(), "{path}");
        let again = call(&buyer, &seller, path).await;
        assert_eq!(ended(&again), (200, End::Served), "{path}");
        let book = Book::of(&seller.ledger().await, path);
        assert_eq!(
            (book.sends, book.nonces, book.settlements),
            (3, 1, 1),
            "{path}"
        );
        assert_eq!(book.identifiers, 1, "{path}");
        assert_eq!(buyer.held(), usd("0.01").unwrap(), "{path}");
    }
}

#[tokio::test]
async fn a_purchase_that_was_paid_and_not_delivered_is_not_paid_again_under_its_name() {
    let seller = match ReferenceSeller::start().await {
        Ok(seller) => seller,
        Err(left_out) => return left_out.report("an undelivered purchase under its name again"),
    };
    for path in ["/upfront/429-then-200", "/upfront/500-then-200"] {
        let buyer = Buyer::with_attempts(1);
        for _ in 0..3 {
            let reply = call(&buyer, &seller, path).await;
            assert_eq!(ended(&reply).1, End::PaidNotDelivered, "{path}");
        }
        let book = Book::of(&seller.ledger().await, path);
        assert_eq!((book.nonces, book.settlements), (1, 1), "{path}");
        assert_eq!(buyer.held(), usd("0.01").unwrap(), "{path}");
    }
}

#[tokio::test]
async fn a_call_that_a_loop_outside_makes_again_is_resumed_without_a_name() {
    let seller = match ReferenceSeller::start().await {
        Ok(seller) => seller,
        Err(left_out) => return left_out.report("a call that a loop outside makes again"),
    };
    let paths = [
        (
            "/authorization/500-then-200",
            End::OutcomeUnknown,
            End::Served,
        ),
        (
            "/upfront/500-then-200",
            End::PaidNotDelivered,
            End::PaidNotDelivered,
        ),
    ];
    for (path, first, then) in paths {
        let buyer = Buyer::with_attempts(1);
        let mut extensions = Extensions::new();
        for end in [first, then] {
            let request = buyer.client.get(seller.url(path)).build().unwrap();
            let sent = buyer
                .client
                .execute_with_extensions(request, &mut extensions);
            assert_eq!(ended(&sent.await.unwrap()).1, end, "{path}");
        }
        let book = Book::of(&seller.ledger().await, path);
        assert_eq!(
            (book.sends, book.nonces, book.settlements),
            (3, 1, 1),
            "{path}"
        );
    }
}

#[tokio::test]
async fn of_two_callers_of_one_name_at_once_one_is_served_and_one_payment_moves() {
    let seller = match ReferenceSeller::start().await {
        Ok(seller) => seller,
        Err(left_out) => return left_out.report("two callers of one name at once"),
    };
    for path in ["/authorization/200", "/upfront/200"] {
        let buyer = Buyer::with_attempts(3);
        let call = || {
            let request = buyer.client.get(seller.url(path));
            request.with_extension(PurchaseName::new("order-17")).send()
        };
        let (one, other) = tokio::join!(call(), call());
        let served = [&one, &other].into_iter().flatten();
        let served = served.filter(|reply| ended(reply).1 == End::Served).count();
        assert_eq!(served, 1, "{one:?} {other:?}");
        let book = Book::of(&seller.ledger().await, path);
        assert_eq!(
            (book.nonces, book.settlements, book.runs),
            (1, 1, 1),
            "{path}"
        );
    }
}
