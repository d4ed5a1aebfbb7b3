//! What an earlier call left: taken over, waited for, given out again, or ended by hand.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use paywait::{
    Clock, Deadline, End, Ledger, MemoryLedger, Money, Pay, PurchaseName, Resolution, Retry, Wallet,
};
use paywait_seller::{Canned, Identifier, Route, Step};
use reqwest_middleware::ClientWithMiddleware;
use support::buyer::{Buyer, bare, limits, report, status};
use support::clock::FakeClock;
use support::shop::{Stand, terms, upfront};

/// What came of one call.
type Ended = reqwest_middleware::Result<reqwest::Response>;

/// A client that tries once, with a layer that pays as `change` says.
fn client(stand: &Stand, buyer: &Buyer, change: impl Fn(Pay) -> Pay) -> ClientWithMiddleware {
    let clock: Arc<dyn Clock> = Arc::<FakeClock>::clone(&stand.clock);
    let ledger: Arc<dyn Ledger> = Arc::<MemoryLedger>::clone(&buyer.ledger);
    let wallet = Wallet::evm(buyer.signer.clone());
    let pay = Pay::with_ledger(wallet, limits(), ledger).with_clock(Arc::clone(&clock));
    let retry = Retry::default().attempts(NonZeroU32::MIN).with_clock(clock);
    bare()
        .with(retry)
        .with(change(pay))
        .with(buyer.tap.clone())
        .build()
}

async fn buy(client: &ClientWithMiddleware, stand: &Stand) -> Ended {
    client.get(stand.url("/report")).send().await
}

async fn buy_named(client: &ClientWithMiddleware, stand: &Stand) -> Ended {
    let request = client.get(stand.url("/report"));
    request
        .with_extension(PurchaseName::new("order-17"))
        .send()
        .await
}

fn end(ended: &Ended) -> End {
    report(ended).unwrap().end.clone()
}

/// A seller that takes the money and breaks `times` times, and knows its buyers by identifier.
async fn breaks(times: usize) -> Stand {
    let route = Route::new("/report", terms()).identifier(Identifier::Optional);
    Stand::open([route.paid_script(vec![Step::normal().reset(); times])]).await
}

#[tokio::test]
async fn a_repeat_of_what_ended_open_shows_the_same_payment() {
    let stand = breaks(2).await;
    let buyer = Buyer::new(&stand.clock);
    let client = client(&stand, &buyer, |pay| pay);
    assert_eq!(end(&buy(&client, &stand).await), End::OutcomeUnknown);
    assert_eq!(end(&buy(&client, &stand).await), End::OutcomeUnknown);
    let third = buy(&client, &stand).await;
    assert_eq!((status(&third), end(&third)), (Some(200), End::Served));
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
    assert_eq!(buyer.signer.asked(), 1);
    assert!(buyer.tap.shows_one_payment());

    // what was served is done with: the same again is another purchase
    assert_eq!(status(&buy(&client, &stand).await), Some(200));
    assert_eq!((stand.nonces(), stand.settlements()), (2, 2));
}

#[tokio::test]
async fn a_repeat_after_the_payment_died_is_signed_again_with_the_same_nonce() {
    for money_moved in [true, false] {
        let step = match money_moved {
            true => Step::settled(Canned::new(StatusCode::BAD_GATEWAY)).reset(),
            false => Step::unseen().reset(),
        };
        let route = Route::new("/report", terms()).paid_script([step]);
        let stand = Stand::open([route]).await;
        let buyer = Buyer::new(&stand.clock);
        let client = client(&stand, &buyer, |pay| pay);
        assert_eq!(end(&buy(&client, &stand).await), End::OutcomeUnknown);

        stand.clock.advance(Duration::from_secs(700));
        let again = buy(&client, &stand).await;

        assert_eq!(buyer.signer.asked(), 2, "{money_moved}");
        assert_eq!(
            (stand.nonces(), stand.settlements()),
            (1, 1),
            "{money_moved}"
        );
        let right = match money_moved {
            true => End::PaidNotDelivered,
            false => End::Served,
        };
        assert_eq!(end(&again), right, "{again:?}");
        let used = buyer.ledger.used_today(stand.clock.now());
        assert_eq!(used.to_string(), "0.01", "{money_moved}");
    }
}

#[tokio::test]
async fn a_repeat_much_later_or_of_another_request_or_where_it_is_not_wanted_buys() {
    let stand = breaks(1).await;
    let buyer = Buyer::new(&stand.clock);
    let plain = client(&stand, &buyer, |pay| pay);
    assert_eq!(end(&buy(&plain, &stand).await), End::OutcomeUnknown);

    let other = plain.get(stand.url("/report?other")).send().await;
    assert_eq!(status(&other), Some(200));
    assert_eq!(stand.nonces(), 2);
    let anew = client(&stand, &buyer, |pay| pay.takes_over(false));
    assert_eq!(status(&buy(&anew, &stand).await), Some(200));
    assert_eq!(stand.nonces(), 3);
    stand.clock.advance(Duration::from_secs(600 + 3_600 + 1));
    assert_eq!(status(&buy(&plain, &stand).await), Some(200));
    assert_eq!(stand.nonces(), 4);
}

