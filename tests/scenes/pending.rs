//! Settlements that were broadcast and are not confirmed.

use std::time::Duration;

use paywait_seller::{Route, Step};
use serde_json::json;
use support::shop::{terms, upfront};

use crate::mode::Mode;
use crate::offers::base_sepolia;
use crate::refused::refusal;
use crate::scene::{Outcome, Right, Scene};
use crate::stage::Stage;

pub(crate) fn scenes() -> Vec<Scene> {
    vec![
        Scene::new(
            "6",
            "pending, not mined yet; serves when shown again",
            Right::served(),
            |mode| {
                let steps = vec![Step::pending(Duration::from_secs(300))];
                Box::pin(pending(mode, Route::new("/report", terms()), steps))
            },
        ),
        Scene::new(
            "6b",
            "pending, mined before it is shown again",
            Right::paid_not_delivered(),
            |mode| {
                let steps = vec![Step::pending(Duration::from_millis(1))];
                Box::pin(pending(mode, Route::new("/report", terms()), steps))
            },
        ),
        Scene::new(
            "6c",
            "upfront: pending three times, then serves",
            Right::served(),
            |mode| {
                let steps = vec![Step::pending(Duration::from_secs(300)); 3];
                Box::pin(pending(mode, Route::new("/report", upfront()), steps))
            },
        ),
        Scene::new(
            "6d",
            "upfront: pending for ever",
            Right::undelivered(&["OutcomeUnknown"]),
            |mode| {
                let steps = vec![Step::pending(Duration::from_secs(3_600)); 99];
                Box::pin(pending(mode, Route::new("/report", upfront()), steps))
            },
        ),
        Scene::new(
            "6e",
            "pending, and the transaction is never mined",
            Right::undelivered(&["OutcomeUnknown"]).settled(0..=0),
            |mode| {
                let steps = vec![Step::pending_and_lost(); 99];
                Box::pin(pending(mode, Route::new("/report", terms()), steps))
            },
        ),
        Scene::new(
            "6f",
            "pending, then refused before the broadcast at another price",
            Right::undelivered(&["OutcomeUnknown", "Stopped"]),
            |mode| {
                let mut entry = base_sepolia();
                entry["amount"] = json!("15000");
                let mut steps = vec![Step::verified(refusal(&entry)); 99];
                steps.insert(0, Step::pending(Duration::from_secs(3_600)));
                Box::pin(pending(mode, Route::new("/report", upfront()), steps))
            },
        ),
    ]
}

async fn pending(mode: Mode, route: Route, steps: Vec<Step>) -> Outcome {
    let stage = Stage::sells([route.paid_script(steps)]).await;
    stage.play(mode).await
}
