//! Foreign layers between ours that make requests of their own.

use std::sync::{Arc, Mutex};

use paywait::{Clock, End};
use paywait_seller::{Route, Step};
use reqwest::{Request, Response};
use reqwest_middleware::{ClientWithMiddleware, Middleware, Next, Result};
use support::buyer::{Buyer, Ours, bare, report, status};
use support::foreign::{Foreign, outer_loop};
use support::shop::{Stand, slow_down, terms, upfront};

/// A layer that first asks for something itself, through a client of its own.
struct AsksFirst {
    client: ClientWithMiddleware,
    url: String,
    answered: Arc<Mutex<Vec<u16>>>,
}

#[async_trait::async_trait]
impl Middleware for AsksFirst {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut http::Extensions,
        next: Next<'_>,
    ) -> Result<Response> {
        let own = self.client.get(&self.url).send().await?;
        assert_eq!(
            paywait::report(&own).end,
            End::Unseen,
            "no call of ours ran"
        );
        self.answered.lock().unwrap().push(own.status().as_u16());
        next.run(request, extensions).await
    }
}

/// Runs a call in which a layer at `place` asks for `/token` first, and returns what it was told.
async fn told(order: [Ours; 3], place: usize, asked: &str) -> (Stand, Buyer, Buyer, Vec<u16>) {
    let stand = Stand::open([
        Route::new("/report", terms()),
        Route::new("/token", terms()),
        Route::free("/busy").script(vec![Step::reply(slow_down()); 9]),
    ])
    .await;
    let (buyer, other) = (Buyer::new(&stand.clock), Buyer::new(&stand.clock));
    let answered = Arc::default();
    let mut layers = bare();
    for (nth, ours) in order.into_iter().enumerate() {
        if nth == place {
            layers = layers.with(AsksFirst {
                client: other.client(&[Ours::Retry, Ours::Pay, Ours::Pace]),
                url: stand.url(asked),
                answered: Arc::clone(&answered),
            });
        }
        layers = buyer.attach(layers, ours);
    }
    let client = layers.build();

    let ended = client.get(stand.url("/report")).send().await;

    assert_eq!(status(&ended), Some(200), "{ended:?}");
    assert_eq!(report(&ended).unwrap().sends.len(), 2);
    let answered = answered.lock().unwrap().clone();
    (stand, buyer, other, answered)
}

#[tokio::test]
async fn a_request_of_its_own_passes_a_running_call_untouched_and_unpaid() {
    for order in Ours::ORDERS {
        for place in [1, 2] {
            let (stand, buyer, other, answered) = told(order, place, "/token").await;
            assert_eq!(answered, [402, 402], "{order:?} {place}");
            assert_eq!((buyer.signer.asked(), other.signer.asked()), (1, 0));
            assert_eq!(other.store.admissions(), 0);
            assert_eq!((stand.sends(), buyer.store.admissions()), (4, 2));
            assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
        }
    }
}

#[tokio::test]
async fn a_request_of_its_own_is_not_retried_inside_a_running_call() {
    for order in Ours::ORDERS {
        let (stand, _, _, answered) = told(order, 1, "/busy").await;
        assert_eq!(answered, [429, 429], "{order:?}");
        assert_eq!(stand.sends(), 4);
    }
}

/// Inside a running call, a request without its extensions is known by method and URL alone: one of
/// the same address is taken for the call's own. Its layers join, so the wallet may be theirs.
#[tokio::test]
async fn a_request_of_its_own_for_the_same_address_joins_and_all_pay_once() {
    for order in Ours::ORDERS {
        for place in [1, 2] {
            let (stand, buyer, other, answered) = told(order, place, "/report").await;
            let where_ = format!("{order:?} {place}");
            assert_eq!(answered, [402, 402], "{where_}");
            assert_eq!((stand.nonces(), stand.settlements()), (1, 1), "{where_}");
            assert_eq!(buyer.signer.asked() + other.signer.asked(), 1, "{where_}");
        }
    }
}

/// A layer that adds a query and hands on extensions of its own: what is inside cannot know the
/// call any more.
#[tokio::test]
async fn a_layer_that_hides_a_running_call_hides_the_money_too() {
    for (order, pays) in Ours::ORDERS.map(|order| (order, order[0] == Ours::Pay)) {
        let stand = Stand::open([Route::new("/report", terms())]).await;
        let buyer = Buyer::new(&stand.clock);
        let mut layers = buyer.attach(bare(), order[0]);
        layers = Foreign::Replace.attach(Foreign::Query.attach(layers));
        for ours in [order[1], order[2]] {
            layers = buyer.attach(layers, ours);
        }

        let ended = layers.build().get(stand.url("/report")).send().await;

        let paid = usize::from(pays);
        assert_eq!(
            status(&ended),
            Some(if pays { 200 } else { 402 }),
            "{order:?}"
        );
        assert_eq!(
            (stand.nonces(), stand.settlements()),
            (paid, paid),
            "{order:?}"
        );
    }
}

/// `reqwest-retry` hides a transport error that it did not retry: nobody can tell what it was.
#[tokio::test]
async fn an_error_that_a_layer_inside_hides_ends_the_call_and_leaves_the_money_unknown() {
    let route = Route::new("/report", upfront()).paid_script(vec![Step::normal().reset(); 9]);
    let stand = Stand::open([route]).await;
    let buyer = Buyer::new(&stand.clock);
    let layers = buyer.attach(buyer.attach(bare(), Ours::Retry), Ours::Pay);
    let client = layers.with(outer_loop(0)).with(buyer.tap.clone()).build();

    let error = client.get(stand.url("/report")).send().await.unwrap_err();

    let ours = paywait::Error::find(&error).unwrap();
    assert_eq!(ours.end(), &End::OutcomeUnknown);
    assert_eq!(
        (stand.sends(), stand.nonces(), stand.settlements()),
        (2, 1, 1)
    );
    assert_eq!(
        buyer.ledger.used_today(stand.clock.now()).to_string(),
        "0.01"
    );
}
