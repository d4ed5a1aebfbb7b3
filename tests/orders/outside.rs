//! Loops outside all of ours: they get the same end again, and buy nothing more.

use std::error::Error as _;

use http::StatusCode;
use http::header::AUTHORIZATION;
use paywait::{Clock, End};
use paywait_seller::{Canned, Route, Step};
use reqwest::{Request, Response};
use reqwest_middleware::{Middleware, Next, Result};
use support::buyer::{Buyer, Ours, report, status};
use support::foreign::outer_loop;
use support::shop::{Stand, slow_down, terms, upfront};

fn always(step: Step) -> Vec<Step> {
    vec![step; 200]
}

async fn seller(step: Step) -> Stand {
    Stand::open([Route::new("/report", upfront()).paid_script(always(step))]).await
}

/// Checks that everything was bought once and held once, however often it was sent.
fn assert_bought_once(stand: &Stand, buyer: &Buyer, what: &str) {
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1), "{what}");
    assert_eq!(buyer.signer.asked(), 1, "{what}");
    assert!(buyer.tap.shows_one_payment(), "{what}");
    let used = buyer.ledger.used_today(stand.clock.now());
    assert_eq!(used.to_string(), "0.01", "{what}");
}

#[tokio::test]
async fn an_outer_loop_around_a_seller_that_took_the_money_and_refuses_buys_once() {
    let sins = [
        ("429", Step::settled(slow_down())),
        (
            "500",
            Step::settled(Canned::new(StatusCode::INTERNAL_SERVER_ERROR)),
        ),
        (
            "silent 500",
            Step::settled_silently(Canned::new(StatusCode::INTERNAL_SERVER_ERROR)),
        ),
    ];
    println!("order                seller      sends paid-sends nonces settlements end");
    for (sin, step) in sins {
        for order in Ours::ORDERS {
            let stand = seller(step.clone()).await;
            let buyer = Buyer::new(&stand.clock);
            let client = buyer.client_inside(outer_loop(3), &order);

            let ended = client.get(stand.url("/report")).send().await;

            let told = report(&ended).unwrap();
            println!(
                "{:<20} {sin:<11} {:>5} {:>10} {:>6} {:>11} {}",
                order.map(|ours| format!("{ours:?}")).join(" > "),
                stand.sends(),
                stand.paid_sends(),
                stand.nonces(),
                stand.settlements(),
                told.end,
            );
            // the last turn finds that the payment was shown often enough, and that is final
            let refused = (sin == "429").then_some(429);
            assert_eq!(status(&ended), refused, "{sin} {order:?}");
            assert_bought_once(&stand, &buyer, sin);
            let end = if sin == "silent 500" {
                End::OutcomeUnknown
            } else {
                End::PaidNotDelivered
            };
            assert_eq!(told.end, end, "{sin} {order:?}");
            // one price check in all; then twelve shows, over the turns of the outer loop: four in
            // each, and three where the same 429 came each time
            assert_eq!(
                (stand.sends(), stand.paid_sends()),
                (13, 12),
                "{sin} {order:?}"
            );
        }
    }
}

#[tokio::test]
async fn an_outer_loop_takes_an_end_without_an_answer_as_final_and_hides_nothing_of_it() {
    for order in Ours::ORDERS {
        let stand = seller(Step::normal().reset()).await;
        let buyer = Buyer::new(&stand.clock);
        let client = buyer.client_inside(outer_loop(3), &order);

        let error = client.get(stand.url("/report")).send().await.unwrap_err();

        assert_bought_once(&stand, &buyer, "reset");
        assert_eq!(
            (stand.sends(), stand.paid_sends()),
            (5, 4),
            "one turn of the outer loop"
        );
        let ours = paywait::Error::find(&error).unwrap();
        assert_eq!(ours.end(), &End::OutcomeUnknown);
        assert_eq!(ours.report().sends.len(), 5);
        let mut source = ours.source();
        while let Some(error) = source
            && error.downcast_ref::<reqwest::Error>().is_none()
        {
            source = match error.downcast_ref() {
                Some(reqwest_middleware::Error::Reqwest(error)) => Some(error),
                _ => error.source(),
            };
        }
        assert!(
            source.is_some(),
            "the chain holds the reqwest error: {ours:?}"
        );
        assert!(ours.transport().is_some_and(reqwest::Error::is_request));
    }
}

