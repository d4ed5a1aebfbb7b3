//! Redirects: of what is paid, and of what is asked.

use http::header::LOCATION;
use http::{HeaderValue, StatusCode};
use paywait_seller::{Canned, Route, Step};
use support::shop::{Stand, terms, upfront};

use crate::mode::Mode;
use crate::scene::{Outcome, Right, Scene};
use crate::stage::Stage;

pub(crate) fn scenes() -> Vec<Scene> {
    vec![
        Scene::new(
            "14",
            "307 to another host for what is paid",
            Right::undelivered(&["Stopped", "OutcomeUnknown"]).settled(0..=0),
            |mode| Box::pin(paid_is_redirected(mode, terms(), Step::verified)),
        ),
        Scene::new(
            "14b",
            "upfront: takes the money, then 307 to another host",
            Right::paid_not_delivered(),
            |mode| Box::pin(paid_is_redirected(mode, upfront(), Step::settled)),
        ),
        Scene::new(
            "15",
            "307 to another host that offers, followed by the client",
            Right::unsigned().ends(&["NotPaid", "Stopped"]),
            |mode| Box::pin(unpaid_is_redirected(mode, true)),
        ),
        Scene::new(
            "15b",
            "307 to another host that offers, with our client",
            Right::unsigned().ends(&["Stopped"]),
            |mode| Box::pin(unpaid_is_redirected(mode, false)),
        ),
    ]
}

async fn paid_is_redirected(
    mode: Mode,
    terms: paywait_seller::Terms,
    step: fn(Canned) -> Step,
) -> Outcome {
    let evil = evil().await;
    let steps = vec![step(elsewhere(&evil)); 99];
    let stand = Stand::open([Route::new("/report", terms).paid_script(steps)]).await;
    let stage = Stage::of([stand, evil]);
    let outcome = stage.play(mode).await;
    let reached = stage.stands[1].sends() > 0;
    outcome.object_if(reached, "the other host was reached")
}

async fn unpaid_is_redirected(mode: Mode, follows: bool) -> Outcome {
    let evil = evil().await;
    let stand = Stand::open([Route::free("/report").handler(elsewhere(&evil))]).await;
    let mut stage = Stage::of([stand, evil]);
    if follows {
        stage = stage.follows();
    }
    let outcome = stage.play(mode).await;
    let reached = stage.stands[1].sends() > 0;
    outcome.object_if(reached != follows, "the redirect was not treated as set up")
}

async fn evil() -> Stand {
    Stand::open([Route::new("/report", terms())]).await
}

fn elsewhere(other: &Stand) -> Canned {
    let there = HeaderValue::try_from(other.url("/report")).unwrap();
    Canned::new(StatusCode::TEMPORARY_REDIRECT).header(LOCATION, there)
}
