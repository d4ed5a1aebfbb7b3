//! A request that is too large stays too large.

use crate::refusal::Refusal;
use crate::{Decision, Reason, Signal};

/// Stops on 413, even where it names a wait or a rate limit: the bucket is smaller than the
/// request.
pub(super) fn decide(refusal: &Refusal<'_>) -> Option<Decision> {
    let too_large = refusal.status == 413;
    too_large.then(|| refusal.stop(Reason::RequestTooLarge, Signal::Status))
}
