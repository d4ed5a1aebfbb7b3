//! Loops outside that come back, after a refusal or after they dropped a call: one nonce all the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::{Extensions, StatusCode};
use paywait::usd;
use paywait_seller::{Canned, Route, Seller, Step};
use reqwest::{Request, Response};
use reqwest_middleware::{Middleware, Next, Result};
use support::buyer::{Buyer, Ours, status};
use support::shop::{Stand, slow_down, terms, upfront};
use support::signer::CountingSigner;

/// A layer that asks again, whatever came, until it is served.
struct Again(usize);

#[async_trait::async_trait]
impl Middleware for Again {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response> {
        let mut last = next
            .clone()
            .run(request.try_clone().unwrap(), extensions)
            .await;
        for _ in 1..self.0 {
            if status_of(&last).is_some_and(|status| status.is_success()) {
                break;
            }
            last = next
                .clone()
                .run(request.try_clone().unwrap(), extensions)
                .await;
        }
        last
    }
}

fn status_of(ended: &Result<Response>) -> Option<StatusCode> {
    ended.as_ref().ok().map(Response::status)
}

#[tokio::test]
async fn a_refused_authorization_lives_and_a_loop_outside_shows_it_again() {
    for order in Ours::ORDERS {
        let refused = vec![Step::refused("insufficient_funds"); 9];
        let stand = Stand::open([Route::new("/report", terms()).paid_script(refused)]).await;
        let buyer = Buyer::new(&stand.clock);
        let client = buyer.client_inside(Again(3), &order);

        let ended = client.get(stand.url("/report")).send().await;

        assert_eq!(status(&ended), Some(402), "{order:?}");
        assert_eq!((stand.paid_sends(), stand.nonces()), (3, 1), "{order:?}");
        assert_eq!(buyer.signer.asked(), 1, "{order:?}");
    }
}

/// A layer that gives up its first try on a cue, drops it, and tries again.
struct Impatient<F>(F);

#[async_trait::async_trait]
impl<F, C> Middleware for Impatient<F>
where
    F: Fn() -> C + Send + Sync + 'static,
    C: Future<Output = ()> + Send + 'static,
{
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response> {
        let again = request.try_clone().unwrap();
        let first = next.clone().run(request, extensions);
        tokio::select! {
            ended = first => return ended,
            () = (self.0)() => {}
        }
        next.run(again, extensions).await
    }
}

/// Ready when `count` requests have reached the seller.
async fn arrived(seller: Seller, count: usize) {
    while seller.ledger().requests().len() < count {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn a_paid_send_that_a_layer_outside_drops_is_shown_again_and_not_bought_again() {
    for order in Ours::ORDERS {
        let silent = Step::normal().stall(Duration::from_secs(60));
        let stand = Stand::open([Route::new("/report", upfront()).paid_script([silent])]).await;
        let buyer = Buyer::new(&stand.clock);
        let seller = stand.seller.clone();
        let client = buyer.client_inside(Impatient(move || arrived(seller.clone(), 2)), &order);

        let ended = client.get(stand.url("/report")).send().await;

        assert_eq!(status(&ended), Some(200), "{order:?}");
        assert_eq!((stand.paid_sends(), stand.nonces()), (2, 1), "{order:?}");
        assert_eq!((stand.settlements(), buyer.signer.asked()), (1, 1));
    }
}

#[tokio::test]
async fn what_a_dropped_call_may_have_had_signed_keeps_its_nonce() {
    let stand = Stand::open([Route::new("/report", terms())]).await;
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let signer = CountingSigner::random().before(move || {
        let first = counted.fetch_add(1, Ordering::SeqCst) == 0;
        async move {
            if first {
                std::future::pending::<()>().await;
            }
        }
    });
    let buyer = Buyer::new(&stand.clock).signer(signer);
    let client = buyer.client_inside(
        Impatient(move || {
            let asked = Arc::clone(&asked);
            async move {
                while asked.load(Ordering::SeqCst) == 0 {
                    tokio::task::yield_now().await;
                }
            }
        }),
        &[Ours::Retry, Ours::Pay, Ours::Pace],
    );

    let ended = client.get(stand.url("/report")).send().await;

    assert_eq!(status(&ended), Some(200));
    let used = buyer.ledger.used_today(paywait::Clock::now(&*stand.clock));
    assert_eq!(used, usd("0.01").unwrap(), "one hold, not two");
}

/// A layer that makes the same request so often, whatever comes.
struct Poll(usize);

#[async_trait::async_trait]
impl Middleware for Poll {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response> {
        for _ in 1..self.0 {
            let turn = request.try_clone().unwrap();
            drop(next.clone().run(turn, extensions).await);
        }
        next.run(request, extensions).await
    }
}

#[tokio::test]
async fn a_purchase_that_was_served_after_all_is_not_shown_for_the_next_one() {
    let stand =
        Stand::open([
            Route::new("/report", upfront()).paid_script(vec![Step::settled(slow_down()); 4])
        ])
        .await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client_inside(Poll(3), &[Ours::Retry, Ours::Pay]);

    let ended = client.get(stand.url("/report")).send().await;

    assert_eq!(status(&ended), Some(200));
    assert_eq!((stand.nonces(), stand.settlements()), (2, 2));
}

/// A layer that goes back and forth between two addresses.
struct Fallback;

#[async_trait::async_trait]
impl Middleware for Fallback {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response> {
        let mut other = request.try_clone().unwrap();
        other.url_mut().set_path("/other");
        for turn in [&request, &other] {
            let turn = turn.try_clone().unwrap();
            drop(next.clone().run(turn, extensions).await);
        }
        next.run(request, extensions).await
    }
}

#[tokio::test]
async fn each_of_two_addresses_keeps_its_own_purchase() {
    let lost = || vec![Step::settled(Canned::new(StatusCode::UNAUTHORIZED)); 9];
    let stand = Stand::open([
        Route::new("/report", upfront()).paid_script(lost()),
        Route::new("/other", upfront()).paid_script(lost()),
    ])
    .await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client_inside(Fallback, &[Ours::Retry, Ours::Pay]);

    drop(client.get(stand.url("/report")).send().await);

    assert_eq!((stand.nonces(), stand.settlements()), (2, 2));
    assert_eq!(stand.paid_sends(), 3);
}
