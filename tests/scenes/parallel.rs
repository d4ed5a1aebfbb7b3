//! Two callers of one purchase, calls that are dropped, and loops within loops.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::StatusCode;
use paywait_seller::{Canned, Identifier, Route, Step};
use support::shop::{terms, upfront};
use support::signer::CountingSigner;

use crate::mode::Mode;
use crate::scene::{Outcome, Right, Scene};
use crate::stage::Stage;

pub(crate) fn scenes() -> Vec<Scene> {
    vec![
        Scene::new(
            "19",
            "two callers at once, answers kept by identifier",
            Right::one_purchase().ends(&["Served", "InFlight"]),
            |mode| Box::pin(two_callers(mode)),
        )
        .in_modes(&Mode::TOLD),
        Scene::new(
            "20",
            "two callers at once, and the answers are slow and lost",
            Right::one_purchase().ends(&["Served", "InFlight", "OutcomeUnknown"]),
            |mode| Box::pin(shows_in_turn(mode)),
        )
        .in_modes(&Mode::TOLD),
        Scene::new(
            "21",
            "upfront: dropped while the seller is silent, then called again",
            Right::served(),
            |mode| Box::pin(dropped_in_flight(mode)),
        ),
        Scene::new(
            "21b",
            "dropped while the wallet signs, then called again",
            Right::served().signed(1..=2),
            |mode| Box::pin(dropped_at_the_wallet(mode)),
        ),
        Scene::new(
            "28",
            "upfront: 500 for ever, and loops on both sides of ours",
            Right::paid_not_delivered().within(65),
            |mode| Box::pin(loops_within_loops(mode)),
        ),
    ]
}

async fn two_callers(mode: Mode) -> Outcome {
    let slow = Step::normal().late(Duration::from_millis(100));
    let route = Route::new("/report", terms())
        .identifier(Identifier::Optional)
        .paid_script([slow]);
    let stage = Stage::sells([route]).await.named();
    let outcome = stage.play_two(mode).await;
    let nobody = !outcome.delivered;
    outcome.object_if(nobody, "nobody was served")
}

async fn shows_in_turn(mode: Mode) -> Outcome {
    let lost = Step::normal().stall(Duration::from_millis(50));
    let route = Route::new("/report", upfront()).paid_script(vec![lost; 3]);
    let stage = Stage::sells([route]).await.named();
    let outcome = stage.play_two(mode).await;
    outcome.object_if(stage.gauge.most() > 1, "two paid sends were out at once")
}

async fn dropped_in_flight(mode: Mode) -> Outcome {
    let silent = Step::normal().stall(Duration::from_secs(60));
    let stage = Stage::sells([Route::new("/report", upfront()).paid_script([silent])]).await;
    let stage = stage.named();
    let cue = stage.stands[0].arrived(2);
    stage.play_dropped(mode, cue).await
}

async fn dropped_at_the_wallet(mode: Mode) -> Outcome {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let signer = CountingSigner::random().before(move || {
        let first = counted.fetch_add(1, Ordering::SeqCst) == 0;
        async move {
            if first {
                std::future::pending::<()>().await;
            }
        }
    });
    let mut stage = Stage::sells([Route::new("/report", terms())]).await.named();
    stage.buyer = stage.buyer.signer(signer);
    let cue = async move {
        while asked.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
    };
    stage.play_dropped(mode, cue).await
}

async fn loops_within_loops(mode: Mode) -> Outcome {
    let failure = Step::settled(Canned::new(StatusCode::INTERNAL_SERVER_ERROR));
    let route = Route::new("/report", upfront()).paid_script(vec![failure; 999]);
    Stage::sells([route]).await.loops().play(mode).await
}
