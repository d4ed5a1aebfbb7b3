//! How far a server's clock is ahead of ours.

use std::time::Duration;

use http::HeaderMap;

use crate::{Timestamp, moment};

/// Returns how far the server's clock is ahead of `now`, by its `Date` (RFC 9110, section 6.6.1);
/// zero where it is behind or says nothing. It is the server's word, and to be bounded.
///
/// ```
/// use std::time::Duration;
/// use http::{HeaderMap, HeaderValue, header};
/// use paywait_signals::{Timestamp, clock_ahead};
///
/// let mut headers = HeaderMap::new();
/// headers.insert(header::DATE, HeaderValue::from_static("Thu, 01 Jan 1970 00:01:40 GMT"));
/// assert_eq!(clock_ahead(&headers, Timestamp::from_secs(70)), Duration::from_secs(30));
/// assert_eq!(clock_ahead(&headers, Timestamp::from_secs(170)), Duration::ZERO);
/// ```
pub fn clock_ahead(headers: &HeaderMap, now: Timestamp) -> Duration {
    now.until(moment::server_now(headers, now))
}
