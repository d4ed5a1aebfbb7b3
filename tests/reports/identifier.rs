//! Reports of the area *identifier*.

use std::collections::BTreeSet;
use std::time::Duration;

use http::StatusCode;
use paywait::{Clock, End, NotPaid, PurchaseName};
use paywait_seller::{Canned, Identifier, Route, Step};
use reqwest_middleware::ClientWithMiddleware;
use support::buyer::{Buyer, Ours, report, status};
use support::foreign::outer_loop;
use support::shop::{Stand, terms, upfront};

/// The reports that do not apply, and why.
pub(crate) const NOT_OURS: &[(&str, &str)] = &[];

/// What came of one call.
type Ended = reqwest_middleware::Result<reqwest::Response>;

async fn named(client: &ClientWithMiddleware, url: String, body: &'static str) -> Ended {
    let request = client.post(url).body(body);
    request
        .with_extension(PurchaseName::new("call-1"))
        .send()
        .await
}

/// The identifiers that a seller saw.
fn identifiers(stand: &Stand) -> BTreeSet<String> {
    let ledger = stand.seller.ledger();
    let paid = ledger.paid_requests();
    paid.filter_map(|request| request.payment_id.clone())
        .collect()
}

/// <https://github.com/bitrouter/x402-kit/issues/14>
#[tokio::test]
async fn pw002_a_generic_retry_layer_above_makes_no_second_nonce_of_a_lost_answer() {
    for step in [
        Step::normal().reset(),
        Step::settled(Canned::new(StatusCode::BAD_GATEWAY)),
    ] {
        let stand = Stand::open([Route::new("/it", upfront()).paid_script([step])]).await;
        let buyer = Buyer::new(&stand.clock);
        let client = buyer.client_inside(outer_loop(1), &Ours::ORDERS[0]);
        client.get(stand.url("/it")).send().await.ok();
        assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
    }
}

