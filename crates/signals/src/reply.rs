//! One reply as the reader sees it: status, headers, and the start of the body.

use std::fmt;

use http::{HeaderMap, StatusCode};

/// One reply: status, headers, and as much of the body as was read.
#[non_exhaustive]
#[derive(Clone, Copy)]
pub struct Reply<'a> {
    /// The status.
    pub status: StatusCode,
    /// The headers, repeated fields and all.
    pub headers: &'a HeaderMap,
    /// The start of the body; empty where none was read. It may end in the middle of a character.
    pub body: &'a [u8],
}

impl<'a> Reply<'a> {
    /// Returns a view of one reply.
    pub const fn new(status: StatusCode, headers: &'a HeaderMap, body: &'a [u8]) -> Self {
        Self {
            status,
            headers,
            body,
        }
    }
}

impl fmt::Debug for Reply<'_> {
    /// The status and the size of the body; headers and body may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply")
            .field("status", &self.status)
            .field("body_len", &self.body.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_and_body_are_not_shown() {
        let mut headers = HeaderMap::new();
        headers.insert("payment-response", http::HeaderValue::from_static("secret"));
        let reply = Reply::new(StatusCode::OK, &headers, b"secret");
        let shown = format!("{reply:?}");
        assert!(shown.contains("200"));
        assert!(!shown.contains("secret"));
    }
}
