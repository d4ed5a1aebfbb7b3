//! Offers: several chains, odd windows, clocks that differ, and ways to pay that are not ours.

use std::sync::Arc;
use std::time::Duration;

use alloy_primitives::{Address, U256, address};
use http::StatusCode;
use paywait::Clock;
use paywait_seller::{Canned, Route, Shop, Step, Terms, Token};
use serde_json::{Value, json};
use support::clock::FakeClock;
use support::shop::{Stand, terms};

use crate::mode::Mode;
use crate::scene::{Outcome, Right, Scene};
use crate::stage::Stage;

pub(crate) fn scenes() -> Vec<Scene> {
    let mut scenes = chains();
    scenes.extend(windows());
    scenes.extend(clocks());
    scenes.extend(other_ways());
    scenes
}

fn chains() -> Vec<Scene> {
    const ENDS: &[&str] = &["OutcomeUnknown", "Stopped", "Exhausted", "PaidNotDelivered"];
    vec![
        Scene::new(
            "13",
            "two chains: the first fails with free text, is settled later",
            Right::undelivered(ENDS),
            |mode| Box::pin(two_chains(mode, Step::settle_failed("fetch failed"))),
        )
        .pending("the other chain on proof"),
        Scene::new(
            "13b",
            "two chains: the first lacks funds, is settled later",
            Right::undelivered(ENDS),
            |mode| Box::pin(two_chains(mode, Step::settle_failed("insufficient_funds"))),
        )
        .pending("the other chain on proof"),
        Scene::new(
            "13c",
            "two chains: the first is refused, then only the other is offered",
            Right::undelivered(ENDS),
            |mode| {
                let only_b = offer(&json!([entry(&base_terms())]));
                let reply = Canned::new(StatusCode::PAYMENT_REQUIRED).offer(&only_b);
                Box::pin(two_chains(mode, Step::verified(reply)))
            },
        )
        .pending("the other chain on proof"),
    ]
}

fn windows() -> Vec<Scene> {
    vec![
        Scene::new(
            "16",
            "maxTimeoutSeconds of 31 years",
            Right::served(),
            |mode| Box::pin(long_window(mode)),
        ),
        Scene::new(
            "16b",
            "maxTimeoutSeconds as a text",
            Right::unsigned().ends(&["NotPaid"]),
            |mode| Box::pin(odd_window(mode, json!("60"))),
        ),
        Scene::new(
            "16c",
            "maxTimeoutSeconds of zero",
            Right::unsigned().ends(&["NotPaid"]),
            |mode| Box::pin(odd_window(mode, json!(0))),
        ),
        Scene::new(
            "16d",
            "maxTimeoutSeconds below zero",
            Right::unsigned().ends(&["NotPaid"]),
            |mode| Box::pin(odd_window(mode, json!(-60))),
        ),
    ]
}

fn clocks() -> Vec<Scene> {
    vec![
        Scene::new(
            "29",
            "the buyer's clock is 5 minutes ahead",
            Right::served(),
            |mode| Box::pin(clocks_differ(mode, -300)),
        ),
        Scene::new(
            "29b",
            "the buyer's clock is 90 s behind, the window is 60 s",
            Right::served().signed(1..=2),
            |mode| Box::pin(clocks_differ(mode, 90)),
        ),
        Scene::new(
            "29c",
            "the buyer's clock is an hour behind, the window is 60 s",
            Right::undelivered(&["Stopped", "NotPaid", "OutcomeUnknown", "Deferred"])
                .settled(0..=0)
                .signed(1..=2),
            |mode| Box::pin(clocks_differ(mode, 3_600)),
        ),
    ]
}

fn other_ways() -> Vec<Scene> {
    vec![
        Scene::new(
            "32",
            "only a sign-in with a wallet is offered",
            Right::unsigned().ends(&["NotPaid", "Stopped"]),
            |mode| Box::pin(sign_in(mode)),
        )
        .pending("sign-in with a wallet"),
        Scene::new(
            "33",
            "upto is offered before exact",
            Right::served(),
            |mode| Box::pin(upto_and_exact(mode)),
        )
        .pending("upto"),
        Scene::new(
            "33b",
            "only upto is offered",
            Right::unsigned().ends(&["NotPaid"]),
            |mode| Box::pin(offers(mode, offer(&json!([upto()])))),
        )
        .pending("upto"),
    ]
}

