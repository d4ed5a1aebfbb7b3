//! A name for everything that is bought inside a future.

use paywait::{End, Namespace, NotPaid, PurchaseName, Scope};
use paywait_seller::{Route, Step};
use reqwest_middleware::ClientWithMiddleware;
use support::buyer::{Buyer, Ours, report, status};
use support::shop::{Stand, terms, upfront};
use support::signer::CountingSigner;

fn job() -> Scope {
    Scope::new().with(Namespace::new("job"))
}

async fn stand() -> Stand {
    Stand::open(["/a", "/b", "/service"].map(|path| Route::new(path, upfront()))).await
}

async fn buy(client: &ClientWithMiddleware, stand: &Stand, path: &str) {
    let ended = client.get(stand.url(path)).send().await;
    assert_eq!(status(&ended), Some(200), "{path}: {ended:?}");
}

#[tokio::test]
async fn the_same_request_twice_in_a_namespace_is_one_nonce_and_others_are_others() {
    for order in Ours::ORDERS {
        let stand = stand().await;
        let buyer = Buyer::new(&stand.clock);
        let client = buyer.client(&order);

        job()
            .run(async {
                buy(&client, &stand, "/a").await;
                buy(&client, &stand, "/a").await;
                assert_eq!((stand.nonces(), stand.settlements()), (1, 1), "{order:?}");
                buy(&client, &stand, "/b").await;
                buy(&client, &stand, "/a?page=2").await;
                client.post(stand.url("/a")).body("x").send().await.unwrap();
                assert_eq!((stand.nonces(), stand.settlements()), (4, 4), "{order:?}");
            })
            .await;

        // the name is the purchase's, not the scope's
        job().run(buy(&client, &stand, "/a")).await;
        assert_eq!(stand.nonces(), 4, "{order:?}");
        let again = Scope::new().with(Namespace::new("job").ordinal(1));
        again.run(buy(&client, &stand, "/a")).await;
        Scope::new()
            .with(Namespace::new("other job"))
            .run(buy(&client, &stand, "/a"))
            .await;
        assert_eq!((stand.nonces(), stand.settlements()), (6, 6), "{order:?}");
        buy(&client, &stand, "/a").await;
        buy(&client, &stand, "/a").await;
        assert_eq!(
            (stand.nonces(), stand.settlements()),
            (8, 8),
            "{order:?}: no scope, no name"
        );
    }
}

#[tokio::test]
async fn a_name_on_the_request_wins_over_the_namespace_around() {
    let stand = stand().await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client(&Ours::ORDERS[0]);
    let named = |name| {
        client
            .get(stand.url("/a"))
            .with_extension(PurchaseName::new(name))
    };

    job()
        .run(async {
            for name in ["order-17", "order-18", "order-17"] {
                assert_eq!(status(&named(name).send().await), Some(200));
            }
        })
        .await;

    assert_eq!((stand.nonces(), stand.settlements()), (2, 2));
}

#[tokio::test]
async fn a_stream_is_not_named_by_a_namespace() {
    let stand = Stand::open([Route::new("/a", terms())]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client(&Ours::ORDERS[0]);
    let body = reqwest::Body::wrap("read once".to_owned());

    let ended = job()
        .run(client.post(stand.url("/a")).body(body).send())
        .await;

    assert_eq!(status(&ended), Some(402));
    assert_eq!(report(&ended).unwrap().end, End::NotPaid(NotPaid::Once));
    assert_eq!(buyer.signer.asked(), 0);
}

/// A signer that buys from its service before each signature.
fn buys_first(client: ClientWithMiddleware, url: String) -> CountingSigner {
    CountingSigner::random().before(move || {
        let request = client.get(&url);
        async move {
            let ended = request.send().await;
            assert_eq!(status(&ended), Some(200), "{ended:?}");
        }
    })
}

#[tokio::test]
async fn a_signer_is_outside_the_scope_and_outside_the_call() {
    for order in Ours::ORDERS {
        let stand = stand().await;
        let service = Buyer::new(&stand.clock);
        let signer = buys_first(service.client(&order), stand.url("/service"));
        let buyer = Buyer::new(&stand.clock).signer(signer);
        let client = buyer.client(&order);

        job()
            .run(async {
                buy(&client, &stand, "/a").await;
                buy(&client, &stand, "/b").await;
            })
            .await;

        assert_eq!(buyer.signer.asked(), 2, "{order:?}");
        assert_eq!(
            service.signer.asked(),
            2,
            "{order:?}: the job's name is not on them"
        );
        assert_eq!((stand.nonces(), stand.settlements()), (4, 4), "{order:?}");
    }
}

#[tokio::test]
async fn a_namespace_does_not_reach_a_spawned_task() {
    let stand = stand().await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client(&Ours::ORDERS[0]);

    job()
        .run(async {
            for _ in 0..2 {
                let get = client.get(stand.url("/a"));
                let ended = tokio::spawn(async move { get.send().await }).await.unwrap();
                assert_eq!(status(&ended), Some(200));
            }
        })
        .await;

    assert_eq!((stand.nonces(), stand.settlements()), (2, 2));
}

#[tokio::test]
async fn a_purchase_of_a_namespace_that_was_lost_is_taken_up_by_the_next_run_of_the_job() {
    for order in Ours::ORDERS {
        let lost = vec![Step::normal().reset(); 4];
        let stand = Stand::open([Route::new("/a", upfront()).paid_script(lost)]).await;
        let buyer = Buyer::new(&stand.clock);
        let client = buyer.client(&order);

        let first = job().run(client.get(stand.url("/a")).send()).await;
        let second = job().run(client.get(stand.url("/a")).send()).await;

        assert_eq!(
            report(&first).unwrap().end,
            End::OutcomeUnknown,
            "{order:?}"
        );
        assert_eq!(status(&second), Some(200), "{order:?}");
        assert_eq!(
            (stand.sends(), stand.nonces(), stand.settlements()),
            (6, 1, 1),
            "{order:?}"
        );
        assert!(buyer.tap.shows_one_payment(), "{order:?}");
    }
}
