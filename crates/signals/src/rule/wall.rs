//! Walls of money and quota: on any status, and whatever the hints say.

use crate::Decision;
use crate::provider::Meaning;
use crate::refusal::Refusal;

/// Stops where a code says that waiting does not help.
pub(super) fn decide(refusal: &Refusal<'_>) -> Option<Decision> {
    let known = refusal.known()?;
    let reason = match known.meaning {
        Meaning::Wall(reason) => reason,
        Meaning::WallWithoutHint(reason) if refusal.hint.is_none() => reason,
        Meaning::WallWithoutHint(_) | Meaning::Hold | Meaning::Passing(_) => return None,
    };
    Some(refusal.stop(reason, known.signal()))
}
