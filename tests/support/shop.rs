//! A seller with a socket and a clock, and what its ledger says.

use std::collections::BTreeSet;
use std::sync::Arc;

use alloy_primitives::{Address, B256};
use http::StatusCode;
use paywait::Timestamp;
use paywait_seller::{Canned, Flow, RawServer, Route, Seller, Shop, Terms};

use crate::clock::FakeClock;

/// A seller with a socket and a clock.
#[derive(Debug)]
pub struct Stand {
    /// The clock that the seller goes by.
    pub clock: Arc<FakeClock>,
    /// The seller.
    pub seller: Seller,
    server: RawServer,
}

impl Stand {
    /// Opens a stand that sells `routes`.
    ///
    /// # Panics
    ///
    /// Two routes have the same path, or there is no port.
    pub async fn open(routes: impl IntoIterator<Item = Route>) -> Self {
        let clock = FakeClock::start();
        let shop = routes
            .into_iter()
            .fold(Shop::builder(), |shop, route| shop.route(route));
        let shop: Shop = shop.build().unwrap_or_else(|error| panic!("{error}"));
        let seller = Seller::with_clock(shop, clock.source());
        let server = RawServer::start(seller.clone()).await;
        Self {
            clock,
            seller,
            server: server.unwrap_or_else(|error| panic!("{error}")),
        }
    }

    /// Opens a stand for `shop`, whose own clock is `source`; `clock` is the buyer's.
    ///
    /// # Panics
    ///
    /// There is no port.
    pub async fn serve(
        shop: Shop,
        clock: &Arc<FakeClock>,
        source: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    ) -> Self {
        let seller = Seller::with_clock(shop, source);
        let server = RawServer::start(seller.clone()).await;
        Self {
            clock: Arc::clone(clock),
            seller,
            server: server.unwrap_or_else(|error| panic!("{error}")),
        }
    }

    /// Returns the address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.server.url())
    }

    /// Returns how many requests arrived.
    pub fn sends(&self) -> usize {
        self.seller.ledger().requests().len()
    }

    /// Returns how many requests arrived that carried a payment.
    pub fn paid_sends(&self) -> usize {
        self.seller.ledger().paid_requests().count()
    }

    /// Returns how many distinct nonces were seen.
    pub fn nonces(&self) -> usize {
        let ledger = self.seller.ledger();
        let nonces: BTreeSet<B256> = ledger
            .paid_requests()
            .filter_map(|request| request.nonce)
            .collect();
        nonces.len()
    }

    /// Returns how often money moved.
    pub fn settlements(&self) -> usize {
        self.seller.ledger().settlements().len()
    }

    /// Waits until `count` requests have arrived.
    pub async fn arrived(&self, count: usize) {
        while self.sends() < count {
            tokio::task::yield_now().await;
        }
    }
}

/// Returns the price of all things here: 0.01 USDC, settled after the handler.
pub fn terms() -> Terms {
    Terms::usdc(10_000, Address::repeat_byte(0x22)).max_timeout(600)
}

/// Returns the same price, settled before the handler: its failures are paid for.
pub fn upfront() -> Terms {
    terms().flow(Flow::Upfront)
}

/// Returns a 429 that asks for a second.
pub fn slow_down() -> Canned {
    Canned::new(StatusCode::TOO_MANY_REQUESTS).retry_after(1)
}
