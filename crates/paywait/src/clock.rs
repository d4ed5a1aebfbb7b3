//! Who tells the time, and who sleeps.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use paywait_signals::Timestamp;

/// Who tells the time and who sleeps. Every wait and deadline of the layers is its.
///
/// A test swaps it, and an hour of waiting takes no time.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Returns the time.
    fn now(&self) -> Timestamp;

    /// Returns the earliest that it can be, for what must not come too soon: a hold ends when what
    /// was signed has died by every clock there is.
    ///
    /// Default: [`now`](Self::now).
    fn least(&self) -> Timestamp {
        self.now()
    }

    /// Sleeps until `at`: never shorter. A moment that has passed is no sleep.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the sleep and leaves nothing behind.
    fn sleep_until(&self, at: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// The system's clock, and tokio's timer.
///
/// A jump of the system's clock ends no hold: its [`least`](Clock::least) goes with the monotonic
/// clock for an hour, in which all that was signed before the jump dies.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = since.as_ref().map_or(0, Duration::as_millis);
        Timestamp::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
    }

    fn least(&self) -> Timestamp {
        static STEADY: Mutex<Option<Steady<Instant>>> = Mutex::new(None);
        let (wall, instant) = (self.now(), Instant::now());
        // nothing in here can panic half way
        let mut steady = STEADY.lock().unwrap_or_else(PoisonError::into_inner);
        let steady = steady.get_or_insert(Steady { wall, instant });
        steady.least(
            wall,
            instant,
            instant.saturating_duration_since(steady.instant),
        )
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

/// What the wall clock showed at a moment of the monotonic clock.
#[derive(Clone, Copy, Debug)]
struct Steady<I> {
    wall: Timestamp,
    instant: I,
}

impl<I: Copy> Steady<I> {
    /// Returns the earlier of what the wall clock shows and of what it would show had it gone on
    /// steadily, `elapsed` after the anchor. From time to time the wall clock is believed.
    fn least(&mut self, wall: Timestamp, instant: I, elapsed: Duration) -> Timestamp {
        let steady = self.wall.saturating_add(elapsed);
        if elapsed > BELIEVED_AFTER {
            *self = Self { wall, instant };
        }
        wall.min(steady)
    }
}

/// No authorization lives longer, unless its window was set so by hand.
const BELIEVED_AFTER: Duration = Duration::from_secs(60 * 60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_forward_is_believed_after_an_hour_and_one_back_at_once() {
        let at = Timestamp::from_secs;
        let secs = Duration::from_secs;
        let mut steady = Steady {
            wall: at(1_000),
            instant: (),
        };
        assert_eq!(steady.least(at(1_010), (), secs(10)), at(1_010));
        assert_eq!(steady.least(at(9_000), (), secs(20)), at(1_020));
        assert_eq!(steady.least(at(500), (), secs(30)), at(500));
        assert_eq!(steady.least(at(13_000), (), secs(3_601)), at(4_601));
        assert_eq!(steady.least(at(13_001), (), secs(1)), at(13_001));
    }

    #[test]
    fn the_system_s_clock_goes_on() {
        let first = SystemClock.least();
        assert!(first <= SystemClock.now());
        assert!(SystemClock.least() >= first);
    }
}