async fn two_chains(mode: Mode, step: Step) -> Outcome {
    let route = Route::new("/report", terms()).or(base_terms());
    let stage = Stage::sells([route.paid_script(vec![step; 99])]).await;
    let stage = stage.after_each_call(|stage| stage.cash_in_after(Duration::from_secs(5)));
    stage.play(mode).await
}

async fn long_window(mode: Mode) -> Outcome {
    let route = Route::new("/report", terms().max_timeout(1_000_000_000));
    let stage = Stage::sells([route]).await;
    let latest = stage.clock().now().as_secs().saturating_add(600 + 120);
    let outcome = stage.play(mode).await;
    let ledger = stage.stands[0].seller.ledger();
    let mut signed = ledger.authorizations().iter();
    let too_long = signed.any(|seen| seen.valid_before > U256::from(latest));
    outcome.object_if(too_long, "the window is not bounded")
}

async fn odd_window(mode: Mode, seconds: Value) -> Outcome {
    let mut entry = base_sepolia();
    entry["maxTimeoutSeconds"] = seconds;
    offers(mode, offer(&json!([entry]))).await
}

/// The seller's clock is so many seconds ahead of the buyer's.
async fn clocks_differ(mode: Mode, seconds: i64) -> Outcome {
    let clock = FakeClock::start();
    let shop = Shop::builder().route(Route::new("/report", terms().max_timeout(60)));
    let by = Duration::from_secs(seconds.unsigned_abs());
    let base = Arc::clone(&clock);
    let source = Arc::new(move || {
        let now = base.now();
        if seconds < 0 {
            paywait::Timestamp::from_millis(
                now.as_millis()
                    .saturating_sub(by.as_secs().saturating_mul(1_000)),
            )
        } else {
            now.saturating_add(by)
        }
    });
    let stand = Stand::serve(shop.build().unwrap(), &clock, source).await;
    Stage::of([stand]).play(mode).await
}

async fn sign_in(mode: Mode) -> Outcome {
    let mut only_sign_in = offer(&json!([]));
    only_sign_in["extensions"] = json!({ "sign-in-with-x": { "info": {
        "domain": "127.0.0.1",
        "uri": "http://127.0.0.1/report",
        "version": "1",
        "nonce": "a1b2c3d4e5f60718",
        "issuedAt": "2025-06-15T15:06:40.000Z",
    }, "supportedChains": [{ "chainId": "eip155:84532", "type": "eip191" }] } });
    offers(mode, only_sign_in).await
}

async fn upto_and_exact(mode: Mode) -> Outcome {
    let stage = Stage::sells([Route::new("/report", terms()).decoy(upto())]).await;
    stage.play(mode).await
}

/// The seller offers this, paid or not.
async fn offers(mode: Mode, offer: Value) -> Outcome {
    let reply = Canned::json(StatusCode::PAYMENT_REQUIRED, "{}").offer(&offer);
    let stage = Stage::sells([Route::free("/report").handler(reply)]).await;
    stage.play(mode).await
}

/// The same price in USDC on Base.
fn base_terms() -> Terms {
    let usdc = address!("833589fCD6eDb6E08f4c7C32D4f71b54bdA02913");
    let token = Token::new(8_453, usdc, "USD Coin", "2");
    Terms::new(token, U256::from(10_000), Address::repeat_byte(0x22)).max_timeout(600)
}

/// The whole offer of these entries.
pub(crate) fn offer(entries: &Value) -> Value {
    json!({
        "x402Version": 2,
        "error": "Payment required",
        "resource": { "url": "http://127.0.0.1/report" },
        "accepts": entries,
    })
}

/// The entry of the ordinary price here.
pub(crate) fn base_sepolia() -> Value {
    entry(&terms())
}

fn entry(terms: &Terms) -> Value {
    let token = terms.token();
    json!({
        "scheme": "exact",
        "network": token.network(),
        "amount": terms.amount().to_string(),
        "asset": token.address().to_string(),
        "payTo": terms.pay_to().to_string(),
        "maxTimeoutSeconds": 600,
        "extra": { "name": token.name(), "version": token.version() },
    })
}

fn upto() -> Value {
    let mut entry = base_sepolia();
    entry["scheme"] = json!("upto");
    entry["extra"]["assetTransferMethod"] = json!("permit2");
    entry["extra"]["facilitatorAddress"] = json!("0xd407e409E34E0b9afb99EcCeb609bDbcD5e7f1bf");
    entry
}
