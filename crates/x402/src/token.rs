//! A token as its user describes it.

use std::fmt;

use crate::money::decimal;
use crate::{Amount, Asset, Domain, KnownAsset};

/// What a user says of a token that is not among [`KnownAsset`]s: it is believed.
///
/// ```
/// use paywait_x402::{Amount, Asset, Domain, Token};
/// let contract = "0x808456652fdb597867f38412077A9182bf77359F".parse().unwrap();
/// let asset = Asset::new("eip155:84532".parse().unwrap(), contract);
/// let eurc = Token::new(asset, "EURC", 6, Domain::new("EURC", "2"));
/// assert_eq!(eurc.display(Amount::from_u64(10_000)), "0.01 EURC");
/// ```
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub struct Token {
    /// Which token.
    pub asset: Asset,
    /// What people call it.
    pub symbol: String,
    /// How many places an atomic unit is after the dot. Only for showing amounts.
    pub decimals: u8,
    /// Its signing domain.
    pub domain: Domain,
}

impl Token {
    /// Describes the token `asset`.
    pub fn new(asset: Asset, symbol: impl Into<String>, decimals: u8, domain: Domain) -> Self {
        Self {
            asset,
            symbol: symbol.into(),
            decimals,
            domain,
        }
    }

    /// Returns `amount` of it for a person.
    pub fn display(&self, amount: Amount) -> String {
        let units = decimal(amount.as_u256(), self.decimals);
        format!("{units} {}", self.symbol)
    }
}

impl From<&KnownAsset> for Token {
    fn from(known: &KnownAsset) -> Self {
        let domain = Domain::new(known.domain_name, known.domain_version);
        Self::new(known.asset, known.symbol, known.decimals, domain)
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.symbol, self.asset)
    }
}
