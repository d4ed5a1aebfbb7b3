//! Money that is held by calls in flight comes free when they end.

use crate::provider::Meaning;
use crate::refusal::Refusal;
use crate::{Action, Decision, Reason};

/// Waits as long as the server says; without its word nothing says that waiting helps.
pub(super) fn decide(refusal: &Refusal<'_>) -> Option<Decision> {
    let known = refusal
        .known()
        .filter(|known| known.meaning == Meaning::Hold)?;
    let wait = refusal.wait(Reason::InFlightBudget, Action::Stop);
    let backoff = || {
        let signal = refusal.asks_retry()?;
        Some(refusal.decide(Action::Backoff, Reason::InFlightBudget, signal))
    };
    let stop = || refusal.stop(Reason::InFlightBudget, known.signal());
    Some(wait.or_else(backoff).unwrap_or_else(stop))
}
