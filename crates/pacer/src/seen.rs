//! What a reply said of its quota.

use std::time::Duration;

use paywait_signals::{Timestamp, Unit, Window};

/// What a reply said of its quota of requests. What is missing was not said.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Seen {
    /// How many requests are left.
    pub remaining: Option<u64>,
    /// How many requests there are in one length.
    pub limit: Option<u64>,
    /// How long no more than `remaining` may be sent.
    pub reset_in: Option<Duration>,
    /// The length of the window.
    pub length: Option<Duration>,
    /// Nothing may be sent before this moment: the reply was a refusal and named it.
    pub refused_until: Option<Timestamp>,
}

impl Seen {
    /// Returns what the window that binds first says: an empty one, the one that opens last of
    /// several, else the one with the least left. Quotas of other units than requests say nothing.
    ///
    /// ```
    /// use http::{HeaderMap, HeaderValue};
    /// use paywait_pacer::Seen;
    /// use paywait_signals::{Timestamp, windows};
    ///
    /// let mut headers = HeaderMap::new();
    /// headers.insert("ratelimit", HeaderValue::from_static(r#""day";r=70;t=900, "burst";r=2;t=1"#));
    /// let seen = Seen::tightest(&windows(&headers, Timestamp::from_secs(0)));
    /// assert_eq!(seen.remaining, Some(2));
    /// ```
    #[must_use]
    pub fn tightest(windows: &[Window]) -> Self {
        let seen = windows.iter().map(Self::from);
        let known = seen.filter(|seen| seen.remaining.is_some());
        known
            .min_by_key(|seen| (seen.remaining, std::cmp::Reverse(seen.span())))
            .unwrap_or_default()
    }

    /// Returns the same with a moment before which nothing may be sent.
    #[must_use]
    pub const fn refused_until(mut self, until: Option<Timestamp>) -> Self {
        self.refused_until = until;
        self
    }

    /// Returns how long what is left must last: until the reset or, where none was named, for a
    /// whole length.
    pub(crate) fn span(&self) -> Option<Duration> {
        self.reset_in.or(self.length)
    }
}

impl From<&Window> for Seen {
    /// A quota of anything but requests says nothing about requests.
    fn from(window: &Window) -> Self {
        if window.unit != Unit::Requests {
            return Self::default();
        }
        Self {
            remaining: window.remaining,
            limit: window.limit,
            reset_in: window.reset,
            length: window.length,
            refused_until: None,
        }
    }
}
