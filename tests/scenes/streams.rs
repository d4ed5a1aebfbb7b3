//! Bodies: one that goes out as a stream, one that comes in cut.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::Frame;
use paywait_seller::{Identifier, Route, Step};
use reqwest::Body;
use support::shop::{terms, upfront};

use crate::mode::Mode;
use crate::scene::{Outcome, Right, Scene};
use crate::stage::Stage;

pub(crate) fn scenes() -> Vec<Scene> {
    vec![
        Scene::new(
            "30",
            "the request body is a stream",
            Right::unsigned().ends(&["NotPaid"]),
            |mode| Box::pin(streams_out(mode)),
        ),
        Scene::new(
            "34",
            "the body is cut after the head; answers kept by identifier",
            Right::served(),
            |mode| {
                let route = Route::new("/report", terms()).identifier(Identifier::Optional);
                Box::pin(is_cut(mode, route))
            },
        ),
        Scene::new(
            "34b",
            "upfront: the body is cut after the head",
            Right::served(),
            |mode| Box::pin(is_cut(mode, Route::new("/report", upfront()))),
        ),
        Scene::new(
            "34c",
            "the body is cut after the head; keeps no answers",
            Right::paid_not_delivered(),
            |mode| Box::pin(is_cut(mode, Route::new("/report", terms()))),
        ),
    ]
}

/// A body that comes in two pieces and can be read once.
struct Pieces(Vec<&'static str>);

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.0.pop();
        Poll::Ready(piece.map(|piece| Ok(Frame::data(Bytes::from_static(piece.as_bytes())))))
    }
}

async fn streams_out(mode: Mode) -> Outcome {
    let stage = Stage::sells([Route::new("/report", terms())]).await;
    let stage = stage.ask(|client, url| {
        let pieces = Pieces(vec!["world", "hello "]);
        client.post(url).body(Body::wrap(pieces))
    });
    stage.play(mode).await
}

/// The caller finds out when it reads, and calls once more, plainly.
async fn is_cut(mode: Mode, route: Route) -> Outcome {
    let route = route.paid_script([Step::normal().half_body()]);
    let stage = Stage::sells([route]).await.calls(2);
    stage.play(mode).await
}
