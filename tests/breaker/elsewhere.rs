//! Offers from elsewhere, payments on their way elsewhere, and what errors tell.

use http::header::LOCATION;
use http::{Extensions, HeaderValue, StatusCode};
use paywait::{End, NotPaid};
use paywait_seller::{Canned, Route, Step};
use reqwest::{Request, Response, Url};
use reqwest_middleware::{ClientBuilder, Middleware, Next, Result};
use support::buyer::{Buyer, Ours, bare, report, status};
use support::foreign::outer_loop;
use support::shop::{Stand, terms};

#[tokio::test]
async fn an_offer_at_the_end_of_a_redirect_is_not_paid() {
    let evil = Stand::open([Route::new("/report", terms())]).await;
    let there = HeaderValue::try_from(evil.url("/report")).unwrap();
    let moved = Canned::new(StatusCode::TEMPORARY_REDIRECT).header(LOCATION, there);
    let stand = Stand::open([Route::free("/report").handler(moved)]).await;
    for order in Ours::ORDERS {
        let buyer = Buyer::new(&stand.clock);
        let follows = reqwest::Client::builder().no_proxy().build().unwrap();
        let client = order
            .iter()
            .fold(ClientBuilder::new(follows), |builder, ours| {
                buyer.attach(builder, *ours)
            })
            .build();

        let ended = client.get(stand.url("/report")).send().await;

        assert_eq!(status(&ended), Some(402));
        assert_eq!(buyer.signer.asked(), 0);
    }
}

#[tokio::test]
async fn a_client_that_is_seen_to_follow_redirects_is_not_paid_through() {
    let moved = Canned::new(StatusCode::TEMPORARY_REDIRECT);
    let moved = moved.header(LOCATION, HeaderValue::from_static("/report"));
    let here = Route::free("/here").handler(moved);
    let stand = Stand::open([here, Route::new("/report", terms())]).await;
    for order in Ours::ORDERS {
        let buyer = Buyer::new(&stand.clock);
        let follows = reqwest::Client::builder().no_proxy().build().unwrap();
        let client = order
            .iter()
            .fold(ClientBuilder::new(follows), |builder, ours| {
                buyer.attach(builder, *ours)
            })
            .build();

        let ended = client.get(stand.url("/here")).send().await;

        assert_eq!(status(&ended), Some(402));
        let end = &report(&ended).unwrap().end;
        assert_eq!(end, &End::NotPaid(NotPaid::Redirected), "{order:?}");
        assert_eq!(buyer.signer.asked(), 0, "{order:?}");
    }
}

/// A layer that sends what is paid somewhere else.
struct Divert(Url);

#[async_trait::async_trait]
impl Middleware for Divert {
    async fn handle(
        &self,
        mut request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response> {
        if request.headers().contains_key("payment-signature") {
            *request.url_mut() = self.0.clone();
        }
        next.run(request, extensions).await
    }
}

#[tokio::test]
async fn a_payment_that_a_layer_between_ours_diverts_to_another_origin_does_not_leave() {
    for order in Ours::ORDERS {
        let evil = Stand::open([Route::new("/report", terms())]).await;
        let stand = Stand::open([Route::new("/report", terms())]).await;
        let buyer = Buyer::new(&stand.clock);
        let mut builder = bare();
        for (place, ours) in order.into_iter().enumerate() {
            if place == 1 {
                builder = builder.with(Divert(evil.url("/report").parse().unwrap()));
            }
            builder = buyer.attach(builder, ours);
        }
        let client = builder.with(buyer.tap.clone()).build();

        let ended = client.get(stand.url("/report")).send().await;

        assert_eq!((evil.sends(), stand.paid_sends()), (0, 0), "{order:?}");
        assert!(buyer.tap.payments().is_empty(), "{order:?}");
        let error = ended.unwrap_err();
        assert!(paywait::Error::find(&error).is_some(), "{error:?}");
    }
}

/// Everything that an error says, its causes included.
fn all_words(error: &reqwest_middleware::Error) -> String {
    let ours = paywait::Error::find(error).unwrap();
    let mut words = format!("{error} {error:?} {ours} {ours:?} {:?}", ours.report());
    let mut source = std::error::Error::source(ours);
    while let Some(cause) = source {
        words.push_str(&format!(" {cause} {cause:?}"));
        source = cause.source();
    }
    words
}

async fn nobody_listens() -> Url {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    format!("http://user:hunter2@{address}/report?key=sesame#open")
        .parse()
        .unwrap()
}

#[tokio::test]
async fn an_error_tells_no_secret_of_the_url() {
    let stand = Stand::open([]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client(&[Ours::Retry, Ours::Pay, Ours::Pace]);
    let request = Request::new(http::Method::GET, nobody_listens().await);

    let error = client.execute(request).await.unwrap_err();

    let words = all_words(&error);
    for secret in ["sesame", "hunter2", "open"] {
        assert!(!words.contains(secret), "{words}");
    }
}

#[tokio::test]
async fn an_error_from_inside_another_layer_tells_no_secret_of_the_url() {
    let stand = Stand::open([]).await;
    let buyer = Buyer::new(&stand.clock);
    let builder = buyer.attach(bare(), Ours::Retry);
    let client = buyer.attach(builder, Ours::Pay).with(outer_loop(1)).build();
    let request = Request::new(http::Method::GET, nobody_listens().await);

    let error = client.execute(request).await.unwrap_err();

    let words = all_words(&error);
    for secret in ["sesame", "hunter2"] {
        assert!(!words.contains(secret), "{words}");
    }
}

#[tokio::test]
async fn a_report_of_a_paid_call_tells_no_payment() {
    let failing = vec![Step::normal().reset(); 4];
    let stand = Stand::open([Route::new("/report", terms()).paid_script(failing)]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client(&[Ours::Retry, Ours::Pay, Ours::Pace]);

    let error = client
        .get(stand.url("/report?key=sesame"))
        .send()
        .await
        .unwrap_err();

    let words = all_words(&error);
    let payments = buyer.tap.payments();
    assert!(!payments.is_empty());
    for payment in payments {
        let start = payment.to_str().unwrap().get(..40).unwrap().to_owned();
        assert!(!words.contains(&start), "{words}");
        assert!(!format!("{payment:?}").contains(&start));
    }
    let books = format!("{:?}", buyer.ledger);
    assert!(
        !books.contains("sesame") && !books.contains("eyJ"),
        "{books}"
    );
    assert!(!words.contains("sesame"), "{words}");
}
