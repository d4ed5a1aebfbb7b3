//! What one reply says of a quota.

use std::time::Duration;

use paywait_signals::{Unit, Window};

/// What one reply says of the quota of its origin.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Seen {
    /// How many requests are left.
    pub remaining: Option<u64>,
    /// How many requests there are in a window.
    pub limit: Option<u64>,
    /// How long no more than what is left may be used.
    pub reset: Option<Duration>,
    /// How long a window is.
    pub length: Option<Duration>,
}

impl Seen {
    /// Returns what the tightest of `windows` says: the one of requests with the fewest left, of
    /// equals the one that stays so longest.
    pub fn tightest(windows: &[Window]) -> Self {
        let counted = windows
            .iter()
            .filter(|window| window.unit == Unit::Requests && window.remaining.is_some());
        let tightest = counted.min_by_key(|window| {
            (
                window.remaining,
                std::cmp::Reverse(window.reset.unwrap_or_default()),
            )
        });
        tightest.map_or_else(Self::default, |window| Self {
            remaining: window.remaining,
            limit: window.limit,
            reset: window.reset,
            length: window.length,
        })
    }
}
