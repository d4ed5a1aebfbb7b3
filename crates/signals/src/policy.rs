//! What the caller lets a server decide: the longest wait, and whose word on retries counts.

use std::time::Duration;

/// What the caller lets a server decide.
///
/// ```
/// use std::time::Duration;
/// use paywait_signals::Policy;
///
/// let policy = Policy::default().wait_ceiling(Duration::from_secs(30));
/// assert_eq!(policy.wait_ceiling, Duration::from_secs(30));
/// assert!(policy.obey_should_retry);
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Policy {
    /// The longest wait that is waited out. A longer hint is no wait: it ends the call, or sends
    /// it elsewhere. 120 seconds by default.
    pub wait_ceiling: Duration,
    /// Whether `x-should-retry` counts. Yes by default.
    pub obey_should_retry: bool,
}

impl Policy {
    /// Sets the longest wait that is waited out.
    #[must_use]
    pub const fn wait_ceiling(mut self, ceiling: Duration) -> Self {
        self.wait_ceiling = ceiling;
        self
    }

    /// Sets whether `x-should-retry` counts.
    #[must_use]
    pub const fn obey_should_retry(mut self, obey: bool) -> Self {
        self.obey_should_retry = obey;
        self
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            wait_ceiling: Duration::from_secs(120),
            obey_should_retry: true,
        }
    }
}
