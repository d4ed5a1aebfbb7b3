//! How a call ends is found again through whatever was wrapped around it, and is final to a loop.

use std::error::Error as StdError;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use async_openai::error::OpenAIError;
use http::StatusCode;
use paywait::{
    Clock, Deadline, End, Ledger, Namespace, NotPaid, PurchaseName, Resolution, Retry, Scope,
};
use paywait_seller::{Canned, Limiter, Route, Step};
use reqwest::Response;
use reqwest_middleware::Error;
use reqwest_retry::{DefaultRetryableStrategy, Retryable, RetryableStrategy};
use support::buyer::{Buyer, Ours, bare, report, status};
use support::clock::FakeClock;
use support::foreign::outer_loop;
use support::shop::{Stand, slow_down, upfront};

use crate::sales::Kind;

type Ended = reqwest_middleware::Result<Response>;

const ALL: [Ours; 3] = [Ours::Retry, Ours::Pay, Ours::Pace];

async fn stand(route: Route) -> (Stand, Buyer) {
    let stand = Stand::open([route]).await;
    let buyer = Buyer::new(&stand.clock);
    (stand, buyer)
}

fn sold(steps: Vec<Step>) -> Route {
    Route::new("/report", upfront()).paid_script(steps)
}

async fn buy(stand: &Stand, buyer: &Buyer) -> Ended {
    let request = buyer.client(&ALL).get(stand.url("/report"));
    let request = request.with_extension(PurchaseName::new("order-17"));
    request.send().await
}

/// Nobody listens there.
async fn unanswered() -> Ended {
    let (_, buyer) = stand(sold(Vec::new())).await;
    let client = buyer.client(&ALL);
    client.get("http://127.0.0.1:1/report").send().await
}

/// The seller takes the money and breaks the connection.
async fn outcome_unknown() -> Ended {
    let (stand, buyer) = stand(sold(vec![Step::normal().reset(); 9])).await;
    buy(&stand, &buyer).await
}

/// The same name again, and the payment was shown as often as it may be.
async fn paid_not_delivered() -> Ended {
    let error = Canned::new(StatusCode::INTERNAL_SERVER_ERROR);
    let (stand, buyer) = stand(sold(vec![Step::settled(error); 99])).await;
    for _ in 0..3 {
        assert_eq!(status(&buy(&stand, &buyer).await), Some(500));
    }
    buy(&stand, &buyer).await
}

/// The name of another request.
async fn not_paid() -> Ended {
    let (stand, buyer) = stand(sold(Vec::new())).await;
    assert_eq!(status(&buy(&stand, &buyer).await), Some(200));
    let request = buyer.client(&ALL).get(stand.url("/report?other"));
    let request = request.with_extension(PurchaseName::new("order-17"));
    request.send().await
}

/// Another call of this name is under way.
async fn in_flight() -> Ended {
    let late = Step::normal().late(support::clock::GRACE * 20);
    let (stand, buyer) = stand(sold(vec![late])).await;
    let second = async {
        stand.arrived(2).await;
        let request = buyer.client(&ALL).get(stand.url("/report"));
        let request = request.with_extension(PurchaseName::new("order-17"));
        let deadline = Deadline::after(Duration::from_millis(100));
        request.with_extension(deadline).send().await
    };
    let (first, second) = tokio::join!(buy(&stand, &buyer), second);
    assert_eq!(status(&first), Some(200));
    second
}

/// A person gave the purchase up.
async fn key_spent() -> Ended {
    let (stand, buyer) = stand(sold(vec![Step::normal().reset(); 9])).await;
    buy(&stand, &buyer).await.unwrap_err();
    let open = buyer.ledger.open_purchases().await.unwrap();
    let now = stand.clock.now();
    let given_up = buyer.ledger.resolve(open[0].key, Resolution::GivenUp, now);
    given_up.await.unwrap();
    buy(&stand, &buyer).await
}

/// The quota is used up for longer than the caller can wait.
async fn deferred() -> Ended {
    let limiter = Limiter::new(1, Duration::from_secs(30)).fields(true);
    let (stand, buyer) = stand(Route::free("/report").limiter(limiter)).await;
    let client = buyer.client(&ALL);
    client.get(stand.url("/report")).send().await.unwrap();
    let request = client.get(stand.url("/report"));
    let deadline = Deadline::after(Duration::from_secs(1));
    request.with_extension(deadline).send().await
}

/// All ends that come as errors.
async fn errors() -> Vec<(Kind, Error)> {
    let all = [
        (Kind::Refused, unanswered().await),
        (Kind::Unknown, outcome_unknown().await),
        (Kind::Paid, paid_not_delivered().await),
        (Kind::NotPaid, not_paid().await),
        (Kind::InFlight, in_flight().await),
        (Kind::Spent, key_spent().await),
        (Kind::Refused, deferred().await),
    ];
    all.map(|(kind, ended)| (kind, ended.unwrap_err())).into()
}

