//! Where a caller finds what happened in a call.

use paywait_call::Report;
use reqwest::Response;

/// Returns what happened in the call that `response` ends.
///
/// A response that no layer of ours handed back has no report: this one says so, and
/// [`Report::of`] tells the two apart.
///
/// ```
/// let response = reqwest::Response::from(http::Response::new("as it came"));
/// assert_eq!(paywait::report(&response).to_string(), "no layer of paywait saw this response");
/// assert!(paywait::Report::of(response.extensions()).is_none());
/// ```
pub fn report(response: &Response) -> &Report {
    Report::of(response.extensions()).unwrap_or(&UNSEEN)
}

static UNSEEN: Report = Report::UNSEEN;
