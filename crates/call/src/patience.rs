//! How often and how long the one loop tries: attempts, deadline, ceiling and jitter.

use std::num::NonZeroU32;
use std::time::Duration;

/// How often and how long the loop tries.
///
/// # Defaults
///
/// ```
/// use std::time::Duration;
/// use paywait_call::Patience;
/// let patience = Patience::default();
/// assert_eq!(patience.attempts.get(), 5);
/// assert_eq!(patience.total, Duration::from_secs(180));
/// assert_eq!(patience.wait_ceiling, Duration::from_secs(120));
/// assert_eq!(patience.jitter, Duration::from_millis(250));
/// assert_eq!(patience.backoff_base, Duration::from_millis(500));
/// assert_eq!(patience.backoff_cap, Duration::from_secs(30));
/// assert!(!patience.resend_unanswered);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Patience {
    /// How many attempts a call has; a price check and the first paid send are one.
    pub attempts: NonZeroU32,
    /// How long a call may take. It bounds waits and new sends, and cuts no send short.
    pub total: Duration,
    /// The longest wait that a server may ask for; a longer one ends the call at once.
    pub wait_ceiling: Duration,
    /// What comes on top of a wait that a server asked for, at most.
    pub jitter: Duration,
    /// The most that the first backoff can be; it doubles with each.
    pub backoff_base: Duration,
    /// The most that any backoff can be.
    pub backoff_cap: Duration,
    /// Whether an unpaid request that is not idempotent is sent again when it got no answer.
    pub resend_unanswered: bool,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            attempts: NonZeroU32::MIN.saturating_add(4),
            total: Duration::from_secs(180),
            wait_ceiling: Duration::from_secs(120),
            jitter: Duration::from_millis(250),
            backoff_base: Duration::from_millis(500),
            backoff_cap: Duration::from_secs(30),
            resend_unanswered: false,
        }
    }
}

impl Patience {
    /// Returns a wait that the server named, with positive jitter on top: never sooner than told.
    pub(crate) fn wait(&self, floor: Duration, rng: &mut fastrand::Rng) -> Duration {
        floor.saturating_add(up_to(self.jitter, rng))
    }

    /// Returns the wait before attempt `attempt + 1` where no server named one: full jitter on an
    /// exponential that is capped.
    pub(crate) fn backoff(&self, attempt: u32, rng: &mut fastrand::Rng) -> Duration {
        let doublings = attempt.saturating_sub(1).min(31);
        let exponential = self.backoff_base.saturating_mul(1_u32 << doublings);
        up_to(exponential.min(self.backoff_cap), rng)
    }
}

fn up_to(most: Duration, rng: &mut fastrand::Rng) -> Duration {
    let millis = u64::try_from(most.as_millis()).unwrap_or(u64::MAX);
    Duration::from_millis(rng.u64(0..=millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_wait_is_never_shortened() {
        let mut rng = fastrand::Rng::with_seed(7);
        let floor = Duration::from_secs(2);
        for _ in 0..200 {
            let wait = Patience::default().wait(floor, &mut rng);
            assert!(wait >= floor && wait <= floor + Duration::from_millis(250));
        }
    }

    #[test]
    fn a_backoff_doubles_up_to_its_cap() {
        let mut rng = fastrand::Rng::with_seed(7);
        let patience = Patience::default();
        let longest = |attempt, rng: &mut fastrand::Rng| {
            (0..500)
                .map(|_| patience.backoff(attempt, rng))
                .max()
                .unwrap()
        };
        assert!(longest(1, &mut rng) <= Duration::from_millis(500));
        assert!(longest(3, &mut rng) > Duration::from_millis(1_500));
        assert!(longest(u32::MAX, &mut rng) <= Duration::from_secs(30));
    }
}
