//! What is left: the status, the wait that the server names, and a code that says why.

use crate::refusal::Refusal;
use crate::{Action, Decision, Reason, Signal};

/// Waits as long as the server says, else does what the status calls for.
pub(super) fn decide(refusal: &Refusal<'_>) -> Decision {
    match refusal.status {
        402 => payment_required(refusal),
        400 | 403 | 408 | 409 | 424 | 425 | 429 | 498 | 500.. => passing(refusal),
        other => refusal.stop(Reason::Http(other), Signal::Status),
    }
}

/// A refusal that passes. Where the server names a wait, coming sooner would be wrong on any
/// status; where it names none, a server's trouble is a reason to go elsewhere.
fn passing(refusal: &Refusal<'_>) -> Decision {
    let by_status = (reason(refusal.status), Signal::Status);
    let (reason, signal) = refusal.passing().unwrap_or(by_status);
    if let Some(wait) = refusal.wait(reason, Action::Failover) {
        return wait;
    }
    if let Some(signal) = refusal.asks_retry() {
        return refusal.decide(Action::Backoff, reason, signal);
    }
    let action = match refusal.status {
        424 | 500.. => Action::Failover,
        400 | 403 if is_of_the_server(reason) => Action::Failover,
        _ => Action::Backoff,
    };
    refusal.decide(action, reason, signal)
}

/// A 402 without a price: a short wait means money in flight, nothing means no money.
fn payment_required(refusal: &Refusal<'_>) -> Decision {
    if let Some(wait) = refusal.wait(Reason::InFlightBudget, Action::Stop) {
        return wait;
    }
    if let Some(signal) = refusal.asks_retry() {
        return refusal.decide(Action::Backoff, Reason::ServerAskedRetry, signal);
    }
    let reason = if refusal.standing.paid {
        Reason::PaymentFailed
    } else {
        Reason::Unfunded
    };
    refusal.stop(reason, Signal::Status)
}

const fn reason(status: u16) -> Reason {
    match status {
        408 | 504 | 522 | 524 => Reason::Timeout,
        409 => Reason::Conflict,
        425 => Reason::TooEarly,
        498 | 503 | 529 => Reason::Overloaded,
        424 | 500.. => Reason::ServerError,
        _ => Reason::RateLimited,
    }
}

/// Whether another upstream may do better.
const fn is_of_the_server(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::Overloaded | Reason::NoProvider | Reason::ServerError | Reason::Timeout
    )
}
