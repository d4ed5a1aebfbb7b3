//! Dropping the future of a call at each of its await points.

use std::sync::Arc;
use std::time::Duration;

use http::Extensions;
use paywait::{Clock, End, PurchaseName};
use paywait_seller::{Identifier, Limiter, Route, Step};
use reqwest::{Method, Request, Response};
use reqwest_middleware::{ClientWithMiddleware, Middleware, Next};
use support::buyer::{Buyer, Ours, bare, report, status};
use support::shop::{Stand, slow_down, terms, upfront};
use support::signer::CountingSigner;

use crate::slow_ledger::{Late, SlowLedger};

/// Longer than any test runs.
const EVER: Duration = Duration::from_secs(3_600);

/// What a caller keeps in the extensions.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Own(&'static str);

fn get(stand: &Stand) -> Request {
    Request::new(Method::GET, stand.url("/report").parse().unwrap())
}

/// Calls until `cue`, drops the call, and checks that the caller's extensions are as
/// before, but for word of what may have been signed.
async fn drop_at(client: &ClientWithMiddleware, request: Request, cue: impl Future<Output = ()>) {
    let mut extensions = Extensions::new();
    extensions.insert(Own("before"));
    drop_in(client, request, &mut extensions, cue).await;
    assert_eq!(extensions.remove::<Own>(), Some(Own("before")));
    assert!(
        extensions.len() <= 1,
        "nothing of ours is left but word of what may have been signed"
    );
}

async fn drop_in(
    client: &ClientWithMiddleware,
    request: Request,
    extensions: &mut Extensions,
    cue: impl Future<Output = ()>,
) {
    tokio::select! {
        ended = client.execute_with_extensions(request, extensions) => {
            panic!("it ended before it was dropped: {ended:?}")
        }
        () = cue => {}
    }
}

fn used(stand: &Stand, buyer: &Buyer) -> String {
    buyer.ledger.used_today(stand.clock.now()).to_string()
}