#[tokio::test]
async fn what_another_caller_has_in_hand_is_waited_for_no_longer_than_the_deadline() {
    let late = Step::normal().late(support::clock::GRACE * 20);
    let stand = Stand::open([Route::new("/report", upfront()).paid_script([late])]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = client(&stand, &buyer, |pay| pay);
    let second = async {
        stand.arrived(2).await;
        let request = client.get(stand.url("/report"));
        let request = request.with_extension(PurchaseName::new("order-17"));
        let request = request.with_extension(Deadline::after(Duration::from_millis(100)));
        request.send().await
    };
    let (first, second) = tokio::join!(buy_named(&client, &stand), second);
    assert_eq!(end(&first), End::Served);
    assert_eq!(end(&second), End::InFlight);
    assert!(report(&second).unwrap().sends.is_empty());
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
}

#[tokio::test]
async fn a_paid_response_that_is_kept_is_given_out_again_and_nothing_is_sent() {
    let answer = Canned::json(StatusCode::OK, r#"{"report": 17}"#);
    let stand = Stand::open([Route::new("/report", terms()).handler(answer)]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = client(&stand, &buyer, |pay| pay.keeps_responses(true));
    let first = buy_named(&client, &stand).await.unwrap();
    let sends = stand.sends();

    let second = buy_named(&client, &stand).await.unwrap();

    assert_eq!(stand.sends(), sends);
    assert_eq!(paywait::report(&second).end, End::Served);
    assert_eq!(second.url(), first.url());
    assert_eq!(second.headers(), first.headers());
    assert_eq!(second.text().await.unwrap(), first.text().await.unwrap());
}

#[tokio::test]
async fn what_was_given_up_by_name_is_not_bought_again_under_that_name() {
    let stand = breaks(1).await;
    let buyer = Buyer::new(&stand.clock);
    let client = client(&stand, &buyer, |pay| pay);
    assert_eq!(end(&buy_named(&client, &stand).await), End::OutcomeUnknown);
    let open = buyer.ledger.open_purchases().await.unwrap();
    assert_eq!(open.len(), 1);
    assert_eq!((open[0].money, open[0].signatures()), (Money::Unknown, 1));
    assert_eq!(open[0].stake.price.unwrap().to_string(), "0.01");
    let now = stand.clock.now();
    let resolved = buyer.ledger.resolve(open[0].key, Resolution::GivenUp, now);
    resolved.await.unwrap();

    let sends = stand.sends();
    let again = buy_named(&client, &stand).await;

    assert_eq!((end(&again), stand.sends()), (End::KeySpent, sends));
    assert!(buyer.ledger.open_purchases().await.unwrap().is_empty());
    let used = buyer.ledger.used_today(now);
    assert_eq!(used.to_string(), "0.01", "its hold stays");
}

#[tokio::test]
async fn the_nonce_of_lost_records_is_not_mistaken_for_a_payment_of_this_purchase() {
    let stand = Stand::open([Route::new("/report", terms())]).await;
    let buyer = Buyer::new(&stand.clock);
    assert_eq!(
        status(&buy_named(&client(&stand, &buyer, |pay| pay), &stand).await),
        Some(200)
    );
    let mut forgetful = buyer.clone();
    forgetful.ledger = Arc::default();

    let again = buy_named(&client(&stand, &forgetful, |pay| pay), &stand).await;

    assert_eq!(end(&again), End::KeySpent, "{again:?}");
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
    let used = forgetful.ledger.used_today(stand.clock.now());
    assert_eq!(used.to_string(), "0.01", "it is booked all the same");
}

#[tokio::test]
async fn half_of_what_was_paid_for_is_asked_for_again_and_else_handed_back() {
    let sold = Canned::new(StatusCode::OK).body("the whole of the report");
    for identified in [true, false] {
        let mut route = Route::new("/report", terms()).handler(sold.clone());
        if identified {
            route = route.identifier(Identifier::Optional);
        }
        let stand = Stand::open([route.paid_script([Step::normal().half_body()])]).await;
        let buyer = Buyer::new(&stand.clock);
        let client = buyer.client(&[support::buyer::Ours::Retry, support::buyer::Ours::Pay]);

        let reply = buy(&client, &stand).await.unwrap();

        let told = paywait::report(&reply).end.clone();
        assert_eq!(reply.status(), 200);
        let body = reply.text().await;
        if identified {
            assert_eq!(
                (told, body.unwrap().as_str()),
                (End::Served, "the whole of the report")
            );
        } else {
            assert_eq!(told, End::PaidNotDelivered);
            assert!(body.is_err(), "what came is cut where it was");
        }
        assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
    }
}
