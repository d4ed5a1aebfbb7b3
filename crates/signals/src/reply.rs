//! One reply as the reader sees it: status, headers, and the start of the body.

use http::{HeaderMap, StatusCode};

/// One reply: status, headers, and as much of the body as was read.
#[non_exhaustive]
#[derive(Clone, Copy, Debug)]
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