/// Waits until `count` signatures were asked for.
async fn asked(signer: &CountingSigner, count: usize) {
    while signer.asked() < count {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn dropped_during_the_unpaid_send_it_holds_nothing() {
    for order in Ours::ORDERS {
        let route = Route::new("/report", terms()).script([Step::unseen().stall(EVER)]);
        let stand = Stand::open([route]).await;
        let buyer = Buyer::new(&stand.clock);
        let client = buyer.client(&order);

        drop_at(&client, get(&stand), stand.arrived(1)).await;

        assert_eq!(used(&stand, &buyer), "0", "{order:?}");
        assert_eq!(
            (buyer.store.admissions(), buyer.signer.asked()),
            (1, 0),
            "{order:?}: the seller has counted the send"
        );

        let ended = client.execute(get(&stand)).await;
        assert_eq!(
            status(&ended),
            Some(200),
            "{order:?}: the next call is not in its way"
        );
        assert_eq!((stand.nonces(), stand.settlements()), (1, 1), "{order:?}");
        assert_eq!(buyer.store.admissions(), 3, "{order:?}");
    }
}

#[tokio::test]
async fn dropped_during_the_paid_send_it_holds_the_price_and_has_spent_the_permit() {
    for order in Ours::ORDERS {
        let route = Route::new("/report", upfront()).paid_script([Step::normal().stall(EVER)]);
        let stand = Stand::open([route]).await;
        let buyer = Buyer::new(&stand.clock);

        drop_at(&buyer.client(&order), get(&stand), stand.arrived(2)).await;

        assert_eq!(used(&stand, &buyer), "0.01", "{order:?}");
        assert_eq!(buyer.signer.asked(), 1, "{order:?}");
        assert_eq!(
            buyer.store.admissions(),
            2,
            "{order:?}: the seller has counted both sends"
        );
    }
}

#[tokio::test]
async fn dropped_while_the_signer_thinks_it_holds_the_price() {
    for order in Ours::ORDERS {
        let stand = Stand::open([Route::new("/report", terms())]).await;
        stand.clock.stop();
        let signer = CountingSigner::random().before(std::future::pending);
        let buyer = Buyer::new(&stand.clock).signer(signer);

        drop_at(&buyer.client(&order), get(&stand), asked(&buyer.signer, 1)).await;

        assert_eq!(
            used(&stand, &buyer),
            "0.01",
            "{order:?}: a remote signer may have signed"
        );
        assert_eq!(
            buyer.store.admissions(),
            1,
            "{order:?}: that of the answered send"
        );
        assert_eq!((stand.sends(), stand.paid_sends()), (1, 0), "{order:?}");
    }
}

#[tokio::test]
async fn dropped_while_it_waits_for_a_second_try_it_holds_what_was_signed() {
    for (paid, holds) in [(false, "0"), (true, "0.01")] {
        for order in Ours::ORDERS {
            let route = Route::new("/report", upfront());
            let route = match paid {
                true => route.paid_script([Step::settled(slow_down())]),
                false => route.script([Step::reply(slow_down())]),
            };
            let stand = Stand::open([route]).await;
            stand.clock.stop();
            let buyer = Buyer::new(&stand.clock);
            let sends = if paid { 2 } else { 1 };
            // once the reply was taken nothing but the sleep is left
            let asleep = async {
                while buyer.store.admissions() < sends || stand.sends() < usize::from(paid) + 1 {
                    tokio::task::yield_now().await;
                }
                tokio::time::sleep(support::clock::GRACE).await;
            };

            drop_at(&buyer.client(&order), get(&stand), asleep).await;

            assert_eq!(used(&stand, &buyer), holds, "{order:?}");
            assert_eq!(
                buyer.store.admissions(),
                sends,
                "{order:?}: both sends were answered"
            );
        }
    }
}

#[tokio::test]
async fn dropped_while_it_waits_for_its_slot_it_gives_the_slot_back() {
    for order in Ours::ORDERS {
        let limiter = Limiter::new(1, Duration::from_secs(30)).fields(true);
        let stand = Stand::open([Route::free("/report").limiter(limiter)]).await;
        let buyer = Buyer::new(&stand.clock);
        let client = buyer.client(&order);
        client.execute(get(&stand)).await.unwrap();
        stand.clock.stop();

        for _ in 0..5 {
            let asleep = tokio::time::sleep(support::clock::GRACE / 10);
            drop_at(&client, get(&stand), asleep).await;
        }

        assert_eq!(
            (stand.sends(), buyer.store.admissions()),
            (1, 1),
            "{order:?}"
        );
        stand.clock.resume();
        let start = stand.clock.now();
        let ended = client.execute(get(&stand)).await;
        assert_eq!(status(&ended), Some(200), "{order:?}");
        let waited = start.until(stand.clock.now());
        assert!(
            waited < Duration::from_secs(45),
            "{order:?}: no dropped call waits before it"
        );
    }
}

#[tokio::test]
async fn dropped_while_the_ledger_writes_the_bytes_it_holds_the_price_and_shows_them_next_time() {
    for order in Ours::ORDERS {
        let stand = Stand::open([Route::new("/report", terms())]).await;
        let buyer = Buyer::new(&stand.clock);
        let inner = Arc::clone(&buyer.ledger);
        let slow = buyer.clone().books(Arc::new(SlowLedger {
            inner,
            late: Late::Persist,
        }));
        let mut extensions = Extensions::new();
        extensions.insert(PurchaseName::new("order-17"));
        let cue = async {
            asked(&buyer.signer, 1).await;
            tokio::time::sleep(support::clock::GRACE).await;
        };

        drop_in(&slow.client(&order), get(&stand), &mut extensions, cue).await;

        assert_eq!(used(&stand, &buyer), "0.01", "{order:?}");
        assert_eq!(
            (stand.sends(), stand.paid_sends()),
            (1, 0),
            "{order:?}: no byte left"
        );

        let client = buyer.client(&order);
        let ended = client
            .execute_with_extensions(get(&stand), &mut extensions)
            .await;
        assert_eq!(status(&ended), Some(200), "{order:?}");
        assert_eq!((stand.nonces(), stand.settlements()), (1, 1), "{order:?}");
        assert_eq!(buyer.signer.asked(), 1, "{order:?}: what stands is shown");
        assert_eq!(used(&stand, &buyer), "0.01", "{order:?}");
    }
}

#[tokio::test]
async fn dropped_while_the_ledger_writes_a_receipt_the_receipt_stands() {
    for order in Ours::ORDERS {
        let stand = Stand::open([Route::new("/report", upfront())]).await;
        let buyer = Buyer::new(&stand.clock);
        let inner = Arc::clone(&buyer.ledger);
        let slow = buyer.clone().books(Arc::new(SlowLedger {
            inner,
            late: Late::Note,
        }));
        let cue = async {
            stand.arrived(2).await;
            tokio::time::sleep(support::clock::GRACE).await;
        };

        drop_at(&slow.client(&order), get(&stand), cue).await;

        assert_eq!(used(&stand, &buyer), "0.01", "{order:?}");
        stand.clock.advance(Duration::from_secs(24 * 3_600 + 1));
        assert_eq!(
            used(&stand, &buyer),
            "0",
            "{order:?}: a day after the settlement"
        );
    }
}

#[tokio::test]
async fn a_named_purchase_dropped_during_the_paid_send_shows_the_same_bytes_when_called_again() {
    for settles in [true, false] {
        for order in Ours::ORDERS {
            let lost = match settles {
                true => Step::normal().stall(EVER),
                false => Step::unseen().stall(EVER),
            };
            let route = Route::new("/report", upfront()).identifier(Identifier::Optional);
            let stand = Stand::open([route.paid_script([lost])]).await;
            let buyer = Buyer::new(&stand.clock);
            let client = buyer.client(&order);
            let mut extensions = Extensions::new();
            extensions.insert(PurchaseName::new("order-17"));

            drop_in(&client, get(&stand), &mut extensions, stand.arrived(2)).await;
            assert_eq!(used(&stand, &buyer), "0.01", "{order:?}");
            let ended = client
                .execute_with_extensions(get(&stand), &mut extensions)
                .await;

            assert_eq!(status(&ended), Some(200), "{order:?}: {ended:?}");
            assert_eq!(report(&ended).unwrap().end, End::Served, "{order:?}");
            assert_eq!(
                (stand.sends(), stand.paid_sends()),
                (3, 2),
                "{order:?}: no price check"
            );
            assert_eq!((stand.nonces(), stand.settlements()), (1, 1), "{order:?}");
            assert!(buyer.tap.shows_one_payment(), "{order:?}");
            assert_eq!(buyer.signer.asked(), 1, "{order:?}");
            assert_eq!(used(&stand, &buyer), "0.01", "{order:?}");
        }
    }
}

#[tokio::test]
async fn a_named_purchase_dropped_before_it_signed_is_bought_when_called_again() {
    for order in Ours::ORDERS {
        let route = Route::new("/report", terms()).script([Step::unseen().stall(EVER)]);
        let stand = Stand::open([route]).await;
        let buyer = Buyer::new(&stand.clock);
        let client = buyer.client(&order);
        let mut extensions = Extensions::new();
        extensions.insert(PurchaseName::new("order-17"));

        drop_in(&client, get(&stand), &mut extensions, stand.arrived(1)).await;
        let ended = client
            .execute_with_extensions(get(&stand), &mut extensions)
            .await;

        assert_eq!(status(&ended), Some(200), "{order:?}");
        assert_eq!((stand.nonces(), stand.settlements()), (1, 1), "{order:?}");
        assert_eq!(used(&stand, &buyer), "0.01", "{order:?}");
    }
}

#[tokio::test]
async fn dropped_while_the_ledger_writes_the_intent_it_lets_the_price_go() {
    for order in Ours::ORDERS {
        let stand = Stand::open([Route::new("/report", terms())]).await;
        let buyer = Buyer::new(&stand.clock);
        let inner = Arc::clone(&buyer.ledger);
        let slow = buyer.clone().books(Arc::new(SlowLedger {
            inner,
            late: Late::Intend,
        }));
        let cue = async {
            stand.arrived(1).await;
            tokio::time::sleep(support::clock::GRACE).await;
        };

        drop_at(&slow.client(&order), get(&stand), cue).await;

        assert_eq!(buyer.signer.asked(), 0, "{order:?}");
        assert_eq!(used(&stand, &buyer), "0", "{order:?}");
    }
}

/// A layer that keeps an error to itself for ever.
struct Broods;

#[async_trait::async_trait]
impl Middleware for Broods {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> reqwest_middleware::Result<Response> {
        match next.run(request, extensions).await {
            Ok(response) => Ok(response),
            Err(_) => std::future::pending().await,
        }
    }
}

#[tokio::test]
async fn a_named_purchase_dropped_on_its_way_back_to_the_driver_is_free_for_the_next_call() {
    for inside in [[Ours::Pay, Ours::Pace], [Ours::Pace, Ours::Pay]] {
        let stand = Stand::open([Route::new("/report", upfront())]).await;
        let buyer = Buyer::new(&stand.clock);
        let mut extensions = Extensions::new();
        extensions.insert(PurchaseName::new("order-17"));
        let client = buyer.client(&Ours::ORDERS[0]);
        client
            .execute_with_extensions(get(&stand), &mut extensions)
            .await
            .unwrap();
        let layers = buyer.attach(bare(), Ours::Retry).with(Broods);
        let brooding = inside
            .iter()
            .fold(layers, |layers, ours| buyer.attach(layers, *ours))
            .build();
        let admissions = buyer.store.admissions();

        let cue = tokio::time::sleep(support::clock::GRACE);
        drop_in(&brooding, get(&stand), &mut extensions, cue).await;

        assert_eq!(buyer.store.admissions(), admissions, "{inside:?}");
        let ended = client
            .execute_with_extensions(get(&stand), &mut extensions)
            .await;
        assert_eq!(status(&ended), Some(200), "{inside:?}: {ended:?}");
        assert_eq!((stand.nonces(), stand.settlements()), (1, 1), "{inside:?}");
    }
}
