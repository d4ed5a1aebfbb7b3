//! Sellers that say no to a payment: honestly, falsely, or at another price.

use std::time::Duration;

use alloy_primitives::{Address, U256};
use http::StatusCode;
use paywait_seller::{Canned, Identifier, Route, Step};
use serde_json::{Value, json};
use support::shop::{terms, upfront};

use crate::mode::Mode;
use crate::offers::{base_sepolia, offer};
use crate::scene::{Outcome, Right, Scene};
use crate::stage::Stage;

pub(crate) fn scenes() -> Vec<Scene> {
    let mut scenes = said_no();
    scenes.extend(another_price());
    scenes
}

fn said_no() -> Vec<Scene> {
    vec![
        Scene::new(
            "9",
            "takes the money and asks for it again, for ever",
            Right::undelivered(&["OutcomeUnknown", "Stopped", "PaidNotDelivered"]),
            |mode| {
                let step = Step::refused_but_moved("Payment required");
                Box::pin(refuses(mode, Route::new("/report", upfront()), step))
            },
        ),
        Scene::new(
            "12",
            "insufficient_funds; later the funds arrive and it settles",
            Right::undelivered(&["Stopped"]),
            |mode| {
                let step = Step::settle_failed("insufficient_funds");
                Box::pin(cashes_in(mode, step, 1))
            },
        ),
        Scene::new(
            "12b",
            "insufficient_funds; called again when the window is over",
            Right::one_purchase().settled(0..=1).signed(1..=2).ends(&[
                "Served",
                "Stopped",
                "NotPaid",
                "OutcomeUnknown",
            ]),
            |mode| Box::pin(called_again_when_dead(mode)),
        )
        .in_modes(&Mode::TOLD),
        Scene::new(
            "23",
            "409: the identifier belongs to another payload",
            Right::undelivered(&["OutcomeUnknown", "Stopped"])
                .settled(0..=0)
                .within(2),
            |mode| {
                let error = r#"{"error":"payment identifier already used with another payload"}"#;
                let step = Step::reply(Canned::json(StatusCode::CONFLICT, error));
                let route = Route::new("/report", terms()).identifier(Identifier::Optional);
                Box::pin(refuses(mode, route, step))
            },
        ),
        Scene::new(
            "26",
            "no settlement, no transaction; settles 50 s later",
            Right::undelivered(&["Stopped"]),
            |mode| {
                let step = Step::settle_failed("invalid_exact_evm_transaction_simulation_failed");
                Box::pin(cashes_in(mode, step, 50))
            },
        ),
        Scene::new(
            "27",
            "412: an allowance is missing",
            Right::undelivered(&["Stopped"]).settled(0..=0),
            |mode| {
                let mut wants = offer(&json!([base_sepolia()]));
                wants["error"] = json!("permit2_allowance_required");
                let reply = Canned::new(StatusCode::PRECONDITION_FAILED).offer(&wants);
                let route = Route::new("/report", terms());
                Box::pin(refuses(mode, route, Step::verified(reply)))
            },
        ),
    ]
}

fn another_price() -> Vec<Scene> {
    vec![
        Scene::new(
            "11",
            "the price rises above policy when it is paid",
            Right::undelivered(&["Stopped", "NotPaid", "OutcomeUnknown"])
                .settled(0..=0)
                .counted(None),
            |mode| Box::pin(reprices(mode, vec![900_000])),
        ),
        Scene::new(
            "11b",
            "the price rises within policy when it is paid, once",
            Right::one_purchase()
                .signed(1..=2)
                .settled(0..=1)
                .ends(&["Served", "Stopped", "NotPaid", "OutcomeUnknown"])
                .counted(None),
            |mode| Box::pin(reprices(mode, vec![15_000])),
        ),
        Scene::new(
            "11c",
            "refused before the broadcast, at a price that rose within policy",
            Right::one_purchase()
                .signed(1..=2)
                .settled(0..=1)
                .ends(&["Served", "Stopped", "NotPaid", "OutcomeUnknown"])
                .counted(None),
            |mode| Box::pin(refuses_the_old_price(mode)),
        ),
        Scene::new(
            "11d",
            "refused before the broadcast, then another payee is to be paid",
            Right::undelivered(&["Stopped", "NotPaid", "OutcomeUnknown"]).settled(0..=0),
            |mode| {
                let mut entry = base_sepolia();
                entry["payTo"] = json!(Address::repeat_byte(0x66).to_string());
                let step = Step::verified(refusal(&entry));
                Box::pin(refuses(mode, Route::new("/report", terms()), step))
            },
        ),
        Scene::new(
            "31",
            "the price rises a little whenever it is paid",
            Right::undelivered(&["Stopped", "NotPaid", "OutcomeUnknown", "Exhausted"])
                .signed(1..=2)
                .settled(0..=0)
                .counted(None),
            |mode| Box::pin(reprices(mode, (10_100..20_000).step_by(100).collect())),
        ),
        Scene::new(
            "31b",
            "refuses every signature with a reason from before the broadcast",
            Right::undelivered(&["Stopped", "NotPaid", "OutcomeUnknown", "Exhausted"])
                .signed(1..=2)
                .settled(0..=0),
            |mode| {
                let step = Step::refused("invalid_exact_evm_payload_authorization_valid_before");
                Box::pin(refuses(mode, Route::new("/report", terms()), step))
            },
        ),
    ]
}

async fn refuses(mode: Mode, route: Route, step: Step) -> Outcome {
    let stage = Stage::sells([route.paid_script(vec![step; 99])]).await;
    stage.play(mode).await
}

/// Three hours pass after each call, so that by any margin nothing old can be settled.
async fn called_again_when_dead(mode: Mode) -> Outcome {
    let step = Step::settle_failed("insufficient_funds");
    let stage = Stage::sells([Route::new("/report", terms()).paid_script([step])]).await;
    let stage = stage.named().calls(2).after_each_call(|stage| {
        stage.clock().advance(Duration::from_secs(3 * 3_600));
    });
    stage.play(mode).await
}

/// After each call the seller settles all that it was shown.
async fn cashes_in(mode: Mode, step: Step, seconds: u64) -> Outcome {
    let route = Route::new("/report", terms()).paid_script(vec![step; 99]);
    let stage = Stage::sells([route]).await.after_each_call(match seconds {
        50 => |stage| stage.cash_in_after(Duration::from_secs(50)),
        _ => |stage| stage.cash_in_after(Duration::from_secs(1)),
    });
    stage.play(mode).await
}

async fn refuses_the_old_price(mode: Mode) -> Outcome {
    let mut entry = base_sepolia();
    entry["amount"] = json!("15000");
    let steps = [
        Step::verified(refusal(&entry)),
        Step::normal().price(U256::from(15_000)),
    ];
    let stage = Stage::sells([Route::new("/report", terms()).paid_script(steps)]).await;
    stage.play(mode).await
}

/// A 402 with a reason from before the broadcast, which asks for this in its place.
pub(crate) fn refusal(entry: &Value) -> Canned {
    let mut wants = offer(&json!([entry]));
    wants["error"] = json!("invalid_exact_evm_payload_authorization_value_mismatch");
    Canned::json(StatusCode::PAYMENT_REQUIRED, "{}").offer(&wants)
}

async fn reprices(mode: Mode, prices: Vec<u64>) -> Outcome {
    let steps = prices
        .into_iter()
        .map(|price| Step::normal().price(U256::from(price)));
    let stage = Stage::sells([Route::new("/report", terms()).paid_script(steps)]).await;
    stage.play(mode).await
}
