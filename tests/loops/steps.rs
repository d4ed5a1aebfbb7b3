//! Dropping a call after each of its polls, and calling again.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use http::Extensions;
use paywait::{Clock, End, Ledger, PurchaseName};
use paywait_ledger::{Owner, Taken};
use paywait_seller::{Route, Step};
use reqwest::{Method, Request, Response};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware, Middleware, Next};
use support::buyer::{Buyer, Ours, bare, report, status};
use support::shop::{Stand, slow_down, upfront};
use support::signer::CountingSigner;
use tokio::task::{JoinSet, LocalSet, yield_now};

use crate::ledger::OddLedger;

/// How the call that is made again is known for the same.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Again {
    /// By its name.
    Named,
    /// By the extensions of the call before.
    Kept,
    /// By its method, URL and body.
    Plain,
}

impl Again {
    const ALL: [Self; 3] = [Self::Named, Self::Kept, Self::Plain];

    fn extensions(self) -> Extensions {
        let mut extensions = Extensions::new();
        if self == Self::Named {
            extensions.insert(PurchaseName::new("order-17"));
        }
        extensions
    }
}

/// A layer that lets others go first, on the way there and on the way back.
struct Dawdles;

#[async_trait::async_trait]
impl Middleware for Dawdles {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> reqwest_middleware::Result<Response> {
        yield_now().await;
        let ended = next.run(request, extensions).await;
        yield_now().await;
        ended
    }
}

/// Polls a future as often, and drops it if it has not ended by then.
async fn polled<F: Future>(future: F, mut times: usize) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(move |context| {
        let polled = future.as_mut().poll(context).map(Some);
        times = times.saturating_sub(1);
        match polled {
            Poll::Pending if times == 0 => Poll::Ready(None),
            polled => polled,
        }
    })
    .await
}

/// Our layers in `order`, with a layer that dawdles inside each; a ledger and a signer that do too.
fn client(buyer: &Buyer, order: [Ours; 3]) -> ClientWithMiddleware {
    let books = OddLedger::slow(&buyer.ledger);
    let slow = buyer.clone().books(Arc::new(books));
    let layers = order.into_iter().fold(bare(), |layers, ours| {
        slow.attach(layers, ours).with(Dawdles)
    });
    layers.with(buyer.tap.clone()).build()
}

fn get(stand: &Stand) -> Request {
    Request::new(Method::GET, stand.url("/report").parse().unwrap())
}

/// What is held for what may be cashed, who has it, and what stands of it.
async fn assert_kept(stand: &Stand, buyer: &Buyer, what: &str) {
    let used = buyer.ledger.used_today(stand.clock.now()).to_string();
    let open = buyer.ledger.open_purchases().await.unwrap();
    if buyer.signer.asked() == 0 {
        assert_eq!(
            (used.as_str(), open.len()),
            ("0", 0),
            "{what}: nothing is held"
        );
        return;
    }
    assert_eq!(used, "0.01", "{what}: it may be signed");
    let [record] = open.as_slice() else {
        panic!("{what}: one purchase is open, and not {}", open.len());
    };
    if stand.paid_sends() > 0 {
        assert_eq!(record.signatures(), 1, "{what}: what was sent stands");
    }
    let (other, now) = (Owner::random(), stand.clock.now());
    let taken = buyer
        .ledger
        .take(record.key, record.fingerprint, other, now);
    let taken = taken.await.unwrap();
    assert!(!matches!(taken, Taken::InFlight), "{what}: it is free");
    buyer.ledger.release(record.key, other, false);
}

/// Drops a call after so many polls and calls again; returns whether the call had ended by then.
async fn drop_after(route: Route, order: [Ours; 3], again: Again, polls: usize) -> bool {
    let what = format!("{order:?} {again:?}, {polls} polls");
    let stand = Stand::open([route]).await;
    let signer = CountingSigner::random().before(yield_now);
    let buyer = Buyer::new(&stand.clock).signer(signer);
    let client = client(&buyer, order);
    let mut extensions = again.extensions();
    let call = client.execute_with_extensions(get(&stand), &mut extensions);
    let ended = polled(call, polls).await;
    if let Some(ended) = ended {
        assert_eq!(status(&ended), Some(200), "{what}: {ended:?}");
        assert_eq!((stand.nonces(), stand.settlements()), (1, 1), "{what}");
        return true;
    }

    assert_kept(&stand, &buyer, &what).await;
    let open = buyer.ledger.open_purchases().await.unwrap();
    let signed = open.iter().any(|record| record.signatures() > 0);
    let asked = buyer.signer.asked();
    if again != Again::Kept {
        extensions = again.extensions();
    }
    let call = client.execute_with_extensions(get(&stand), &mut extensions);
    let ended = call.await;

    assert_eq!(status(&ended), Some(200), "{what}: {ended:?}");
    assert_eq!(report(&ended).unwrap().end, End::Served, "{what}");
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1), "{what}");
    assert!(buyer.tap.shows_one_payment(), "{what}");
    if signed {
        assert_eq!(buyer.signer.asked(), asked, "{what}: what stands is shown");
    }
    // what a signer may have signed for a call that has no name is held beside what was bought
    let beside = again == Again::Plain && asked > 0 && !signed;
    let used = buyer.ledger.used_today(stand.clock.now()).to_string();
    assert_eq!(used, if beside { "0.02" } else { "0.01" }, "{what}");
    false
}

