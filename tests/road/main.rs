//! The road of one call over real sockets: what is paid, what is not, how long it waits.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

use std::sync::Arc;
use std::time::Duration;

use alloy_primitives::{Address, U256};
use http::StatusCode;
use paywait::{
    Amount, Clock, Deadline, End, Error, Limits, MemoryLedger, Money, Network, NotPaid, Pace, Pay,
    PurchaseName, Reason, Report, Retry, Wallet, report, usd,
};
use paywait_seller::{
    Canned, Flow, Identifier, Limiter, Probes, Route, Seller, Shop, ShopResponder, Step, Terms,
    Token,
};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use support::clock::FakeClock;
use support::shop::{Stand, slow_down, terms, upfront};

fn wallet() -> Wallet {
    Wallet::evm(alloy_signer_local::PrivateKeySigner::random())
}

fn client_of(clock: &Arc<FakeClock>, pay: Pay) -> ClientWithMiddleware {
    let clock: Arc<dyn Clock> = Arc::<FakeClock>::clone(clock);
    ClientBuilder::new(paywait::http_client().unwrap())
        .with(Retry::default().with_clock(Arc::clone(&clock)))
        .with(pay.with_clock(Arc::clone(&clock)))
        .with(Pace::default().with_clock(clock))
        .build()
}

fn cents(per_call: &str) -> Limits {
    Limits::per_call(usd(per_call).unwrap()).per_day(usd("5").unwrap())
}

fn payer(clock: &Arc<FakeClock>) -> ClientWithMiddleware {
    client_of(clock, Pay::new(wallet(), cents("0.05")))
}

/// Buys once and returns the status and the report.
async fn buy(client: &ClientWithMiddleware, stand: &Stand, path: &str) -> (StatusCode, Report) {
    let reply = client.get(stand.url(path)).send().await.unwrap();
    (reply.status(), report(&reply).clone())
}

#[tokio::test]
async fn a_limit_of_the_day_lets_exactly_so_many_parallel_calls_pay() {
    let stand = Stand::open([Route::new("/r", terms())]).await;
    let limits = Limits::per_call(usd("0.05").unwrap()).per_day(usd("0.05").unwrap());
    let ledger = Arc::new(MemoryLedger::new());
    let pay = Pay::with_ledger(wallet(), limits, Arc::<MemoryLedger>::clone(&ledger));
    let client = client_of(&stand.clock, pay);
    let calls: Vec<_> = (0..20)
        .map(|_| {
            let (client, url) = (client.clone(), stand.url("/r"));
            tokio::spawn(async move { client.get(url).send().await.unwrap() })
        })
        .collect();
    let mut served = 0_u32;
    for call in calls {
        let reply = call.await.unwrap();
        match reply.status() {
            StatusCode::OK => served = served.saturating_add(1),
            status => {
                assert_eq!(status, StatusCode::PAYMENT_REQUIRED);
                let refused = &report(&reply).end;
                assert!(
                    matches!(refused, End::NotPaid(NotPaid::Limit { .. })),
                    "{refused}"
                );
                assert!(report(&reply).come_back().is_some());
            }
        }
    }
    assert_eq!((served, stand.settlements(), stand.nonces()), (5, 5, 5));
    assert_eq!(ledger.used_today(stand.clock.now()), usd("0.05").unwrap());
}

#[tokio::test]
async fn the_day_s_limit_has_room_again_a_day_after_the_receipt() {
    let stand = Stand::open([Route::new("/r", terms())]).await;
    let limits = Limits::per_call(usd("0.01").unwrap()).per_day(usd("0.01").unwrap());
    let client = client_of(&stand.clock, Pay::new(wallet(), limits));
    assert_eq!(buy(&client, &stand, "/r").await.0, StatusCode::OK);
    let (_, refused) = buy(&client, &stand, "/r").await;
    let come_back = refused.come_back().unwrap();
    let wait = stand.clock.now().until(come_back);
    assert_eq!(wait, Duration::from_secs(24 * 60 * 60));
    stand.clock.advance(wait);
    assert_eq!(buy(&client, &stand, "/r").await.0, StatusCode::OK);
}

