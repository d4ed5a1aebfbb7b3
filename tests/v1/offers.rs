//! Where an offer stands, and which of two is taken.

use http::{Extensions, HeaderName, HeaderValue, StatusCode};
use paywait::{End, NotPaid, Reason};
use paywait_seller::{Canned, Route, Step};
use reqwest::{Request, Response};
use reqwest_middleware::{Middleware, Next, Result};
use support::buyer::{Buyer, Ours, bare, report, status};
use support::shop::{Stand, terms};

pub(crate) const V1: HeaderName = HeaderName::from_static("x-payment");
const V2: HeaderName = HeaderName::from_static("payment-signature");
const OFFER: HeaderName = HeaderName::from_static("payment-required");
const ORDER: [Ours; 3] = [Ours::Retry, Ours::Pay, Ours::Pace];

/// Returns a route that is sold in version 1 alone.
pub(crate) fn old() -> Route {
    Route::new("/report", terms().v1("base-sepolia"))
}

#[tokio::test]
async fn of_two_versions_the_one_in_the_header_is_paid() {
    for order in Ours::ORDERS {
        let route = Route::new("/report", terms()).or(terms().v1("base-sepolia"));
        let stand = Stand::open([route]).await;
        let buyer = Buyer::new(&stand.clock);
        let ended = buyer.client(&order).get(stand.url("/report")).send().await;
        assert_eq!(status(&ended), Some(200), "{order:?}");
        assert_eq!(buyer.tap.payment_headers(), [V2]);
        assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
    }
}

/// A layer that does something to the head of each 402.
struct Spoils(fn(&mut http::HeaderMap));

#[async_trait::async_trait]
impl Middleware for Spoils {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response> {
        let mut response = next.run(request, extensions).await?;
        if response.status() == StatusCode::PAYMENT_REQUIRED {
            (self.0)(response.headers_mut());
        }
        Ok(response)
    }
}

#[tokio::test]
async fn a_header_that_cannot_be_read_gives_way_to_the_body() {
    let stand = Stand::open([old()]).await;
    let buyer = Buyer::new(&stand.clock);
    let layers = ORDER
        .iter()
        .fold(bare(), |layers, ours| buyer.attach(layers, *ours));
    let garbage = Spoils(|fields| {
        fields.insert(OFFER, HeaderValue::from_static("!!not base64!!"));
    });
    let client = layers.with(garbage).with(buyer.tap.clone()).build();
    let ended = client.get(stand.url("/report")).send().await;
    assert_eq!(status(&ended), Some(200));
    assert_eq!(buyer.tap.payment_headers(), [V1]);
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
}

#[tokio::test]
async fn an_offer_that_is_too_long_to_read_is_not_paid_and_comes_back_whole() {
    let long = serde_json::json!({"description": "x".repeat(100_000)});
    for path in [[Ours::Pay].as_slice(), &ORDER] {
        let stand = Stand::open([old().decoy(long.clone())]).await;
        let buyer = Buyer::new(&stand.clock);
        let ended = buyer.client(path).get(stand.url("/report")).send().await;
        assert_eq!(
            report(&ended).unwrap().end,
            End::Stopped(Reason::OfferUnreadable)
        );
        let body = ended.unwrap().text().await.unwrap();
        assert!(body.len() > 100_000 && body.contains("base-sepolia"));
        assert_eq!((stand.sends(), buyer.signer.asked()), (1, 0));
    }
}

#[tokio::test]
async fn half_an_offer_is_not_paid() {
    let stand = Stand::open([old().script([Step::normal().half_body()])]).await;
    let buyer = Buyer::new(&stand.clock);
    let ended = buyer.client(&ORDER).get(stand.url("/report")).send().await;
    assert_eq!(
        report(&ended).unwrap().end,
        End::Stopped(Reason::OfferUnreadable)
    );
    assert_eq!((stand.nonces(), buyer.signer.asked()), (0, 0));
}

#[tokio::test]
async fn a_402_that_asks_for_something_else_is_not_paid() {
    for body in [
        r#"{"error":"insufficient credits"}"#,
        r#"{"x402Version":1,"accepts":[]}"#,
        r#"{"x402Version":7,"accepts":[{}]}"#,
        "<html>pay here</html>",
    ] {
        let reply = Canned::json(StatusCode::PAYMENT_REQUIRED, body);
        let stand = Stand::open([old().script(vec![Step::reply(reply); 9])]).await;
        let buyer = Buyer::new(&stand.clock);
        let ended = buyer.client(&ORDER).get(stand.url("/report")).send().await;
        assert_eq!(status(&ended), Some(402), "{body}");
        assert_eq!((stand.sends(), buyer.signer.asked()), (1, 0), "{body}");
        assert_eq!(ended.unwrap().text().await.unwrap(), body);
    }
}

#[tokio::test]
async fn an_entry_on_another_kind_of_chain_does_not_hide_the_one_that_can_be_paid() {
    let other = |network: &str| {
        serde_json::json!({"scheme": "exact", "network": network, "maxAmountRequired": "1",
            "asset": "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", "maxTimeoutSeconds": 60,
            "payTo": "2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4"})
    };
    let route = old().decoy(other("solana")).decoy(other("atlantis"));
    let stand = Stand::open([route]).await;
    let buyer = Buyer::new(&stand.clock);
    let ended = buyer.client(&ORDER).get(stand.url("/report")).send().await;
    assert_eq!(status(&ended), Some(200));
    assert_eq!(stand.settlements(), 1);
}

#[tokio::test]
async fn who_has_no_wallet_says_that_a_price_was_asked_for() {
    let stand = Stand::open([old()]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client(&[Ours::Retry, Ours::Pace]);
    let ended = client.get(stand.url("/report")).send().await;
    let told = report(&ended).unwrap();
    assert_eq!(told.end, End::NotPaid(NotPaid::NoWallet));
    assert_eq!(told.decision().unwrap().reason, Reason::PaymentOffer);
    assert_eq!(stand.sends(), 1);
}
