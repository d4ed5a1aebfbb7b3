//! Tokens: which one, and what is known of the few that are known.

mod known;

use std::fmt;
use std::str::FromStr;

use alloy_primitives::Address;

use crate::money::decimal;
use crate::{Amount, MoneyError, Network, Usd};
use known::KNOWN;

/// A token: a contract on a chain. Nothing else names it, since anybody may call a token USDC.
///
/// ```
/// use paywait_x402::Asset;
/// let usdc: Asset = "eip155:8453/0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913".parse().unwrap();
/// assert_eq!(usdc.network.chain_id(), 8453);
/// assert!("eip155:8453/USDC".parse::<Asset>().is_err());
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub struct Asset {
    /// The chain that the contract is on.
    pub network: Network,
    /// The contract.
    pub contract: Address,
}

impl Asset {
    /// Returns the token of `contract` on `network`.
    pub const fn new(network: Network, contract: Address) -> Self {
        Self { network, contract }
    }
}

impl fmt::Display for Asset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.network, self.contract)
    }
}

impl FromStr for Asset {
    type Err = NoAsset;

    fn from_str(text: &str) -> Result<Self, NoAsset> {
        let (network, contract) = text.split_once('/').ok_or(NoAsset)?;
        let network = network.parse().map_err(|_| NoAsset)?;
        let contract = contract.parse().map_err(|_| NoAsset)?;
        Ok(Self::new(network, contract))
    }
}

/// A text does not name a token.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a token is written like eip155:8453/0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")]
#[non_exhaustive]
pub struct NoAsset;

/// What is known of a token. Sellers' own words on decimals and names are not asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct KnownAsset {
    /// Which token.
    pub asset: Asset,
    /// What people call it.
    pub symbol: &'static str,
    /// How many places an atomic unit is after the dot.
    pub decimals: u8,
    /// The name of its EIP-712 signing domain.
    pub domain_name: &'static str,
    /// The version of its EIP-712 signing domain.
    pub domain_version: &'static str,
    /// Whether one of it is one dollar.
    pub dollar: bool,
}

impl KnownAsset {
    /// Returns what is known of `asset`.
    pub fn find(asset: Asset) -> Option<&'static Self> {
        KNOWN.iter().find(|known| known.asset == asset)
    }

    /// Returns all tokens that are known.
    pub const fn all() -> &'static [Self] {
        &KNOWN
    }

    /// Returns what `amount` of it is in dollars, rounded up.
    ///
    /// # Errors
    ///
    /// [`MoneyError::NotDollars`]: one of it is not one dollar, and no rate is guessed.
    /// [`MoneyError::TooLarge`]: more than can be counted.
    pub fn usd(&self, amount: Amount) -> Result<Usd, MoneyError> {
        if self.dollar {
            Usd::from_units(amount.as_u256(), self.decimals)
        } else {
            Err(MoneyError::NotDollars)
        }
    }

    /// Returns `amount` for a person.
    ///
    /// ```
    /// use paywait_x402::{Amount, KnownAsset};
    /// let usdc = &KnownAsset::all()[0];
    /// assert_eq!(usdc.display(Amount::from_u64(10_000)), "0.01 USDC");
    /// ```
    pub fn display(&self, amount: Amount) -> String {
        format!(
            "{} {}",
            decimal(amount.as_u256(), self.decimals),
            self.symbol
        )
    }
}
