//! Who has a purchase in hand.

use std::fmt;

use uuid::Uuid;

/// Who has a purchase in hand: one caller, for one call.
///
/// Every write names its owner and is refused once another has taken the purchase. The caller draws
/// the number and the ledger compares it, so a caller that was dropped before it heard the ledger's
/// answer can still give back what it may have got; a number that is drawn once is never confused
/// with an earlier taker's.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Owner([u8; 16]);

impl Owner {
    /// Returns an owner that nobody was before.
    pub fn random() -> Self {
        Self(*Uuid::new_v4().as_bytes())
    }

    /// Returns the owner with these bytes, as a store kept them.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes, for a store to keep.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Owner({})", Uuid::from_bytes(self.0))
    }
}
