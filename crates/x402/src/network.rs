//! Networks, by their CAIP-2 names and by those of version 1 of x402.

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

    /// Returns the chain that version 1 of x402 calls `name`. A CAIP-2 name is taken too.
    ///
    /// ```
    /// use paywait_x402::{Network, NetworkError};
    /// assert_eq!(Network::of_v1("base-sepolia"), Ok(Network::evm(84_532)));
    /// assert_eq!(Network::of_v1("solana"), Err(NetworkError::NotEvm));
    /// assert_eq!(Network::of_v1("atlantis"), Err(NetworkError::Unknown));
    /// ```
    ///
    /// # Errors
    ///
    /// [`NetworkError::NotEvm`] and [`NetworkError::Unknown`]; for what has a colon, those of a
    /// CAIP-2 name.
    pub fn of_v1(name: &str) -> Result<Self, NetworkError> {
        if name.contains(':') {
            return name.parse();
        }
        if V1_NOT_EVM.contains(&name) {
            return Err(NetworkError::NotEvm);
        }
        let known = V1_NAMES.iter().find(|(known, _)| *known == name);
        known
            .map(|(_, chain_id)| Self(*chain_id))
            .ok_or(NetworkError::Unknown)
    }

    /// Returns the chain id.
    pub const fn chain_id(self) -> u64 {
        self.0
    }

    /// Returns all known test networks.
    pub fn testnets() -> impl Iterator<Item = Self> {
        TESTNETS.into_iter().map(Self)
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
    /// It is no name of version 1 that is known here.
    #[error("no EVM chain of this name is known")]
    Unknown,
    /// It names a chain of another kind.
    #[error("only EVM chains (eip155:…) are supported")]
    NotEvm,
}

/// The test networks that have a name in version 1, then OP Sepolia and Arbitrum Sepolia.
const TESTNETS: [u64; 12] = [
    11_155_111,
    11_124,
    84_532,
    43_113,
    1328,
    80_002,
    324_705_682,
    2201,
    11_142_220,
    72_344,
    11_155_420,
    421_614,
];

/// What version 1 calls EVM chains: the names of the reference packages and of x402-rs.
const V1_NAMES: [(&str, u64); 28] = [
    ("abstract", 2741),
    ("abstract-testnet", 11_124),
    ("avalanche", 43_114),
    ("avalanche-fuji", 43_113),
    ("base", 8453),
    ("base-sepolia", 84_532),
    ("celo", 42_220),
    ("celo-sepolia", 11_142_220),
    ("educhain", 41_923),
    ("ethereum", 1),
    ("flare", 14),
    ("iotex", 4689),
    ("megaeth", 4326),
    ("monad", 143),
    ("peaq", 3338),
    ("polygon", 137),
    ("polygon-amoy", 80_002),
    ("radius", 723_487),
    ("radius-testnet", 72_344),
    ("sei", 1329),
    ("sei-testnet", 1328),
    ("sepolia", 11_155_111),
    ("skale-base-sepolia", 324_705_682),
    ("stable", 988),
    ("stable-testnet", 2201),
    ("story", 1514),
    ("xdc", 50),
    ("xrpl-evm", 1_440_000),
];

/// What version 1 calls chains of other kinds.
const V1_NOT_EVM: [&str; 3] = ["solana", "solana-devnet", "solana-testnet"];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_row(name: &str, caip2: &str) {
        assert_eq!(Network::of_v1(name), caip2.parse(), "{name}");
        // the names of version 1 are no names in version 2
        assert_eq!(name.parse::<Network>(), Err(NetworkError::NotCaip2));
    }

    #[test]
    fn each_name_of_version_1_is_the_chain_of_its_caip_2_name() {
        assert_row("abstract", "eip155:2741");
        assert_row("abstract-testnet", "eip155:11124");
        assert_row("avalanche", "eip155:43114");
        assert_row("avalanche-fuji", "eip155:43113");
        assert_row("base", "eip155:8453");
        assert_row("base-sepolia", "eip155:84532");
        assert_row("celo", "eip155:42220");
        assert_row("celo-sepolia", "eip155:11142220");
        assert_row("educhain", "eip155:41923");
        assert_row("ethereum", "eip155:1");
        assert_row("flare", "eip155:14");
        assert_row("iotex", "eip155:4689");
        assert_row("megaeth", "eip155:4326");
        assert_row("monad", "eip155:143");
        assert_row("peaq", "eip155:3338");
        assert_row("polygon", "eip155:137");
        assert_row("polygon-amoy", "eip155:80002");
        assert_row("radius", "eip155:723487");
        assert_row("radius-testnet", "eip155:72344");
        assert_row("sei", "eip155:1329");
        assert_row("sei-testnet", "eip155:1328");
        assert_row("sepolia", "eip155:11155111");
        assert_row("skale-base-sepolia", "eip155:324705682");
        assert_row("stable", "eip155:988");
        assert_row("stable-testnet", "eip155:2201");
        assert_row("story", "eip155:1514");
        assert_row("xdc", "eip155:50");
        assert_row("xrpl-evm", "eip155:1440000");
    }

    #[test]
    fn no_name_and_no_chain_stands_twice() {
        for (place, (name, chain_id)) in V1_NAMES.iter().enumerate() {
            let others = V1_NAMES.iter().skip(place + 1);
            let mut same = others.filter(|(other, id)| other == name || id == chain_id);
            assert_eq!(same.next(), None, "{name}");
        }
    }

    #[test]
    fn chains_of_other_kinds_are_known_as_such() {
        for name in [
            "solana",
            "solana-devnet",
            "solana-testnet",
            "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
        ] {
            assert_eq!(Network::of_v1(name), Err(NetworkError::NotEvm), "{name}");
        }
    }

    #[test]
    fn a_name_is_spelled_in_one_way() {
        for name in [
            "",
            "Base",
            " base",
            "base ",
            "base_sepolia",
            "8453",
            "BASE-SEPOLIA",
        ] {
            assert_eq!(Network::of_v1(name), Err(NetworkError::Unknown), "{name}");
        }
        assert_eq!(Network::of_v1("eip155:+1"), Err(NetworkError::NotCaip2));
    }
}
