//! Who tells the time, and who sleeps.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use paywait_signals::Timestamp;

/// Who tells the time and who sleeps. Every wait and deadline of the layers is its.
///
/// A test swaps it, and an hour of waiting takes no time.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Returns the time.
    fn now(&self) -> Timestamp;

    /// Sleeps until `at`: never shorter. A moment that has passed is no sleep.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the sleep and leaves nothing behind.
    fn sleep_until(&self, at: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// The system's clock, and tokio's timer.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = since.as_ref().map_or(0, Duration::as_millis);
        Timestamp::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
    }

    fn sleep_until(&self, at: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        // the timer counts from a moment within the current millisecond: one more makes it a floor
        let wait = self
            .now()
            .until(at)
            .saturating_add(Duration::from_millis(1));
        Box::pin(tokio::time::sleep(wait))
    }
}