#[tokio::test]
async fn a_hint_over_the_ceiling_ends_the_call_at_once_with_the_time_to_come_back() {
    let slow = Canned::new(StatusCode::TOO_MANY_REQUESTS)
        .retry_after(600)
        .body("in ten minutes");
    let stand = Stand::open([Route::new("/r", terms()).script([Step::reply(slow)])]).await;
    let begun = stand.clock.now();
    let reply = payer(&stand.clock)
        .get(stand.url("/r"))
        .send()
        .await
        .unwrap();
    let report = report(&reply).clone();
    assert_eq!(
        report.end,
        End::Deferred(begun.saturating_add(Duration::from_secs(600)))
    );
    assert_eq!((stand.sends(), stand.clock.now()), (1, begun));
    // a refusal is a response: its body is whole
    assert_eq!(reply.text().await.unwrap(), "in ten minutes");
}

#[tokio::test]
async fn a_hint_is_a_floor() {
    let slow = Canned::new(StatusCode::SERVICE_UNAVAILABLE).retry_after(30);
    let route = Route::new("/r", terms()).script([Step::reply(slow)]);
    let stand = Stand::open([route]).await;
    let (status, report) = buy(&payer(&stand.clock), &stand, "/r").await;
    assert_eq!(status, StatusCode::OK);
    assert!(report.waited >= Duration::from_secs(30) && report.waited < Duration::from_secs(31));
    let requests = stand.seller.ledger().requests().to_vec();
    let (first, second) = (requests.first().unwrap(), requests.get(1).unwrap());
    assert!(first.at.until(second.at) >= Duration::from_secs(30));
}

#[tokio::test]
async fn the_pacer_waits_before_zero_and_meets_no_refusal() {
    let limiter = Limiter::new(3, Duration::from_secs(60))
        .fields(true)
        .probes(Probes::Counted);
    let stand = Stand::open([Route::free("/r").limiter(limiter)]).await;
    let client = payer(&stand.clock);
    for _ in 0..8 {
        assert_eq!(buy(&client, &stand, "/r").await.0, StatusCode::OK);
    }
    let ledger = stand.seller.ledger();
    let refused = ledger
        .requests()
        .iter()
        .filter(|request| request.status != Some(StatusCode::OK));
    assert_eq!((refused.count(), ledger.requests().len()), (0, 8));
}

#[tokio::test]
async fn the_cheapest_entry_is_paid_and_never_the_first_because_it_is_first() {
    let dear = Terms::usdc(40_000, Address::repeat_byte(0x33)).max_timeout(600);
    let stand = Stand::open([Route::new("/r", dear).or(terms())]).await;
    let (status, report) = buy(&payer(&stand.clock), &stand, "/r").await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(report.paid.unwrap().amount, Amount::from_u64(10_000));
    assert_eq!(stand.seller.ledger().total_moved(), U256::from(10_000));
}

#[tokio::test]
async fn what_the_policy_forbids_is_not_signed_and_the_402_comes_back_whole() {
    let real = Token::new(
        8453,
        "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
            .parse()
            .unwrap(),
        "USD Coin",
        "2",
    );
    let unknown = Token::new(84_532, Address::repeat_byte(0x44), "USDC", "2");
    let to = Address::repeat_byte(0x22);
    let stand = Stand::open([
        Route::new("/dear", Terms::usdc(50_001, to)),
        Route::new("/real", Terms::new(real.clone(), U256::from(1), to)),
        Route::new("/unknown", Terms::new(unknown, U256::from(1), to)),
        Route::new("/short", Terms::usdc(1, to).max_timeout(5)),
    ])
    .await;
    let client = payer(&stand.clock);
    for path in ["/dear", "/real", "/unknown", "/short"] {
        let reply = client.get(stand.url(path)).send().await.unwrap();
        assert_eq!(reply.status(), StatusCode::PAYMENT_REQUIRED, "{path}");
        assert!(reply.headers().contains_key("payment-required"), "{path}");
        let end = report(&reply).end.clone();
        assert!(
            matches!(end, End::NotPaid(NotPaid::Policy(_))),
            "{path}: {end}"
        );
        assert_eq!(reply.text().await.unwrap(), "{}");
    }
    assert_eq!((stand.paid_sends(), stand.nonces()), (0, 0));

    let named = Pay::new(wallet(), cents("0.05")).networks([Network::evm(8453)]);
    let client = client_of(&stand.clock, named);
    assert_eq!(buy(&client, &stand, "/real").await.0, StatusCode::OK);
    assert_eq!(stand.seller.ledger().total_moved_of(&real), U256::from(1));
}

