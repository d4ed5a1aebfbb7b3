//! Clients with our layers in any order, and what is known on their side.

use std::sync::Arc;

use paywait::{
    Clock, Ledger, Limits, MemoryLedger, MemoryStore, Pace, Pay, Report, Retry, Wallet, usd,
};
use reqwest::Response;
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};

use crate::clock::FakeClock;
use crate::foreign::Tap;
use crate::signer::CountingSigner;

/// One of our three layers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "tests list all of them")]
pub enum Ours {
    /// `paywait::Retry`
    Retry,
    /// `paywait::Pay`
    Pay,
    /// `paywait::Pace`
    Pace,
}

impl Ours {
    /// The three in all their orders, outermost first.
    pub const ORDERS: [[Self; 3]; 6] = [
        [Self::Retry, Self::Pay, Self::Pace],
        [Self::Retry, Self::Pace, Self::Pay],
        [Self::Pay, Self::Retry, Self::Pace],
        [Self::Pay, Self::Pace, Self::Retry],
        [Self::Pace, Self::Retry, Self::Pay],
        [Self::Pace, Self::Pay, Self::Retry],
    ];
}

/// What all clients of one buyer share: wallet, ledger, quota store, clock.
#[derive(Clone, Debug)]
pub struct Buyer {
    /// What pays.
    pub signer: CountingSigner,
    /// Where purchases stand.
    pub ledger: Arc<MemoryLedger>,
    /// Where quotas stand.
    pub store: Arc<MemoryStore>,
    /// What leaves.
    pub tap: Tap,
    clock: Arc<FakeClock>,
    books: Option<Arc<dyn Ledger>>,
}

impl Buyer {
    /// Returns a buyer who goes by `clock`.
    pub fn new(clock: &Arc<FakeClock>) -> Self {
        Self {
            signer: CountingSigner::random(),
            ledger: Arc::default(),
            store: Arc::default(),
            tap: Tap::default(),
            clock: Arc::clone(clock),
            books: None,
        }
    }

    /// Signs with `signer`.
    #[must_use]
    pub fn signer(mut self, signer: CountingSigner) -> Self {
        self.signer = signer;
        self
    }

    /// Pays by `books` in place of the ledger in memory.
    #[must_use]
    pub fn books(mut self, books: Arc<dyn Ledger>) -> Self {
        self.books = Some(books);
        self
    }

    /// Attaches one of our layers.
    pub fn attach(&self, builder: ClientBuilder, ours: Ours) -> ClientBuilder {
        let clock: Arc<dyn Clock> = Arc::<FakeClock>::clone(&self.clock);
        match ours {
            Ours::Retry => builder.with(Retry::default().with_clock(clock)),
            Ours::Pay => {
                let wallet = Wallet::evm(self.signer.clone());
                let own: Arc<dyn Ledger> = Arc::<MemoryLedger>::clone(&self.ledger);
                let books = self.books.clone().unwrap_or(own);
                builder.with(Pay::with_ledger(wallet, limits(), books).with_clock(clock))
            }
            Ours::Pace => {
                let store = Arc::<MemoryStore>::clone(&self.store);
                builder.with(Pace::with_store(store).with_clock(clock))
            }
        }
    }

    /// Returns a client with these layers of ours, outermost first.
    pub fn client(&self, ours: &[Ours]) -> ClientWithMiddleware {
        let layers = ours
            .iter()
            .fold(bare(), |builder, ours| self.attach(builder, *ours));
        layers.with(self.tap.clone()).build()
    }

    /// Returns a client with these layers of ours, and a foreign one outside of all.
    pub fn client_inside(
        &self,
        outside: impl reqwest_middleware::Middleware,
        ours: &[Ours],
    ) -> ClientWithMiddleware {
        let outermost = bare().with(outside);
        let layers = ours
            .iter()
            .fold(outermost, |builder, ours| self.attach(builder, *ours));
        layers.with(self.tap.clone()).build()
    }
}

/// Returns a client without layers.
///
/// # Panics
///
/// reqwest cannot be set up.
pub fn bare() -> ClientBuilder {
    let client = paywait::client_builder().no_proxy().build();
    ClientBuilder::new(client.unwrap_or_else(|error| panic!("{error}")))
}

/// Returns the limits that every buyer here has.
///
/// # Panics
///
/// Dollars cannot be read.
pub fn limits() -> Limits {
    let dollars = |amount| usd(amount).unwrap_or_else(|error| panic!("{error}"));
    Limits::per_call(dollars("0.05")).per_day(dollars("5"))
}

/// Returns the report of a call, however it ended.
pub fn report(ended: &reqwest_middleware::Result<Response>) -> Option<&Report> {
    match ended {
        Ok(response) => Report::of(response.extensions()),
        Err(error) => paywait::Error::find(error).map(paywait::Error::report),
    }
}

/// Returns the status of a call's answer.
pub fn status(ended: &reqwest_middleware::Result<Response>) -> Option<u16> {
    ended
        .as_ref()
        .ok()
        .map(|response| response.status().as_u16())
}
