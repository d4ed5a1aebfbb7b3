//! One refusal to one decision.

use crate::refusal::Refusal;
use crate::{Decision, Policy, Reply, Standing, Timestamp, rule};

/// Returns what to do about one refusal, and why.
///
/// It reads the status, the headers that name a wait, `x-should-retry`, the structured
/// `RateLimit` fields and the codes of the providers that it knows, and it bounds all of them. It
/// reads no payment header: what a payment means for this reply comes in through `standing`.
///
/// In this order, the first that matches decides: what was paid; an offer to pay; a payment
/// scheme that is not spoken here; money in flight; a request that is too large; a wall of money
/// or quota; an error of the client; the server's veto; the wait that it names; its status.
///
/// ```
/// use std::time::Duration;
/// use http::{HeaderMap, HeaderValue, StatusCode};
/// use paywait_signals::{Action, Policy, Reason, Reply, Standing, Timestamp, classify};
///
/// let mut headers = HeaderMap::new();
/// headers.insert("retry-after", HeaderValue::from_static("20"));
/// let body = br#"{"error":{"type":"tokens","code":"rate_limit_exceeded"}}"#;
/// let reply = Reply::new(StatusCode::TOO_MANY_REQUESTS, &headers, body);
///
/// let now = Timestamp::from_secs(1_796_040_000);
/// let decision = classify(reply, &Standing::unpaid(), &Policy::default(), now);
/// assert_eq!(decision.action, Action::Wait(Duration::from_secs(20)));
/// assert_eq!(decision.reason, Reason::RateLimited);
/// assert_eq!(decision.provider_code.as_deref(), Some("rate_limit_exceeded"));
/// ```
pub fn classify(
    reply: Reply<'_>,
    standing: &Standing,
    policy: &Policy,
    now: Timestamp,
) -> Decision {
    rule::decide(&Refusal::read(reply, standing, *policy, now))
}
