//! Where a request goes.

use std::fmt;
use std::str::FromStr;

use url::Url;

/// Where a request goes: scheme, host and port, as the web understands an origin.
///
/// ```
/// use paywait_ledger::Origin;
/// let origin: Origin = "https://Seller.example:443/report?token=1".parse().unwrap();
/// assert_eq!(origin.to_string(), "https://seller.example");
/// assert!("seller.example".parse::<Origin>().is_err());
/// assert!("data:text/plain,1".parse::<Origin>().is_err());
/// ```
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Origin(String);

impl Origin {
    /// Returns the origin of `url`, if it has one: an address that is read over a network.
    pub fn of(url: &Url) -> Option<Self> {
        let origin = url.origin();
        origin
            .is_tuple()
            .then(|| Self(origin.ascii_serialization()))
    }

    /// Returns it as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Origin {
    type Err = NoOrigin;

    fn from_str(text: &str) -> Result<Self, NoOrigin> {
        let url = Url::parse(text).map_err(|_| NoOrigin)?;
        Self::of(&url).ok_or(NoOrigin)
    }
}

/// A text is not a URL with an origin.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("an origin is written like https://seller.example")]
#[non_exhaustive]
pub struct NoOrigin;
