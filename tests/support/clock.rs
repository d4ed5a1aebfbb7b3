//! A clock that a test sets, on which an hour of waiting takes no time.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use paywait::{Clock, Timestamp};

/// A clock that a test sets, on which an hour of waiting takes no time: a sleep moves it to the
/// moment that was waited for.
///
/// A sleep gives the sockets [`GRACE`] first, since the layers also time what comes in: a time-out
/// that ended at once would cut off what is on its way.
#[derive(Debug)]
pub struct FakeClock {
    millis: AtomicU64,
    stopped: AtomicBool,
}

impl FakeClock {
    /// Returns a clock that stands at a moment in 2025.
    pub fn start() -> Arc<Self> {
        Arc::new(Self {
            millis: AtomicU64::new(1_750_000_000_000),
            stopped: AtomicBool::new(false),
        })
    }

    /// Returns this clock as the time of a seller.
    pub fn source(self: &Arc<Self>) -> Arc<dyn Fn() -> Timestamp + Send + Sync> {
        let clock = Arc::clone(self);
        Arc::new(move || clock.now())
    }

    /// Moves it on.
    pub fn advance(&self, by: Duration) {
        let later = self.now().saturating_add(by);
        self.millis.fetch_max(later.as_millis(), Ordering::SeqCst);
    }

    /// From now on no sleep ends.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
    }

    /// Sleeps end again, those that begin from now on.
    pub fn resume(&self) {
        self.stopped.store(false, Ordering::SeqCst);
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.millis.load(Ordering::SeqCst))
    }

    fn sleep_until(&self, at: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            if at <= self.now() {
                return;
            }
            if self.stopped.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(GRACE).await;
            self.millis.fetch_max(at.as_millis(), Ordering::SeqCst);
        })
    }
}

/// The real time that any sleep takes.
pub const GRACE: Duration = Duration::from_millis(20);
