//! The server's word that a retry is of no use.

use std::borrow::Cow;

use crate::refusal::Refusal;
use crate::{Decision, Reason, Signal};

/// Stops where the server forbids a retry.
pub(super) fn decide(refusal: &Refusal<'_>) -> Option<Decision> {
    let (_, name) = refusal.should_retry.filter(|(asked, _)| !asked)?;
    let signal = Signal::Header(Cow::Borrowed(name));
    Some(refusal.stop(Reason::VetoedByServer, signal))
}
