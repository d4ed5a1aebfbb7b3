//! Sellers that have no time or no luck: 429, 503 and 500, before and after the money moved.

use http::StatusCode;
use paywait_seller::{Canned, Identifier, Route, Step};
use support::shop::{slow_down, terms, upfront};

use crate::mode::Mode;
use crate::scene::{Outcome, Right, Scene};
use crate::stage::Stage;

pub(crate) fn scenes() -> Vec<Scene> {
    vec![
        Scene::new(
            "1",
            "upfront: takes the money, answers 429 for ever",
            Right::paid_not_delivered(),
            |mode| Box::pin(paid_429(mode, 99)),
        ),
        Scene::new(
            "1b",
            "upfront: takes the money, answers 429 twice, then serves",
            Right::served(),
            |mode| Box::pin(paid_429(mode, 2)),
        ),
        Scene::new(
            "2",
            "limiter in the handler: 429 without a receipt, then serves",
            Right::served(),
            |mode| Box::pin(unpaid_429(mode, 600, 1)),
        ),
        Scene::new(
            "2b",
            "the same, and the wait is longer than the window",
            Right::one_purchase().settled(0..=1).signed(1..=2).ends(&[
                "Served",
                "Deferred",
                "Stopped",
                "Exhausted",
                "OutcomeUnknown",
            ]),
            |mode| Box::pin(unpaid_429(mode, 60, 90)),
        ),
        Scene::new(
            "3",
            "503 before the paywall, then serves",
            Right::served(),
            |mode| Box::pin(busy_before_the_paywall(mode)),
        ),
        Scene::new(
            "17",
            "handler fails twice with 500, then serves",
            Right::served(),
            |mode| Box::pin(handler_fails(mode, 2)),
        ),
        Scene::new(
            "17b",
            "handler fails with 500 for ever",
            Right::undelivered(&["OutcomeUnknown", "Exhausted", "Stopped"]).settled(0..=0),
            |mode| Box::pin(handler_fails(mode, 99)),
        ),
        Scene::new(
            "18",
            "upfront: takes the money, handler fails with 500 for ever",
            Right::paid_not_delivered(),
            |mode| Box::pin(paid_500(mode, 99)),
        ),
        Scene::new(
            "18b",
            "upfront: takes the money, handler fails once, then serves",
            Right::served(),
            |mode| Box::pin(paid_500(mode, 1)),
        ),
        Scene::new(
            "22",
            "stores a 429 under the identifier and replays it",
            Right::undelivered(&["OutcomeUnknown", "Exhausted", "Stopped"])
                .settled(0..=0)
                .within(6),
            |mode| Box::pin(stored_429(mode)),
        ),
    ]
}

async fn paid_429(mode: Mode, times: usize) -> Outcome {
    let steps = vec![Step::settled(slow_down()); times];
    let stage = Stage::sells([Route::new("/report", upfront()).paid_script(steps)]).await;
    stage.play(mode).await
}

async fn unpaid_429(mode: Mode, window: u64, wait: u64) -> Outcome {
    let busy = Canned::new(StatusCode::TOO_MANY_REQUESTS).retry_after(wait);
    let steps = vec![Step::verified(busy); 2];
    let route = Route::new("/report", terms().max_timeout(window)).paid_script(steps);
    Stage::sells([route]).await.play(mode).await
}

async fn busy_before_the_paywall(mode: Mode) -> Outcome {
    let busy = Canned::new(StatusCode::SERVICE_UNAVAILABLE).retry_after(1);
    let route = Route::new("/report", terms()).script([Step::reply(busy)]);
    Stage::sells([route]).await.play(mode).await
}

async fn handler_fails(mode: Mode, times: usize) -> Outcome {
    let steps = vec![Step::verified(failure()); times];
    let stage = Stage::sells([Route::new("/report", terms()).paid_script(steps)]).await;
    stage.play(mode).await
}

async fn paid_500(mode: Mode, times: usize) -> Outcome {
    let steps = vec![Step::settled(failure()); times];
    let stage = Stage::sells([Route::new("/report", upfront()).paid_script(steps)]).await;
    stage.play(mode).await
}

async fn stored_429(mode: Mode) -> Outcome {
    let route = Route::new("/report", terms())
        .identifier(Identifier::Optional)
        .store_errors(true)
        .paid_script([Step::verified(slow_down())]);
    Stage::sells([route]).await.play(mode).await
}

fn failure() -> Canned {
    Canned::new(StatusCode::INTERNAL_SERVER_ERROR)
}