/// Drops the call after its first poll, after its second, and so on, until it ends before.
async fn drop_after_each(route: Route, order: [Ours; 3], again: Again) -> usize {
    let mut polls = 1;
    while !drop_after(route.clone(), order, again, polls).await {
        polls += 1;
    }
    polls
}

async fn drop_all(route: Route) {
    let ways = Ours::ORDERS.map(|order| Again::ALL.map(|again| (order, again)));
    let here = LocalSet::new();
    let mut drops = JoinSet::new();
    for (order, again) in ways.into_iter().flatten() {
        let route = route.clone();
        let drop = async move {
            let polls = drop_after_each(route, order, again).await;
            println!("{order:?} {again:?}: ends at poll {polls}");
        };
        drops.spawn_local_on(drop, &here);
    }
    here.run_until(drops.join_all()).await;
}

#[tokio::test]
async fn a_call_that_is_dropped_at_any_point_is_taken_up_by_the_next() {
    drop_all(Route::new("/report", upfront())).await;
}

#[tokio::test]
async fn a_call_that_is_dropped_at_any_point_after_a_reset_is_taken_up_by_the_next() {
    let resets = [Step::normal().reset()];
    drop_all(Route::new("/report", upfront()).paid_script(resets)).await;
}

#[tokio::test]
async fn a_call_that_is_dropped_at_any_point_after_a_paid_429_is_taken_up_by_the_next() {
    let throttles = [Step::settled(slow_down())];
    drop_all(Route::new("/report", upfront()).paid_script(throttles)).await;
}

/// Drops three calls, one after the other, after so many polls each; then lets one end.
async fn drop_thrice(order: [Ours; 3], again: Again, polls: [usize; 3]) {
    let what = format!("{order:?} {again:?}, {polls:?} polls");
    let stand = Stand::open([Route::new("/report", upfront())]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = client(&buyer, order);
    let mut extensions = again.extensions();
    let mut signed = 0;
    for polls in polls.into_iter().chain([usize::MAX]) {
        if again != Again::Kept {
            extensions = again.extensions();
        }
        let call = client.execute_with_extensions(get(&stand), &mut extensions);
        let ended = polled(call, polls).await;
        if ended.is_none() {
            assert_kept(&stand, &buyer, &what).await;
            signed = buyer.signer.asked();
            continue;
        }
        let ended = ended.unwrap();
        assert_eq!(status(&ended), Some(200), "{what}: {ended:?}");
        break;
    }
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1), "{what}");
    assert_eq!(buyer.signer.asked(), signed.max(1), "{what}");
    let used = buyer.ledger.used_today(stand.clock.now()).to_string();
    assert_eq!(used, "0.01", "{what}");
}

#[tokio::test]
async fn calls_that_are_dropped_one_after_the_other_are_taken_up_by_the_next() {
    let here = LocalSet::new();
    let mut drops = JoinSet::new();
    for (nth, order) in Ours::ORDERS.into_iter().enumerate() {
        for again in Again::ALL {
            let drop = async move {
                // after the payment has left, in each of the calls: at all points, in all orders
                for second in 1..=24 {
                    let third = 1 + (second * 7 + nth * 5) % 24;
                    drop_thrice(order, again, [17, second, third]).await;
                }
            };
            drops.spawn_local_on(drop, &here);
        }
    }
    here.run_until(drops.join_all()).await;
}

/// A time-out around `send` and the reading of the body drops what was handed out only if the body
/// has to be waited for.
#[tokio::test]
async fn what_was_paid_for_is_handed_out_whole() {
    for timed in [false, true] {
        let stand = Stand::open([Route::new("/report", upfront())]).await;
        let buyer = Buyer::new(&stand.clock);
        let client = paywait::client_builder().no_proxy();
        let client = match timed {
            true => client.timeout(Duration::from_secs(10)),
            false => client,
        };
        let layers = ClientBuilder::new(client.build().unwrap());
        let client = buyer.attach(layers, Ours::Pay).build();
        for _ in 0..20 {
            let response = client.execute(get(&stand)).await.unwrap();
            let body = polled(response.bytes(), 1).await;
            assert!(body.is_some_and(|body| body.is_ok()), "{timed}");
        }
    }
}
