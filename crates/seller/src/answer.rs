//! What the shop answers: a response, and how the wire is to spoil it.

use std::time::Duration;

use bytes::Bytes;
use http::{Response, StatusCode};

/// What the shop answers to one request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// The response.
    pub response: Response<Bytes>,
    /// How the wire is to spoil it; `None` sends it as it is. Only
    /// [`RawServer`](crate::RawServer) can act out all of them.
    pub fault: Option<Fault>,
}

/// How the wire spoils an answer. What the shop did before stays done: money that moved has moved.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Fault {
    /// The response declares its whole length, half of the body follows, and the connection
    /// closes.
    HalfBody,
    /// The whole response leaves this much later.
    Late(Duration),
    /// The connection is reset before a byte of the response leaves.
    Reset,
    /// The body leaves event by event (cut at blank lines), with a gap before each.
    SlowEvents(Duration),
    /// Nothing leaves for this long, then the connection closes.
    Stall(Duration),
}

impl Fault {
    /// Returns the status that reaches the buyer where the shop answered `status`.
    pub(crate) const fn status(self, status: StatusCode) -> Option<StatusCode> {
        match self {
            Self::HalfBody | Self::Late(_) | Self::SlowEvents(_) => Some(status),
            Self::Reset | Self::Stall(_) => None,
        }
    }
}