#[tokio::test]
async fn a_required_identifier_is_the_same_on_every_send() {
    let route = Route::new("/r", upfront())
        .identifier(Identifier::Required)
        .paid_script([Step::settled(slow_down()), Step::unseen().reset()]);
    let stand = Stand::open([route]).await;
    let (status, report) = buy(&payer(&stand.clock), &stand, "/r").await;
    assert_eq!(status, StatusCode::OK);
    let paid = report.paid.unwrap();
    let ledger = stand.seller.ledger();
    let ids: Vec<_> = ledger
        .paid_requests()
        .map(|request| request.payment_id.clone())
        .collect();
    assert_eq!(ids, vec![Some(paid.payment_id.to_string()); 3]);
    assert!(paid.payment_id.as_str().starts_with("pay_"));
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
}

#[tokio::test]
async fn a_paid_send_that_the_deadline_cuts_is_unknown_and_its_name_shows_the_same_bytes() {
    let route =
        Route::new("/r", upfront()).paid_script([Step::normal().stall(Duration::from_secs(600))]);
    let stand = Stand::open([route]).await;
    let client = payer(&stand.clock);
    let call = || {
        client
            .get(stand.url("/r"))
            .with_extension(PurchaseName::new("order-1"))
    };
    let cut = call()
        .with_extension(Deadline::after(Duration::from_secs(5)))
        .send()
        .await;
    let cut = cut.unwrap_err();
    let ended = Error::find(&cut).expect("a typed end");
    assert_eq!(*ended.end(), End::OutcomeUnknown);
    assert_eq!(ended.report().paid.as_ref().unwrap().money, Money::Unknown);

    let reply = call().send().await.unwrap();
    assert_eq!(reply.status(), StatusCode::OK);
    assert_eq!(
        (stand.nonces(), stand.settlements(), stand.paid_sends()),
        (1, 1, 2)
    );
}

#[tokio::test]
async fn a_purchase_that_was_refused_before_it_moved_stops_and_stays_held() {
    let refused = Step::settle_failed("insufficient_funds");
    let stand = Stand::open([Route::new("/r", terms()).paid_script([refused])]).await;
    let ledger = Arc::new(MemoryLedger::new());
    let pay = Pay::with_ledger(wallet(), cents("0.05"), Arc::<MemoryLedger>::clone(&ledger));
    let (status, report) = buy(&client_of(&stand.clock, pay), &stand, "/r").await;
    assert_eq!(status, StatusCode::PAYMENT_REQUIRED);
    assert_eq!(report.end, End::Stopped(Reason::PaymentFailed));
    assert_eq!(report.paid.unwrap().money, Money::Refused);
    assert_eq!(
        (stand.paid_sends(), stand.nonces(), stand.settlements()),
        (1, 1, 0)
    );
    // no statement of a seller frees a hold
    assert_eq!(ledger.used_today(stand.clock.now()), usd("0.01").unwrap());
}

#[tokio::test]
async fn a_payment_that_is_said_to_have_failed_and_moved_is_paid_once() {
    for (what, step) in [
        (
            "lost answer of a facilitator",
            Step::settle_failed_but_moved("fetch failed"),
        ),
        ("pending", Step::pending(Duration::from_secs(3600))),
        ("dishonest", Step::refused_but_moved("nothing to see")),
    ] {
        let route = Route::new("/r", terms().flow(Flow::Authorization)).paid_script([step]);
        let stand = Stand::open([route]).await;
        let (_, report) = buy(&payer(&stand.clock), &stand, "/r").await;
        assert_eq!((stand.nonces(), stand.settlements()), (1, 1), "{what}");
        let money = report.paid.unwrap().money;
        assert!(
            matches!(money, Money::Settled | Money::Pending | Money::Unknown),
            "{what}"
        );
    }
}

