//! What the three layers have in common: the outermost drives, the others join.

use std::sync::Arc;

use http::Extensions;
use reqwest::{Request, Response};
use reqwest_middleware::{Next, Result};

use crate::Clock;
use crate::driver::Driver;
use crate::part::Part;
use crate::running::{Found, LayerId, Running};

/// Handles a request that meets `layer`, which has `part` to lend.
#[expect(
    clippy::manual_async_fn,
    reason = "an async fn keeps its arguments twice, and every layer of every call has one"
)]
pub(crate) fn handle<'a>(
    layer: LayerId,
    part: Part,
    clock: &'a Arc<dyn Clock>,
    request: Request,
    extensions: &'a mut Extensions,
    next: Next<'a>,
) -> impl Future<Output = Result<Response>> + Send + 'a {
    async move {
        match Running::find(extensions, &request) {
            Found::Inside(running) => {
                #[cfg(feature = "pay")]
                running.guard_payment(&request)?;
                if running.enter(layer, &part).await {
                    next.run(request, extensions).await
                } else {
                    Err(running.turn_back(request))
                }
            }
            Found::Beside => next.run(request, extensions).await,
            // apart, so that a layer that only joins does not carry room for a whole drive
            Found::Outside => {
                let driver = Driver::start(&part, clock, request, extensions);
                Box::pin(driver.run(next)).await
            }
        }
    }
}
