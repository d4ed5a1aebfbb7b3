//! A fixed reply: what a handler or a scripted step answers.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};

/// A fixed reply: status, headers and body.
///
/// ```
/// use http::StatusCode;
/// use paywait_seller::Canned;
///
/// let busy = Canned::new(StatusCode::TOO_MANY_REQUESTS).retry_after(2).body("slow down");
/// assert_eq!(busy.status(), 429);
/// ```
#[derive(Clone, Debug)]
pub struct Canned {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Canned {
    /// Returns a reply with `status`, without headers or body.
    pub fn new(status: StatusCode) -> Self {
        Self {
            status,
            headers: HeaderMap::new(),
            body: Bytes::new(),
        }
    }

    /// Returns a reply with `status` and a JSON body.
    pub fn json(status: StatusCode, body: impl Into<Bytes>) -> Self {
        Self::new(status)
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .body(body)
    }

    /// Adds one header.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.append(name, value);
        self
    }

    /// Adds `Retry-After` in seconds (RFC 9110, section 10.2.3).
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        self.header(RETRY_AFTER, HeaderValue::from(seconds))
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Returns the status.
    pub const fn status(&self) -> StatusCode {
        self.status
    }

    pub(crate) fn response(&self) -> Response<Bytes> {
        let mut response = Response::new(self.body.clone());
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers.clone();
        response
    }
}