#[tokio::test]
async fn a_price_that_rises_within_the_limit_is_signed_with_the_same_nonce() {
    let dearer = Step::refused("No matching payment requirements").price(U256::from(40_000));
    let stand = Stand::open([Route::new("/r", terms()).paid_script([dearer])]).await;
    let (_, report) = buy(&payer(&stand.clock), &stand, "/r").await;
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
    assert_eq!(report.paid.unwrap().amount, Amount::from_u64(40_000));
}

#[tokio::test]
async fn a_price_that_rises_above_the_limit_is_not_followed() {
    let dearer = Step::refused("No matching payment requirements").price(U256::from(60_000));
    let stand = Stand::open([Route::new("/r", terms()).paid_script([dearer])]).await;
    let (_, report) = buy(&payer(&stand.clock), &stand, "/r").await;
    assert_eq!((stand.nonces(), stand.settlements()), (1, 0));
    assert_eq!(report.paid.unwrap().amount, Amount::from_u64(10_000));
}

#[tokio::test]
async fn a_caller_s_own_payment_is_left_alone() {
    let stand = Stand::open([Route::new("/r", terms())]).await;
    let client = payer(&stand.clock);
    let reply = client
        .get(stand.url("/r"))
        .header("PAYMENT-SIGNATURE", "the caller's own")
        .send()
        .await
        .unwrap();
    assert_eq!(reply.status(), StatusCode::PAYMENT_REQUIRED);
    assert!(report(&reply).paid.is_none());
    assert_eq!(stand.nonces(), 0);
}

#[tokio::test]
async fn an_offer_from_another_origin_than_the_one_that_was_asked_is_not_paid() {
    let stranger = Stand::open([Route::new("/r", terms())]).await;
    let location = stranger.url("/r").parse().unwrap();
    let away = Canned::new(StatusCode::TEMPORARY_REDIRECT).header(http::header::LOCATION, location);
    let stand = Stand::open([Route::free("/r").handler(away)]).await;

    // our own client hands the redirect back
    let (status, _) = buy(&payer(&stand.clock), &stand, "/r").await;
    assert_eq!(
        (status, stranger.sends()),
        (StatusCode::TEMPORARY_REDIRECT, 0)
    );

    // one that follows it meets a price, and pays nobody
    let clock: Arc<dyn Clock> = Arc::<FakeClock>::clone(&stand.clock);
    let follows = ClientBuilder::new(reqwest::Client::new())
        .with(Pay::new(wallet(), cents("0.05")).with_clock(clock))
        .build();
    let (status, report) = buy(&follows, &stand, "/r").await;
    assert_eq!(status, StatusCode::PAYMENT_REQUIRED);
    assert!(report.paid.is_none());
    assert_eq!((stranger.sends(), stranger.paid_sends()), (1, 0));
}

#[tokio::test]
async fn an_unpaid_post_without_an_answer_is_not_sent_again_unless_it_may_be() {
    for (keyed, sends) in [(false, 1), (true, 2)] {
        let stand = Stand::open([Route::free("/r").script([Step::unseen().reset()])]).await;
        let mut call = payer(&stand.clock).post(stand.url("/r")).body("{}");
        if keyed {
            call = call.header("Idempotency-Key", "one");
        }
        let ended = call.send().await;
        assert_eq!((ended.is_ok(), stand.sends()), (keyed, sends));
    }
}

#[tokio::test]
async fn the_layers_pay_a_shop_behind_wiremock_too() {
    let shop = Shop::builder()
        .route(Route::new("/r", terms()))
        .build()
        .unwrap();
    let seller = Seller::new(shop);
    let server = wiremock::MockServer::start().await;
    wiremock::Mock::given(wiremock::matchers::any())
        .respond_with(ShopResponder::new(seller.clone()))
        .mount(&server)
        .await;
    let client = ClientBuilder::new(paywait::http_client().unwrap())
        .with(Pay::new(wallet(), cents("0.05")))
        .build();
    let reply = client
        .get(format!("{}/r", server.uri()))
        .send()
        .await
        .unwrap();
    assert_eq!(reply.status(), StatusCode::OK);
    assert_eq!(seller.ledger().settlements().len(), 1);
}
