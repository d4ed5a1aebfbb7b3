//! The layer that loops.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use http::Extensions;
use paywait_call::Patience;
use reqwest::{Request, Response};
use reqwest_middleware::{Middleware, Next, Result};

use crate::part::Part;
use crate::running::LayerId;
use crate::{Clock, SystemClock, layer};

/// The layer that loops: it reads each refusal and waits, backs off or stops.
///
/// It takes the place of every other retry loop around the client: switch those off.
///
/// # Order
///
/// Any. `Retry`, `Pay` and `Pace` find each other in whatever order they are attached; the
/// outermost drives, and there is one loop.
///
/// # Does not
///
/// Pay: alone, it hands a 402 back. Send a request again whose body cannot be copied, or an
/// unpaid one that is not idempotent and got no answer, since it may have been billed.
///
/// # Defaults
///
/// Those of [`Patience`].
#[derive(Clone, Debug)]
#[must_use = "a layer does nothing until it is attached with `ClientBuilder::with`"]
pub struct Retry {
    patience: Arc<Patience>,
    clock: Arc<dyn Clock>,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            patience: Arc::default(),
            clock: Arc::new(SystemClock),
        }
    }
}

impl Retry {
    /// Sets how many attempts a call has; a price check and the first paid send are one.
    pub fn attempts(mut self, attempts: NonZeroU32) -> Self {
        Arc::make_mut(&mut self.patience).attempts = attempts;
        self
    }

    /// Sets how long a call may take: it bounds waits and new sends, and cuts none short.
    pub fn total(mut self, total: Duration) -> Self {
        Arc::make_mut(&mut self.patience).total = total;
        self
    }

    /// Sets the longest wait that a server may ask for; a longer one ends the call at once, with
    /// the time to come back.
    pub fn wait_ceiling(mut self, ceiling: Duration) -> Self {
        Arc::make_mut(&mut self.patience).wait_ceiling = ceiling;
        self
    }

    /// Sets the most that comes on top of a wait that a server asked for.
    pub fn jitter(mut self, most: Duration) -> Self {
        Arc::make_mut(&mut self.patience).jitter = most;
        self
    }

    /// Sets the first backoff and the longest, where no server names a wait.
    pub fn backoff(mut self, base: Duration, cap: Duration) -> Self {
        let patience = Arc::make_mut(&mut self.patience);
        patience.backoff_base = base;
        patience.backoff_cap = cap;
        self
    }

    /// Sends an unpaid request that got no answer again, idempotent or not. It may be billed twice.
    pub fn resend_unanswered(mut self, resend: bool) -> Self {
        Arc::make_mut(&mut self.patience).resend_unanswered = resend;
        self
    }

    /// Swaps the clock.
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }
}

#[async_trait::async_trait]
impl Middleware for Retry {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response> {
        let part = Part::Retry(Arc::clone(&self.patience));
        layer::handle(
            LayerId::of(self),
            part,
            &self.clock,
            request,
            extensions,
            next,
        )
        .await
    }
}