#[tokio::test]
async fn a_seller_that_gives_in_at_the_second_turn_of_an_outer_loop_serves_what_was_paid_before() {
    let steps = vec![Step::settled(slow_down()); 6];
    let stand = Stand::open([Route::new("/report", upfront()).paid_script(steps)]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client_inside(outer_loop(3), &[Ours::Retry, Ours::Pay, Ours::Pace]);

    let ended = client.get(stand.url("/report")).send().await;

    assert_eq!(status(&ended), Some(200));
    assert_eq!((stand.sends(), stand.paid_sends()), (8, 7));
    assert_bought_once(&stand, &buyer, "429 six times");
}

/// A layer that takes a 401 as word that its token is old.
struct Refresh;

#[async_trait::async_trait]
impl Middleware for Refresh {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut http::Extensions,
        next: Next<'_>,
    ) -> Result<Response> {
        let mut again = request.try_clone().unwrap();
        let response = next.clone().run(request, extensions).await?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(response);
        }
        again
            .headers_mut()
            .insert(AUTHORIZATION, http::HeaderValue::from_static("Bearer new"));
        next.run(again, extensions).await
    }
}

#[tokio::test]
async fn a_refreshed_token_starts_a_new_call_that_pays() {
    for order in Ours::ORDERS {
        let unauthorized = Step::reply(Canned::new(StatusCode::UNAUTHORIZED));
        let stand = Stand::open([Route::new("/report", terms()).script([unauthorized])]).await;
        let buyer = Buyer::new(&stand.clock);
        let client = buyer.client_inside(Refresh, &order);

        let ended = client.get(stand.url("/report")).send().await;

        assert_eq!(status(&ended), Some(200), "{order:?}");
        assert_eq!(report(&ended).unwrap().sends.len(), 2, "a call of its own");
        assert_eq!((stand.sends(), buyer.store.admissions()), (3, 3));
        assert_bought_once(&stand, &buyer, "401 first");
    }
}

#[tokio::test]
async fn a_token_that_is_refused_after_the_money_was_taken_is_refreshed_and_shows_the_same_payment()
{
    for order in Ours::ORDERS {
        let unauthorized = Step::settled(Canned::new(StatusCode::UNAUTHORIZED));
        let stand =
            Stand::open([Route::new("/report", upfront()).paid_script([unauthorized])]).await;
        let buyer = Buyer::new(&stand.clock);
        let client = buyer.client_inside(Refresh, &order);

        let ended = client.get(stand.url("/report")).send().await;

        assert_eq!(status(&ended), Some(200), "{order:?}: {ended:?}");
        assert_eq!((stand.sends(), stand.paid_sends()), (3, 2), "{order:?}");
        assert_bought_once(&stand, &buyer, "401 after payment");
    }
}

/// A layer that asks elsewhere when it is refused.
struct Elsewhere(String);

#[async_trait::async_trait]
impl Middleware for Elsewhere {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut http::Extensions,
        next: Next<'_>,
    ) -> Result<Response> {
        let mut again = request.try_clone().unwrap();
        let response = next.clone().run(request, extensions).await?;
        if response.status().is_success() {
            return Ok(response);
        }
        *again.url_mut() = self.0.parse().unwrap();
        next.run(again, extensions).await
    }
}

#[tokio::test]
async fn what_was_paid_for_one_address_is_not_shown_at_another() {
    for order in Ours::ORDERS {
        let refused =
            Route::new("/report", upfront()).paid_script(always(Step::settled(slow_down())));
        let stand = Stand::open([refused, Route::new("/other", upfront())]).await;
        let buyer = Buyer::new(&stand.clock);
        let client = buyer.client_inside(Elsewhere(stand.url("/other")), &order);

        let ended = client.get(stand.url("/report")).send().await;

        assert_eq!(status(&ended), Some(200), "{order:?}");
        assert_eq!(
            (stand.nonces(), stand.settlements()),
            (2, 2),
            "{order:?}: a purchase each"
        );
        let first = stand
            .seller
            .ledger()
            .requests()
            .iter()
            .find(|seen| seen.paid)
            .unwrap()
            .nonce;
        let ledger = stand.seller.ledger();
        let mut elsewhere = ledger.paid_requests().filter(|seen| seen.path == "/other");
        assert!(elsewhere.all(|seen| seen.nonce != first), "{order:?}");
    }
}