fn found(error: &(dyn StdError + 'static)) -> Option<Kind> {
    paywait::Error::find(error).map(|error| Kind::of(error.end()))
}

#[tokio::test]
async fn each_end_without_an_answer_is_final_to_reqwest_retry() {
    for (kind, error) in errors().await {
        let ended = Err(error);
        let judged = DefaultRetryableStrategy.handle(&ended);
        assert!(matches!(judged, Some(Retryable::Fatal)), "{kind:?}");
    }
}

#[tokio::test]
async fn each_end_without_an_answer_is_found_through_all_that_is_wrapped_around_it() {
    for (kind, error) in errors().await {
        assert_eq!(found(&error), Some(kind), "as it comes");
        let error = Error::Middleware(anyhow::Error::new(error));
        assert_eq!(found(&error), Some(kind), "in another layer's error");
        let error = anyhow::Error::new(error).context("at the desk");
        let error = Error::Middleware(error.context("in the morning"));
        assert_eq!(found(&error), Some(kind), "in contexts of anyhow");
        let error = OpenAIError::Boxed(Box::new(error));
        assert_eq!(found(&error), Some(kind), "in the error of async-openai");
        let error = std::io::Error::other(error);
        assert_eq!(found(&error), Some(kind), "in an I/O error");
        let error = anyhow::Error::new(error).context("at last");
        assert_eq!(found(error.as_ref()), Some(kind), "in a program's error");
        let error: Box<dyn StdError + Send + Sync> = error.into();
        assert_eq!(found(error.as_ref()), Some(kind), "in a box");
    }
}

#[tokio::test]
async fn each_wrapper_alone_leaves_the_end_to_be_found() {
    let wrappers: [fn(Error) -> Box<dyn StdError>; 5] = [
        |error| Box::new(OpenAIError::Boxed(Box::new(error))),
        |error| Box::new(std::io::Error::other(error)),
        |error| anyhow::Error::new(error).into(),
        |error| anyhow::Error::new(error).context("at the desk").into(),
        |error| Box::new(Error::Middleware(anyhow::Error::new(error))),
    ];
    for (nth, wrap) in wrappers.into_iter().enumerate() {
        for (kind, error) in errors().await {
            assert_eq!(found(wrap(error).as_ref()), Some(kind), "wrapper {nth}");
        }
    }
}

#[tokio::test]
async fn a_loop_of_reqwest_retry_hands_the_end_on() {
    for retries in [0, 3] {
        let (stand, buyer) = stand(sold(vec![Step::normal().reset(); 99])).await;
        let client = buyer.client_inside(outer_loop(retries), &ALL);
        let error = client.get(stand.url("/report")).send().await.unwrap_err();
        assert_eq!(found(&error), Some(Kind::Unknown), "{retries}");
        assert_eq!(stand.paid_sends(), 4, "one turn: the end was final");
    }
}

/// What the end of a call is that has an answer, and what it answered.
async fn told(route: Route, ours: &[Ours]) -> (u16, End) {
    let (stand, buyer) = stand(route).await;
    let ended = buyer.client(ours).get(stand.url("/report")).send().await;
    let end = match report(&ended) {
        Some(report) => report.end.clone(),
        None => paywait::report(ended.as_ref().unwrap()).end.clone(),
    };
    (status(&ended).unwrap(), end)
}

fn free(steps: Vec<Step>) -> Route {
    Route::free("/report").script(steps)
}

#[tokio::test]
async fn each_end_with_an_answer_stands_in_the_report_beside_it() {
    let reply = |status| Step::reply(Canned::new(status));
    let far = Step::reply(Canned::new(StatusCode::TOO_MANY_REQUESTS).retry_after(100_000));
    let error = Canned::new(StatusCode::INTERNAL_SERVER_ERROR);
    let cases = [
        (free(Vec::new()), 200, Kind::Served),
        (free(vec![reply(StatusCode::NOT_FOUND)]), 404, Kind::Refused),
        (
            free(vec![reply(StatusCode::SERVICE_UNAVAILABLE); 9]),
            503,
            Kind::Refused,
        ),
        (free(vec![far]), 429, Kind::Refused),
        (sold(vec![Step::settled(error.clone()); 9]), 500, Kind::Paid),
        (
            sold(vec![Step::settled_silently(error); 9]),
            500,
            Kind::Unknown,
        ),
        (sold(vec![Step::settled(slow_down()); 9]), 429, Kind::Paid),
    ];
    for (route, answered, kind) in cases {
        let (status, end) = told(route, &ALL).await;
        assert_eq!((status, Kind::of(&end)), (answered, kind), "{end}");
    }
    let (status, end) = told(sold(Vec::new()), &[Ours::Retry, Ours::Pace]).await;
    assert_eq!((status, end), (402, End::NotPaid(NotPaid::NoWallet)));
    let (status, end) = told(free(Vec::new()), &[]).await;
    assert_eq!((status, end), (200, End::Unseen));
}

/// What is served to a loop is the report of its last turn.
#[tokio::test]
async fn an_outer_loop_is_told_the_same_end_in_each_turn() {
    let error = Canned::new(StatusCode::INTERNAL_SERVER_ERROR);
    let (stand, buyer) = stand(sold(vec![Step::settled(error); 99])).await;
    let once = Retry::default().attempts(NonZeroU32::MIN);
    let clock: Arc<dyn Clock> = Arc::<FakeClock>::clone(&stand.clock);
    let layers = bare().with(once.with_clock(clock));
    let client = buyer.attach(layers, Ours::Pay).build();
    for turn in 0..20 {
        let call = client.get(stand.url("/report")).send();
        let ended = Scope::new().with(Namespace::new("task-4")).run(call).await;
        assert_eq!(report(&ended).unwrap().end, End::PaidNotDelivered, "{turn}");
    }
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
    assert_eq!(stand.paid_sends(), 12, "then nothing more is sent");
    assert_eq!(stand.sends(), 13);
}
