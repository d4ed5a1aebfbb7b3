//! Which version of x402 a seller speaks.

use std::fmt;

/// Which version of x402 a seller speaks, as its offer says.
///
/// It decides what an offer's fields are called, how networks are named, and in which header the
/// payment goes. What is signed is the same in both.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Version {
    /// The offer in the body of the 402, the payment in `X-PAYMENT`, networks by names of its own.
    V1,
    /// The offer in `PAYMENT-REQUIRED`, the payment in `PAYMENT-SIGNATURE`, networks by CAIP-2.
    V2,
}

impl Version {
    /// Returns the number that goes over the wire as `x402Version`.
    ///
    /// ```
    /// assert_eq!(paywait_x402::Version::V1.number(), 1);
    /// ```
    pub const fn number(self) -> u8 {
        match self {
            Self::V1 => 1,
            Self::V2 => 2,
        }
    }

    /// Returns the version with this number, if it is one that is spoken here.
    pub(crate) const fn numbered(number: u64) -> Option<Self> {
        match number {
            1 => Some(Self::V1),
            2 => Some(Self::V2),
            _ => None,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "x402 version {}", self.number())
    }
}
