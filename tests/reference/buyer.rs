//! A buyer with all three layers and a ledger that can be asked, and how its calls ended.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

use std::sync::Arc;
use std::time::Duration;

use alloy_signer_local::PrivateKeySigner;
use paywait::{
    Clock as _, End, Limits, MemoryLedger, Pace, Pay, Retry, SystemClock, Usd, Wallet, report, usd,
};
use reqwest::Response;
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};

/// A buyer with a wallet and a ledger of its own.
pub(crate) struct Buyer {
    pub(crate) client: ClientWithMiddleware,
    books: Arc<MemoryLedger>,
}

impl Buyer {
    /// Returns a buyer whose calls have so many attempts, with short waits of its own between.
    pub(crate) fn with_attempts(attempts: u32) -> Self {
        let books = Arc::new(MemoryLedger::new());
        let wallet = Wallet::evm(PrivateKeySigner::random());
        let limits = Limits::per_call(usd("0.05").unwrap()).per_day(usd("5").unwrap());
        let retry = Retry::default()
            .attempts(attempts.try_into().unwrap())
            .jitter(Duration::from_millis(50))
            .backoff(Duration::from_millis(20), Duration::from_millis(50));
        let http = paywait::client_builder().no_proxy().build().unwrap();
        let client = ClientBuilder::new(http)
            .with(retry)
            .with(Pay::with_ledger(
                wallet,
                limits,
                Arc::<MemoryLedger>::clone(&books),
            ))
            .with(Pace::default())
            .build();
        Self { client, books }
    }

    /// What counts against the day: spent or held.
    pub(crate) fn held(&self) -> Usd {
        self.books.used_today(SystemClock::default().now())
    }
}

/// The status and the end of a call that was answered.
pub(crate) fn ended(reply: &Response) -> (u16, End) {
    (reply.status().as_u16(), report(reply).end.clone())
}
