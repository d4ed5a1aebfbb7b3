//! The layer that slows down before the refusal.

use std::sync::Arc;

use http::Extensions;
use paywait_pacer::{MemoryStore, QuotaStore};
use reqwest::{Request, Response};
use reqwest_middleware::{Middleware, Next, Result};

use crate::part::Part;
use crate::running::LayerId;
use crate::{Clock, SystemClock, layer};

/// The layer that slows down before the refusal: it reads the `RateLimit` fields of each reply and
/// lets no send go that they say would be refused.
///
/// # Order
///
/// Any. Attached innermost or outermost, the call asks it before each send, and before anything is
/// signed, so that a signature does not age in a queue.
///
/// # Does not
///
/// Retry, or wait longer than the call's deadline: a slot beyond it ends the call, with the time
/// to come back. See the sends that a retrying layer makes by itself if none of our layers
/// stands inside it.
#[derive(Clone, Debug)]
#[must_use = "a layer does nothing until it is attached with `ClientBuilder::with`"]
pub struct Pace {
    store: Arc<dyn QuotaStore>,
    clock: Arc<dyn Clock>,
}

impl Default for Pace {
    /// Returns a layer with a quota store of its own, in memory.
    fn default() -> Self {
        Self::with_store(Arc::new(MemoryStore::default()))
    }
}

impl Pace {
    /// Returns a layer over `store`: clients that share one share what they know of each origin.
    pub fn with_store(store: Arc<dyn QuotaStore>) -> Self {
        Self {
            store,
            clock: Arc::new(SystemClock),
        }
    }

    /// Swaps the clock.
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }
}

#[async_trait::async_trait]
impl Middleware for Pace {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response> {
        let part = Part::Pace(Arc::clone(&self.store));
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
