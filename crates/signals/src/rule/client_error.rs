//! Errors of the client that no wait mends.

use crate::refusal::Refusal;
use crate::{Action, Decision, Reason, Signal};

/// Stops on a 4xx that speaks of the request itself, unless the server asks for a retry.
pub(super) fn decide(refusal: &Refusal<'_>) -> Option<Decision> {
    let reason = reason(refusal.status)?;
    if is_rate_limit(refusal) {
        return None;
    }
    if let Some(signal) = refusal.asks_retry() {
        let backoff = || refusal.decide(Action::Backoff, Reason::ServerAskedRetry, signal);
        let wait = refusal.wait(Reason::ServerAskedRetry, Action::Stop);
        return Some(wait.unwrap_or_else(backoff));
    }
    Some(refusal.stop(reason, Signal::Status))
}

const fn reason(status: u16) -> Option<Reason> {
    Some(match status {
        401 | 403 => Reason::Auth,
        404 | 410 => Reason::NotFound,
        400 | 412 | 415 | 422 => Reason::BadRequest,
        402 | 408 | 409 | 424 | 425 | 429 | 498 => return None,
        other @ 400..500 => Reason::Http(other),
        _ => return None,
    })
}

/// Some limit a rate by 403, and a few by 400 with a code that says so.
fn is_rate_limit(refusal: &Refusal<'_>) -> bool {
    match refusal.status {
        400 => refusal.passing().is_some(),
        403 => refusal.passing().is_some() || refusal.hint.is_some(),
        _ => false,
    }
}
