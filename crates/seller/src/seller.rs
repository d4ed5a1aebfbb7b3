//! A shop with a clock, shared by everything that serves it.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use http::Request;
use paywait_signals::Timestamp;

use crate::{Answer, Ledger, Shop};

/// A [`Shop`] with a clock, shared by everything that serves it. Clones are the same shop.
#[derive(Clone)]
pub struct Seller {
    shop: Arc<Mutex<Shop>>,
    now: Now,
}

/// Where a [`Seller`] takes the time from.
type Now = Arc<dyn Fn() -> Timestamp + Send + Sync>;

impl Seller {
    /// Returns a seller that goes by the system's clock.
    pub fn new(shop: Shop) -> Self {
        Self::with_clock(shop, Arc::new(system_time))
    }

    /// Returns a seller that goes by a clock of the caller's.
    pub fn with_clock(shop: Shop, now: Arc<dyn Fn() -> Timestamp + Send + Sync>) -> Self {
        Self {
            shop: Arc::new(Mutex::new(shop)),
            now,
        }
    }

    /// Answers one request, now.
    pub fn answer<B>(&self, request: &Request<B>) -> Answer {
        let now = (self.now)();
        self.shop().answer(request, now)
    }

    /// Returns a copy of the shop's book as it stands.
    pub fn ledger(&self) -> Ledger {
        self.shop().ledger().clone()
    }

    /// Lets `look` use the shop; no request is answered meanwhile.
    pub fn with_shop<T>(&self, look: impl FnOnce(&mut Shop) -> T) -> T {
        look(&mut self.shop())
    }

    /// Returns the time by this seller's clock.
    pub fn now(&self) -> Timestamp {
        (self.now)()
    }

    fn shop(&self) -> MutexGuard<'_, Shop> {
        // a test that panicked while it looked has broken nothing here
        self.shop.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Seller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seller").finish_non_exhaustive()
    }
}

fn system_time() -> Timestamp {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
