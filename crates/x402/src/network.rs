//! Networks, by their CAIP-2 names.

use std::fmt;
use std::str::FromStr;

/// An EVM chain, by its CAIP-2 name: `eip155:` and the chain id.
///
/// ```
/// use paywait_x402::Network;
/// let base: Network = "eip155:8453".parse().unwrap();
/// assert_eq!(base.chain_id(), 8453);
/// assert!(!base.is_testnet());
/// assert!("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp".parse::<Network>().is_err());
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Network(u64);

impl Network {
    /// Returns the EVM chain with this id.
    pub const fn evm(chain_id: u64) -> Self {
        Self(chain_id)
    }

    /// Returns the chain id.
    pub const fn chain_id(self) -> u64 {
        self.0
    }

    /// Returns whether this is a known test network, where nothing has a price.
    pub fn is_testnet(self) -> bool {
        TESTNETS.contains(&self.0)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "eip155:{}", self.0)
    }
}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let (namespace, reference) = text.split_once(':').ok_or(NetworkError::NotCaip2)?;
        if namespace != "eip155" {
            return Err(NetworkError::NotEvm);
        }
        let digits = reference.bytes().all(|byte| byte.is_ascii_digit());
        let chain_id = reference.parse().ok().filter(|_| digits);
        chain_id.map(Self).ok_or(NetworkError::NotCaip2)
    }
}

/// Why a text does not name an EVM chain.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// It is no CAIP-2 name.
    #[error("a network is named like eip155:8453")]
    NotCaip2,
    /// It names a chain of another kind.
    #[error("only EVM chains (eip155:…) are supported")]
    NotEvm,
}

/// Sepolia, Base Sepolia, OP Sepolia, Arbitrum Sepolia, Polygon Amoy, Avalanche Fuji.
const TESTNETS: [u64; 6] = [11_155_111, 84_532, 11_155_420, 421_614, 80_002, 43_113];
