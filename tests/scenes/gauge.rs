//! An innermost layer that sees how many paid sends are out at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::Extensions;
use reqwest::{Request, Response};
use reqwest_middleware::{Middleware, Next, Result};

/// A layer that sees how many paid sends are out at once. Clones count together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gauge {
    out: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

impl Gauge {
    /// Returns how many paid sends were out at once, at most.
    pub(crate) fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

#[async_trait::async_trait]
impl Middleware for Gauge {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response> {
        if !request.headers().contains_key("payment-signature") {
            return next.run(request, extensions).await;
        }
        let out = self.out.fetch_add(1, Ordering::SeqCst).saturating_add(1);
        self.most.fetch_max(out, Ordering::SeqCst);
        let _back = Back(&self.out);
        next.run(request, extensions).await
    }
}

/// Counts a send back in, dropped or not.
struct Back<'a>(&'a AtomicUsize);

impl Drop for Back<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
