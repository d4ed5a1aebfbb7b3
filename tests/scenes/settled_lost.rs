//! Settlements whose news is lost, and news of settlements that are missing, garbled or false.

use std::time::Duration;

use http::{HeaderName, HeaderValue, StatusCode};
use paywait_seller::{Canned, Facilitator, Identifier, Route, Shop, Step};
use serde_json::json;
use support::clock::FakeClock;
use support::shop::{Stand, terms, upfront};

use crate::mode::Mode;
use crate::offers::base_sepolia;
use crate::refused::refusal;
use crate::scene::{Outcome, Right, Scene};
use crate::stage::Stage;

pub(crate) fn scenes() -> Vec<Scene> {
    let mut scenes = lost();
    scenes.extend(told_wrong());
    scenes
}

fn lost() -> Vec<Scene> {
    vec![
        Scene::new(
            "4",
            "settles, then resets; keeps no answers",
            Right::paid_not_delivered(),
            |mode| Box::pin(resets(mode, Route::new("/report", terms()), 1)),
        ),
        Scene::new(
            "4b",
            "settles, then resets; keeps answers by identifier",
            Right::served(),
            |mode| {
                let keeps = Route::new("/report", terms()).identifier(Identifier::Optional);
                Box::pin(resets(mode, keeps, 1))
            },
        ),
        Scene::new(
            "4c",
            "upfront: settles, then resets, for ever",
            Right::undelivered(&["OutcomeUnknown"]),
            |mode| Box::pin(resets(mode, Route::new("/report", upfront()), 99)),
        ),
        Scene::new(
            "5",
            "settles, and answers after the caller's time-out",
            Right::paid_not_delivered(),
            |mode| Box::pin(answers_late(mode)),
        ),
        Scene::new(
            "7",
            "502 after a settlement that was too slow; keeps no answers",
            Right::paid_not_delivered(),
            |mode| Box::pin(times_out(mode, Route::new("/report", terms()))),
        ),
        Scene::new(
            "7b",
            "upfront: 502 after a settlement that was too slow",
            Right::served(),
            |mode| Box::pin(times_out(mode, Route::new("/report", upfront()))),
        ),
        Scene::new(
            "8",
            "402 fetch failed, and the money moved; keeps no answers",
            Right::paid_not_delivered(),
            |mode| Box::pin(fetch_failed(mode, Route::new("/report", terms()))),
        ),
        Scene::new(
            "8b",
            "upfront: 402 fetch failed, and the money moved",
            Right::served(),
            |mode| Box::pin(fetch_failed(mode, Route::new("/report", upfront()))),
        ),
        Scene::new(
            "8c",
            "upfront: resets, then refused before the broadcast, for ever",
            Right::undelivered(&["OutcomeUnknown", "Stopped"]).signed_in_the_dark(2),
            |mode| Box::pin(then_refuses(mode, Step::normal().reset())),
        ),
        Scene::new(
            "18c",
            "upfront: takes the money, answers 500, then refused, for ever",
            Right::paid_not_delivered().signed_in_the_dark(2),
            |mode| {
                let failure = Canned::new(StatusCode::INTERNAL_SERVER_ERROR);
                Box::pin(then_refuses(mode, Step::settled(failure)))
            },
        ),
        Scene::new(
            "10",
            "upfront: resets, then a receipt that says nonce used",
            Right::paid_not_delivered(),
            |mode| Box::pin(nonce_used(mode)),
        ),
    ]
}

fn told_wrong() -> Vec<Scene> {
    vec![
        Scene::new("24", "serves without a receipt", Right::served(), |mode| {
            Box::pin(serves(mode, Canned::json(StatusCode::OK, "{}")))
        }),
        Scene::new(
            "24b",
            "serves with a receipt that cannot be read",
            Right::served(),
            |mode| {
                let name = HeaderName::from_static("payment-response");
                let garbage = HeaderValue::from_static("%%% not base64 %%%");
                Box::pin(serves(
                    mode,
                    Canned::json(StatusCode::OK, "{}").header(name, garbage),
                ))
            },
        ),
        Scene::new(
            "25",
            "402 with a false receipt that says yes",
            Right::paid_not_delivered().settled(0..=0),
            |mode| Box::pin(false_receipt(mode, StatusCode::PAYMENT_REQUIRED)),
        ),
        Scene::new(
            "25b",
            "503 with a false receipt that says yes",
            Right::paid_not_delivered().settled(0..=0),
            |mode| Box::pin(false_receipt(mode, StatusCode::SERVICE_UNAVAILABLE)),
        ),
    ]
}

async fn resets(mode: Mode, route: Route, times: usize) -> Outcome {
    let route = route.paid_script(vec![Step::normal().reset(); times]);
    Stage::sells([route]).await.play(mode).await
}

async fn answers_late(mode: Mode) -> Outcome {
    let late = Step::normal().late(Duration::from_secs(60));
    let stage = Stage::sells([Route::new("/report", terms()).paid_script([late])]).await;
    let patience = Duration::from_millis(500);
    let stage = stage.ask(move |client, url| client.get(url).timeout(patience));
    stage.play(mode).await
}

async fn times_out(mode: Mode, route: Route) -> Outcome {
    let error = r#"{"error":"Facilitator settle request timed out"}"#;
    let bad_gateway = Canned::json(StatusCode::BAD_GATEWAY, error);
    let route = route.paid_script([Step::settled_silently(bad_gateway)]);
    Stage::sells([route]).await.play(mode).await
}

async fn fetch_failed(mode: Mode, route: Route) -> Outcome {
    let route = route.paid_script([Step::settle_failed_but_moved("fetch failed")]);
    Stage::sells([route]).await.play(mode).await
}

/// What the seller says of a later send does not take back what became of the first.
async fn then_refuses(mode: Mode, first: Step) -> Outcome {
    let mut steps = vec![Step::verified(refusal(&base_sepolia())); 99];
    steps.insert(0, first);
    let stage = Stage::sells([Route::new("/report", upfront()).paid_script(steps)]).await;
    stage.play(mode).await
}

async fn nonce_used(mode: Mode) -> Outcome {
    let clock = FakeClock::start();
    let shop = Shop::builder()
        .facilitator(Facilitator::Strict)
        .route(Route::new("/report", upfront()).paid_script([Step::normal().reset()]))
        .build();
    let stand = Stand::serve(shop.unwrap(), &clock, clock.source()).await;
    Stage::of([stand]).play(mode).await
}

async fn serves(mode: Mode, reply: Canned) -> Outcome {
    let step = Step::settled_silently(reply);
    let stage = Stage::sells([Route::new("/report", terms()).paid_script([step])]).await;
    stage.play(mode).await
}

async fn false_receipt(mode: Mode, status: StatusCode) -> Outcome {
    let receipt = json!({
        "success": true,
        "transaction": format!("0x{}", "f0".repeat(32)),
        "network": "eip155:84532",
    });
    let lie = Step::verified(Canned::json(status, "{}").receipt(&receipt));
    let stage = Stage::sells([Route::new("/report", terms()).paid_script(vec![lie; 99])]).await;
    stage.play(mode).await
}