/// <https://github.com/unbrowse-ai/unbrowse/issues/139>
#[tokio::test]
async fn pw004_a_second_call_of_one_id_shows_the_authorization_of_the_first() {
    let lost = vec![Step::unseen().reset(); 4];
    let stand = Stand::open([Route::new("/it", terms()).paid_script(lost)]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client(&Ours::ORDERS[0]);
    let first = named(&client, stand.url("/it"), "body").await;
    assert_eq!(report(&first).unwrap().end, End::OutcomeUnknown);
    let second = named(&client, stand.url("/it"), "body").await;
    assert_eq!(status(&second), Some(200));
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
    assert!(buyer.tap.shows_one_payment());
}

/// <https://github.com/aibtcdev/skills/issues/420>
#[tokio::test]
async fn pw005_the_identifier_is_the_same_on_each_paid_send() {
    let bad = Step::settled(Canned::new(StatusCode::BAD_GATEWAY));
    let route = Route::new("/it", terms()).identifier(Identifier::Required);
    let stand = Stand::open([route.paid_script([bad.clone(), bad])]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client(&Ours::ORDERS[0]);
    client.get(stand.url("/it")).send().await.unwrap();
    assert!(stand.paid_sends() > 1);
    assert_eq!(identifiers(&stand).len(), 1);
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
}

/// <https://github.com/x402-foundation/x402/pull/1332>
#[tokio::test]
async fn pw007_what_is_shown_again_is_the_same_to_the_byte_and_is_answered_from_the_store() {
    let route = Route::new("/it", terms()).identifier(Identifier::Optional);
    let stand = Stand::open([route.paid_script([Step::normal().reset()])]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client(&Ours::ORDERS[0]);
    let ended = client.get(stand.url("/it")).send().await;
    assert_eq!(status(&ended), Some(200));
    assert!(buyer.tap.shows_one_payment());
    let replayed = |stand: &Stand| {
        let ledger = stand.seller.ledger();
        ledger.requests().iter().any(|request| request.replayed)
    };
    assert!(replayed(&stand));
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
}

/// <https://github.com/x402-foundation/x402/pull/1332>
#[tokio::test]
async fn pw007_a_conflict_stops_and_no_fresh_identifier_is_made() {
    let conflict = Step::reply(Canned::new(StatusCode::CONFLICT));
    let route = Route::new("/it", terms()).identifier(Identifier::Optional);
    let stand = Stand::open([route.paid_script(vec![conflict; 9])]).await;
    let buyer = Buyer::new(&stand.clock);
    let ended = buyer.client(&Ours::ORDERS[0]).get(stand.url("/it"));
    let ended = ended.send().await;
    assert_eq!(status(&ended), Some(409));
    assert_eq!(stand.paid_sends(), 1);
    assert_eq!((identifiers(&stand).len(), stand.nonces()), (1, 1));
}

/// <https://github.com/x402-foundation/x402/pull/2307>
#[tokio::test]
async fn pw008_an_id_is_refused_for_another_body_and_another_route() {
    let routes = ["/a", "/b"].map(|path| Route::new(path, terms()));
    let stand = Stand::open(routes).await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client(&Ours::ORDERS[0]);
    let first = named(&client, stand.url("/a"), "one").await;
    assert_eq!(status(&first), Some(200));
    for (path, body) in [("/a", "two"), ("/b", "one")] {
        let other = named(&client, stand.url(path), body).await;
        let end = &report(&other).unwrap().end;
        assert_eq!(end, &End::NotPaid(NotPaid::OtherRequest), "{path} {body}");
    }
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
}

/// <https://github.com/x402-foundation/x402/issues/808>
#[tokio::test]
async fn pw009_a_user_s_own_retry_after_a_timeout_is_charged_once_without_any_key() {
    let late = Step::normal().late(Duration::from_millis(400));
    let stand = Stand::open([Route::new("/it", terms()).paid_script([late])]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client(&Ours::ORDERS[0]);
    let ask = || client.post(stand.url("/it")).body("one action").send();
    let cut = tokio::time::timeout(Duration::from_millis(100), ask()).await;
    assert!(cut.is_err(), "the caller gave up");
    tokio::time::sleep(Duration::from_millis(500)).await;
    let again = ask().await;
    assert!(status(&again).is_some(), "{again:?}");
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
}

/// <https://github.com/x402-foundation/x402/issues/872>
#[tokio::test]
async fn pw011_two_calls_that_are_served_are_two_purchases_and_one_that_is_retried_is_one() {
    let stand = Stand::open([Route::new("/it", terms())]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client(&Ours::ORDERS[0]);
    for purchases in [1, 2] {
        let ended = client.get(stand.url("/it")).send().await;
        assert_eq!(status(&ended), Some(200));
        assert_eq!(
            (stand.nonces(), stand.settlements()),
            (purchases, purchases)
        );
    }
    named(&client, stand.url("/it"), "body").await.unwrap();
    named(&client, stand.url("/it"), "body").await.unwrap();
    assert_eq!((stand.nonces(), stand.settlements()), (3, 3));
}

/// <https://github.com/x402-foundation/x402/issues/803>
#[tokio::test]
async fn pw012_a_payment_is_never_shown_for_another_call_and_one_that_was_used_is_paid() {
    let stand = Stand::open([Route::new("/it", terms()), Route::new("/other", terms())]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client(&Ours::ORDERS[0]);
    for path in ["/it", "/other", "/it"] {
        client.get(stand.url(path)).send().await.unwrap();
    }
    assert_eq!((stand.nonces(), stand.settlements()), (3, 3));
    let paid: Vec<_> = {
        let ledger = stand.seller.ledger();
        let paid = ledger.paid_requests();
        paid.map(|request| (request.path.clone(), request.nonce))
            .collect()
    };
    assert_eq!(paid.len(), 3, "{paid:?}");

    named(&client, stand.url("/it"), "body").await.unwrap();
    let again = named(&client, stand.url("/it"), "body").await.unwrap();
    assert_eq!(paywait::report(&again).end, End::PaidNotDelivered);
    let used = buyer.ledger.used_today(stand.clock.now());
    assert_eq!(used.to_string(), "0.04", "four purchases, each booked once");
}
