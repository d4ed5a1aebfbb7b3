//! A mock seller that goes by the system's clock, as the program does.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

use paywait_seller::{RawServer, Route, Seller, Shop};

/// A mock seller of one thing at `/it`, by the system's clock.
pub(crate) struct Stall {
    seller: Seller,
    server: RawServer,
}

impl Stall {
    pub(crate) async fn open(route: Route) -> Self {
        let seller = Seller::new(Shop::builder().route(route).build().unwrap());
        let server = RawServer::start(seller.clone()).await.unwrap();
        Self { seller, server }
    }

    pub(crate) fn url(&self) -> String {
        format!("{}/it", self.server.url())
    }

    /// How many requests came, how many distinct nonces were signed, how often money moved.
    pub(crate) fn saw(&self) -> (usize, usize, usize) {
        let ledger = self.seller.ledger();
        (
            ledger.requests().len(),
            ledger.authorizations_seen(),
            ledger.settlements().len(),
        )
    }
}
