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
pub(crate) async fn handle(
    layer: LayerId,
    part: Part,
    clock: &Arc<dyn Clock>,
    request: Request,
    extensions: &mut Extensions,
    next: Next<'_>,
) -> Result<Response> {
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
