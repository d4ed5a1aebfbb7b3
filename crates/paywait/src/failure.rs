//! What a transport error says of the bytes: whether any may have left.

use paywait_call::{Failure, FailureKind};

use crate::error::in_chain;

/// Reads an error that came back in place of an answer.
///
/// Only an error that proves that no connection came about, or no request, says that nothing left.
/// What came from another middleware says nothing, and may wrap anything.
pub(crate) fn of(error: &reqwest_middleware::Error) -> Failure {
    let Some(error) = in_chain::<reqwest::Error>(error) else {
        return Failure::lost(FailureKind::Final);
    };
    if error.is_connect() {
        Failure::unsent(FailureKind::Connect)
    } else if error.is_builder() {
        Failure::unsent(FailureKind::Final)
    } else if error.is_timeout() {
        Failure::lost(FailureKind::Timeout)
    } else if error.is_redirect() {
        Failure::lost(FailureKind::Final)
    } else {
        Failure::lost(FailureKind::Broken)
    }
}
