//! How much of what a limit counts.

use std::fmt;

use paywait_x402::{Amount, Asset, KnownAsset, Usd};

/// How much of what a limit counts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Quantity {
    /// Dollars, over all dollar tokens.
    Usd(Usd),
    /// Atomic units of one token.
    Units(Asset, Amount),
    /// Purchases, whatever they cost.
    Purchases(u64),
}

impl Quantity {
    /// Returns whether it is nothing at all.
    pub fn is_zero(self) -> bool {
        match self {
            Self::Usd(usd) => usd == Usd::ZERO,
            Self::Units(_, amount) => amount == Amount::ZERO,
            Self::Purchases(number) => number == 0,
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Usd(usd) => write!(f, "{usd} USD"),
            Self::Units(asset, amount) => match KnownAsset::find(asset) {
                Some(known) => f.write_str(&known.display(amount)),
                None => write!(f, "{amount} atomic units of {asset}"),
            },
            Self::Purchases(1) => f.write_str("1 purchase"),
            Self::Purchases(number) => write!(f, "{number} purchases"),
        }
    }
}
