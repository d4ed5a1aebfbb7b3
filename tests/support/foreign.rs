//! Layers that are not ours, to stand around and between ours.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{Extensions, HeaderName, HeaderValue};
use reqwest::{Request, Response};
use reqwest_middleware::{ClientBuilder, Middleware, Next, Result};
use reqwest_retry::policies::ExponentialBackoff;
use reqwest_retry::{Jitter, RetryTransientMiddleware};

/// What a foreign layer does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "tests list all of them")]
pub enum Foreign {
    /// Nothing.
    Neutral,
    /// It adds a query to the URL.
    Query,
    /// It hands on extensions of its own in place of those it was given.
    Replace,
    /// It is `reqwest-retry`, which sends by itself.
    Retry,
}

impl Foreign {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Neutral, Self::Query, Self::Replace, Self::Retry];

    /// Attaches it.
    pub fn attach(self, builder: ClientBuilder) -> ClientBuilder {
        match self {
            Self::Neutral | Self::Query | Self::Replace => builder.with(self),
            Self::Retry => builder.with(outer_loop(3)),
        }
    }
}

#[async_trait::async_trait]
impl Middleware for Foreign {
    async fn handle(
        &self,
        mut request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response> {
        match self {
            Self::Query => {
                request.url_mut().set_query(Some("foreign=1"));
                next.run(request, extensions).await
            }
            Self::Replace => next.run(request, &mut Extensions::new()).await,
            Self::Neutral | Self::Retry => next.run(request, extensions).await,
        }
    }
}

/// Returns `reqwest-retry` with as many `retries`, and hardly a pause between them.
pub fn outer_loop(retries: u32) -> RetryTransientMiddleware<ExponentialBackoff> {
    let policy = ExponentialBackoff::builder()
        .retry_bounds(Duration::from_millis(1), Duration::from_millis(2))
        .jitter(Jitter::None)
        .build_with_max_retries(retries);
    RetryTransientMiddleware::new_with_policy(policy)
}

/// A layer that counts its requests and keeps the payment of each: innermost, it sees what leaves.
#[derive(Clone, Debug, Default)]
pub struct Tap {
    requests: Arc<AtomicUsize>,
    payments: Arc<Mutex<Vec<(HeaderName, HeaderValue)>>>,
}

impl Tap {
    /// Returns how many requests passed.
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    /// Returns the payment of each paid request that passed, byte for byte.
    pub fn payments(&self) -> Vec<HeaderValue> {
        let seen = self.seen().into_iter();
        seen.map(|(_, payment)| payment).collect()
    }

    /// Returns the header in which each payment passed.
    pub fn payment_headers(&self) -> Vec<HeaderName> {
        self.seen().into_iter().map(|(name, _)| name).collect()
    }

    fn seen(&self) -> Vec<(HeaderName, HeaderValue)> {
        let payments = self.payments.lock();
        payments.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns whether all payments that passed are the same bytes.
    pub fn shows_one_payment(&self) -> bool {
        let payments = self.payments();
        let first = payments.first();
        first.is_some() && payments.iter().all(|payment| Some(payment) == first)
    }
}

#[async_trait::async_trait]
impl Middleware for Tap {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        for name in PAYMENT_HEADERS {
            if let Some(payment) = request.headers().get(&name) {
                let mut payments = self.payments.lock().unwrap_or_else(PoisonError::into_inner);
                payments.push((name, payment.clone()));
            }
        }
        next.run(request, extensions).await
    }
}

/// Where a payment stands, in each version of x402.
const PAYMENT_HEADERS: [HeaderName; 2] = [
    HeaderName::from_static("payment-signature"),
    HeaderName::from_static("x-payment"),
];
