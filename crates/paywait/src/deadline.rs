//! How long one call may take.

use std::time::Duration;

/// How long one call may take, on a request or in a [`Scope`](crate::Scope).
///
/// It bounds waits, new sends and the signer's time, and it cuts a send that is under way; a paid
/// send that is cut has an unknown outcome. Without one, a call has the time of its [`Retry`](crate::Retry) layer,
/// which cuts nothing. Of several deadlines the tightest holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Deadline(pub(crate) Duration);

impl Deadline {
    /// Returns a deadline `after` the start of a call.
    pub const fn after(after: Duration) -> Self {
        Self(after)
    }
}
