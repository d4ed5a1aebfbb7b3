//! Where a caller finds what happened in a call.

use paywait_call::Report;
use reqwest::Response;

/// Returns what happened in the call that `response` ends; `None` if no layer of ours saw it.
pub fn report(response: &Response) -> Option<&Report> {
    Report::of(response.extensions())
}
