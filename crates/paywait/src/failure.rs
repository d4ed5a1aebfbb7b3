//! What a transport error says of the bytes: whether any may have left.

use paywait_call::{Failure, FailureKind};
use reqwest_middleware::Error;

use crate::error::in_chain;

/// Reads an error that came back in place of an answer.
///
/// Only reqwest's own word that no connection came about, or no request, says that nothing left.
/// Inside another middleware's error it speaks of the last of that middleware's sends alone.
pub(crate) fn of(error: &Error) -> Failure {
    let Some(transport) = in_chain::<reqwest::Error>(error) else {
        return Failure::lost(FailureKind::Final);
    };
    let kind = kind(transport);
    let never_left = transport.is_connect() || transport.is_builder();
    if never_left && matches!(error, Error::Reqwest(_)) {
        Failure::unsent(kind)
    } else {
        Failure::lost(kind)
    }
}

fn kind(error: &reqwest::Error) -> FailureKind {
    if error.is_connect() {
        FailureKind::Connect
    } else if error.is_timeout() {
        FailureKind::Timeout
    } else if error.is_builder() || error.is_redirect() {
        FailureKind::Final
    } else {
        FailureKind::Broken
    }
}
