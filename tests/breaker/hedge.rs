//! A layer between ours that sends twice at once.

use http::{Extensions, StatusCode};
use paywait_seller::{Canned, Route, Step};
use reqwest::{Request, Response};
use reqwest_middleware::{ClientWithMiddleware, Middleware, Next, Result};
use support::buyer::{Buyer, Ours, bare, status};
use support::shop::{Stand, terms, upfront};

/// A layer that sends everything twice at once and takes what comes first.
struct Hedge;

#[async_trait::async_trait]
impl Middleware for Hedge {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response> {
        let mut copied = extensions.clone();
        let copy = request.try_clone().unwrap();
        let (first, second) = tokio::join!(
            next.clone().run(request, extensions),
            next.run(copy, &mut copied)
        );
        first.or(second)
    }
}

fn hedged(buyer: &Buyer, order: [Ours; 3], place: usize) -> ClientWithMiddleware {
    let mut builder = bare();
    for (here, ours) in order.into_iter().enumerate() {
        if here == place {
            builder = builder.with(Hedge);
        }
        builder = buyer.attach(builder, ours);
    }
    if place == 3 {
        builder = builder.with(Hedge);
    }
    builder.with(buyer.tap.clone()).build()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_layer_inside_that_sends_twice_at_once_shows_one_payment() {
    for order in Ours::ORDERS {
        for place in 1..=3 {
            let stand = Stand::open([Route::new("/report", terms())]).await;
            let buyer = Buyer::new(&stand.clock);
            let client = hedged(&buyer, order, place);

            drop(client.get(stand.url("/report")).send().await);

            assert_eq!((stand.nonces(), stand.settlements()), (1, 1), "{order:?}");
            assert_eq!(buyer.signer.asked(), 1, "{order:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hedged_named_purchase_is_free_for_the_next_call() {
    for place in 1..=3 {
        let lost = Step::settled(Canned::new(StatusCode::UNAUTHORIZED));
        let stand = Stand::open([Route::new("/report", upfront()).paid_script([lost])]).await;
        let buyer = Buyer::new(&stand.clock);
        let plain = buyer.client(&[Ours::Retry, Ours::Pay, Ours::Pace]);
        let client = hedged(&buyer, [Ours::Retry, Ours::Pace, Ours::Pay], place);
        let named = |client: &ClientWithMiddleware| {
            let name = paywait::PurchaseName::new("order-17");
            client.get(stand.url("/report")).with_extension(name).send()
        };

        drop(named(&plain).await);
        drop(named(&client).await);
        let ended = named(&plain).await;

        assert_eq!(status(&ended), Some(200), "{ended:?}");
        assert_eq!((stand.nonces(), buyer.signer.asked()), (1, 1));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_layer_outside_that_calls_twice_at_once_buys_a_named_purchase_once() {
    for order in Ours::ORDERS {
        let stand = Stand::open([Route::new("/report", terms())]).await;
        let buyer = Buyer::new(&stand.clock);
        let client = buyer.client_inside(Hedge, &order);
        let name = paywait::PurchaseName::new("order-17");

        let call = client.get(stand.url("/report")).with_extension(name);
        drop(call.send().await);

        assert_eq!((stand.nonces(), stand.settlements()), (1, 1), "{order:?}");
    }
}
