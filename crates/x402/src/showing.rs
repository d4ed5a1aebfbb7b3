//! Signed bytes on their way to the wire.

use std::fmt;

use http::HeaderMap;

use crate::payload::PaymentHeader;

/// Signed bytes on their way to the wire, for one send.
///
/// Made by [`Purchase::show`](crate::Purchase::show) alone, after the ledger had them.
#[must_use = "bytes that were handed out count as sent"]
pub struct Showing {
    pub(crate) header: PaymentHeader,
}

impl Showing {
    /// Puts the payment into the headers of the request that is about to leave: into the one of its
    /// version, and no other.
    pub fn write(self, fields: &mut HeaderMap) {
        self.header.write(fields);
    }
}

impl fmt::Debug for Showing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Showing").finish_non_exhaustive()
    }
}
