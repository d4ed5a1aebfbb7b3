//! Answers to a paid send that say too little, too much, or two things at once.

use http::header::LOCATION;
use http::{Extensions, HeaderName, HeaderValue, StatusCode};
use paywait::{End, Money, PurchaseName};
use paywait_seller::{Canned, Route, Step};
use reqwest::{Request, Response};
use reqwest_middleware::{Middleware, Next, Result};
use support::buyer::{Buyer, Ours, bare, report, status};
use support::shop::{Stand, terms, upfront};

const ORDER: [Ours; 3] = [Ours::Retry, Ours::Pay, Ours::Pace];
const RECEIPT: HeaderName = HeaderName::from_static("payment-response");

/// What is known of the money, and how the call ended, after one paid send was answered so.
async fn after(step: Step) -> (Option<u16>, Money, End) {
    let steps = vec![step; 9];
    let stand = Stand::open([Route::new("/report", upfront()).paid_script(steps)]).await;
    let buyer = Buyer::new(&stand.clock);
    let ended = buyer.client(&ORDER).get(stand.url("/report")).send().await;
    assert_eq!((stand.nonces(), buyer.signer.asked()), (1, 1));
    let report = report(&ended).unwrap();
    let money = report.paid.as_ref().unwrap().money;
    (status(&ended), money, report.end.clone())
}

fn garbage(status: StatusCode) -> Canned {
    Canned::new(status).header(RECEIPT, HeaderValue::from_static("!!"))
}

#[tokio::test]
async fn what_is_served_counts_as_paid_whatever_its_receipt_says() {
    let no = HeaderValue::from_static(
        // {"success":false,"errorReason":"insufficient_funds","transaction":"","network":""}
        "eyJzdWNjZXNzIjpmYWxzZSwiZXJyb3JSZWFzb24iOiJpbnN1ZmZpY2llbnRfZnVuZHMiLCJ0cmFuc2FjdGlvbiI6IiIsIm5ldHdvcmsiOiIifQ==",
    );
    for step in [
        Step::settled_silently(garbage(StatusCode::OK)),
        Step::settled_silently(Canned::new(StatusCode::OK).header(RECEIPT, no)),
        Step::settled_silently(Canned::new(StatusCode::NO_CONTENT)),
    ] {
        let (status, money, end) = after(step).await;
        assert!(status.is_some_and(|status| status < 300));
        assert_eq!((money, end), (Money::Settled, End::Served));
    }
}

#[tokio::test]
async fn a_receipt_on_a_redirect_is_a_receipt() {
    let there = HeaderValue::from_static("https://seller.example/");
    let moved = Canned::new(StatusCode::SEE_OTHER).header(LOCATION, there);
    let (status, money, end) = after(Step::settled(moved)).await;
    assert_eq!(status, Some(303));
    assert_eq!((money, end), (Money::Settled, End::PaidNotDelivered));
}

#[tokio::test]
async fn a_refusal_whose_receipt_cannot_be_read_leaves_the_money_unknown() {
    for code in [402, 409, 429, 500] {
        let code = StatusCode::from_u16(code).unwrap();
        let (_, money, end) = after(Step::settled_silently(garbage(code))).await;
        assert_eq!(
            (money, end),
            (Money::Unknown, End::OutcomeUnknown),
            "{code}"
        );
    }
}

#[tokio::test]
async fn the_body_of_a_refusal_comes_back_whole_however_large() {
    let large = vec![b'x'; 700_000];
    for unpaid in [true, false] {
        let reply = Canned::new(StatusCode::FORBIDDEN).body(large.clone());
        let route = Route::new("/report", terms());
        let route = if unpaid {
            route.script([Step::reply(reply)])
        } else {
            route.paid_script([Step::verified(reply)])
        };
        let stand = Stand::open([route]).await;
        let buyer = Buyer::new(&stand.clock);
        let ended = buyer
            .client(&[Ours::Pay])
            .get(stand.url("/report"))
            .send()
            .await;
        assert_eq!(status(&ended), Some(403));
        assert_eq!(ended.unwrap().bytes().await.unwrap(), large);
    }
}

/// A layer that answers 200 by itself where it meets an error.
struct Swallow;

#[async_trait::async_trait]
impl Middleware for Swallow {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response> {
        let ended = next.run(request, extensions).await;
        Ok(ended.unwrap_or_else(|_| Response::from(http::Response::new("stale"))))
    }
}

#[tokio::test]
async fn a_purchase_that_a_layer_swallows_on_its_way_to_the_driver_is_free_afterwards() {
    let lost = Step::settled(Canned::new(StatusCode::UNAUTHORIZED));
    let stand = Stand::open([Route::new("/report", upfront()).paid_script([lost])]).await;
    let buyer = Buyer::new(&stand.clock);
    let plain = buyer.client(&ORDER);
    let swallows = buyer.attach(bare(), Ours::Retry).with(Swallow);
    let swallows = buyer.attach(swallows, Ours::Pay).build();
    let url = stand.url("/report");
    let name = || PurchaseName::new("order-17");

    drop(plain.get(&url).with_extension(name()).send().await);
    let stale = swallows.get(&url).with_extension(name()).send().await;
    assert_eq!(stale.unwrap().text().await.unwrap(), "stale");
    let ended = plain.get(&url).with_extension(name()).send().await;

    assert_eq!(status(&ended), Some(200), "{ended:?}");
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
}

/// A layer that keeps a copy of the extensions of the first request, and gives it to all others.
#[derive(Default)]
struct Stash(std::sync::Mutex<Option<Extensions>>);

#[async_trait::async_trait]
impl Middleware for Stash {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response> {
        let mut kept = {
            let mut kept = self.0.lock().unwrap();
            kept.get_or_insert_with(|| extensions.clone()).clone()
        };
        next.run(request, &mut kept).await
    }
}

#[tokio::test]
async fn a_call_that_is_over_is_not_joined_by_the_next_one() {
    let stand = Stand::open([Route::new("/report", terms())]).await;
    for order in Ours::ORDERS {
        let buyer = Buyer::new(&stand.clock);
        let [first, second, third] = order;
        let builder = buyer.attach(bare(), first).with(Stash::default());
        let client = buyer.attach(buyer.attach(builder, second), third).build();
        for _ in 0..2 {
            let ended = client.get(stand.url("/report")).send().await;
            assert_eq!(status(&ended), Some(200), "{order:?}");
        }
        assert_eq!(buyer.signer.asked(), 2, "{order:?}");
    }
    assert_eq!(stand.settlements(), 12);
}
