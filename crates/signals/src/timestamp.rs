//! A moment by the wall clock, in whole milliseconds: the only time the pure crates know.

use std::fmt;
use std::time::Duration;

/// A moment by the wall clock, in milliseconds since the Unix epoch.
///
/// It can be stored and outlives a restart, which a monotonic instant cannot. Arithmetic
/// saturates: a wait that is too long becomes the longest wait, never a short one.
///
/// ```
/// use std::time::Duration;
/// use paywait_signals::Timestamp;
///
/// let told_at = Timestamp::from_millis(1_000);
/// let come_back = told_at.saturating_add(Duration::from_secs(2));
/// assert_eq!(come_back.as_millis(), 3_000);
/// assert_eq!(told_at.until(come_back), Duration::from_secs(2));
/// assert_eq!(come_back.until(told_at), Duration::ZERO);
/// ```
#[derive(Clone, Copy, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Timestamp(u64);

impl Timestamp {
    /// Returns the moment `millis` milliseconds after the Unix epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Returns the moment `seconds` seconds after the Unix epoch, or the last one there is.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1_000))
    }

    /// Returns the milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// Returns the whole seconds since the Unix epoch, rounded down.
    pub const fn as_secs(self) -> u64 {
        self.0 / 1_000
    }

    /// Returns the moment `wait` later, rounded up to a millisecond, or the last one there is.
    #[must_use]
    pub fn saturating_add(self, wait: Duration) -> Self {
        Self(self.0.saturating_add(ceil_millis(wait)))
    }

    /// Returns the moment `span` earlier, or the Unix epoch.
    #[must_use]
    pub fn saturating_sub(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(ceil_millis(span)))
    }

    /// Returns how long it is from this moment until `later`; zero if `later` is not later.
    pub const fn until(self, later: Self) -> Duration {
        Duration::from_millis(later.0.saturating_sub(self.0))
    }

    /// The last moment there is: never.
    pub const MAX: Self = Self(u64::MAX);
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339 in UTC where the calendar reaches that far, else the milliseconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = i64::try_from(self.0)
            .ok()
            .and_then(|millis| jiff::Timestamp::from_millisecond(millis).ok());
        match moment {
            Some(moment) => write!(f, "{moment}"),
            None => write!(f, "{} ms", self.0),
        }
    }
}

fn ceil_millis(span: Duration) -> u64 {
    let whole = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    let rest = span.subsec_nanos() % 1_000_000;
    whole.saturating_add(u64::from(rest != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_rounded_up_never_down() {
        let moment = Timestamp::from_millis(0).saturating_add(Duration::from_nanos(1));
        assert_eq!(moment.as_millis(), 1);
    }

    #[test]
    fn the_longest_wait_stays_the_longest() {
        assert_eq!(
            Timestamp::from_millis(5).saturating_add(Duration::MAX),
            Timestamp::MAX
        );
    }

    #[test]
    fn prints_as_a_date_where_there_is_one() {
        assert_eq!(Timestamp::from_secs(0).to_string(), "1970-01-01T00:00:00Z");
        assert_eq!(Timestamp::MAX.to_string(), "18446744073709551615 ms");
    }
}
