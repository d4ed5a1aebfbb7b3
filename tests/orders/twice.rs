//! Layers that are attached twice: two of a kind are one.

use paywait::End;
use paywait_seller::{Route, Step};
use support::buyer::{Buyer, Ours, bare, report, status};
use support::shop::{Stand, slow_down, upfront};

async fn stand() -> Stand {
    let throttled = Step::settled(slow_down());
    Stand::open([Route::new("/report", upfront()).paid_script([throttled])]).await
}

#[tokio::test]
async fn two_of_each_kind_are_one_loop_one_admission_a_send_and_one_signature() {
    use Ours::{Pace, Pay, Retry};
    let stacks = [
        vec![Retry, Retry, Pay, Pace],
        vec![Retry, Pay, Pay, Pace],
        vec![Retry, Pay, Pace, Pace],
        vec![Pace, Pace, Pay, Retry],
        vec![Pay, Pace, Retry, Pay, Pace, Retry],
        vec![Pace, Pay, Retry, Retry, Pay, Pace],
        vec![Retry, Retry, Pay, Pay, Pace, Pace],
    ];
    for ours in stacks {
        let stand = stand().await;
        let buyer = Buyer::new(&stand.clock);

        let ended = buyer.client(&ours).get(stand.url("/report")).send().await;

        assert_eq!(status(&ended), Some(200), "{ours:?}: {ended:?}");
        let told = report(&ended).unwrap();
        assert_eq!(
            (told.sends.len(), told.attempts, &told.end),
            (3, 2, &End::Served)
        );
        assert_eq!(stand.sends(), 3, "{ours:?}");
        assert_eq!(buyer.store.admissions(), 3, "{ours:?}");
        assert_eq!(buyer.signer.asked(), 1, "{ours:?}");
        assert_eq!((stand.nonces(), stand.settlements()), (1, 1), "{ours:?}");
    }
}

#[tokio::test]
async fn of_two_wallets_and_two_quota_stores_the_outer_counts() {
    let stand = stand().await;
    let (outer, inner) = (Buyer::new(&stand.clock), Buyer::new(&stand.clock));
    let mut layers = bare();
    for ours in [Ours::Pace, Ours::Pay] {
        layers = inner.attach(outer.attach(layers, ours), ours);
    }
    let client = outer.attach(layers, Ours::Retry).build();

    let ended = client.get(stand.url("/report")).send().await;

    assert_eq!(status(&ended), Some(200), "{ended:?}");
    assert_eq!((outer.signer.asked(), inner.signer.asked()), (1, 0));
    assert_eq!((outer.store.admissions(), inner.store.admissions()), (3, 0));
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
}

#[tokio::test]
async fn a_client_inside_a_client_is_one_stack() {
    let stand = stand().await;
    let buyer = Buyer::new(&stand.clock);
    let all = [Ours::Retry, Ours::Pay, Ours::Pace];
    let inner = buyer.client(&all);
    let client = buyer.client_inside(Through(inner), &[]);

    let ended = client.get(stand.url("/report")).send().await;

    assert_eq!(status(&ended), Some(200), "{ended:?}");
    assert_eq!((stand.sends(), buyer.store.admissions()), (3, 3));
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1));

    // and with ours around it, the same request through a client with ours joins the same call
    let stand = self::stand().await;
    let buyer = Buyer::new(&stand.clock);
    let inner = buyer.client(&all);
    let layers = all
        .iter()
        .fold(bare(), |layers, ours| buyer.attach(layers, *ours));
    let client = layers.with(Through(inner)).build();

    let ended = client.get(stand.url("/report")).send().await;

    assert_eq!(status(&ended), Some(200), "{ended:?}");
    assert_eq!((stand.sends(), buyer.store.admissions()), (3, 3));
    assert_eq!(
        (stand.nonces(), stand.settlements(), buyer.signer.asked()),
        (1, 1, 1)
    );
}

/// A layer that sends what it gets through another client.
struct Through(reqwest_middleware::ClientWithMiddleware);

#[async_trait::async_trait]
impl reqwest_middleware::Middleware for Through {
    async fn handle(
        &self,
        request: reqwest::Request,
        extensions: &mut http::Extensions,
        _next: reqwest_middleware::Next<'_>,
    ) -> reqwest_middleware::Result<reqwest::Response> {
        self.0.execute_with_extensions(request, extensions).await
    }
}
