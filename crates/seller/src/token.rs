//! One EIP-3009 token on one chain, with the EIP-712 domain that its authorizations are signed in.

use std::fmt;

use alloy_primitives::{Address, U256, address};
use alloy_sol_types::Eip712Domain;

/// One EIP-3009 token on one chain, with the EIP-712 domain of its authorizations.
///
/// ```
/// use paywait_seller::Token;
///
/// let usdc = Token::usdc_base_sepolia();
/// assert_eq!(usdc.to_string(), "eip155:84532/0x036CbD53842c5426634e7929541eC2318f3dCF7e");
/// ```
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Token {
    chain_id: u64,
    address: Address,
    name: String,
    version: String,
}

impl Token {
    /// Returns the token at `address`, whose contract names itself `name` and `version` in its
    /// EIP-712 domain.
    pub fn new(
        chain_id: u64,
        address: Address,
        name: impl Into<String>,
        version: impl Into<String>,
    ) -> Self {
        Self {
            chain_id,
            address,
            name: name.into(),
            version: version.into(),
        }
    }

    /// Returns USDC on the test network Base Sepolia, with 6 decimals.
    pub fn usdc_base_sepolia() -> Self {
        let address = address!("0x036CbD53842c5426634e7929541eC2318f3dCF7e");
        Self::new(84_532, address, "USDC", "2")
    }

    /// Returns the chain.
    pub const fn chain_id(&self) -> u64 {
        self.chain_id
    }

    /// Returns the contract.
    pub const fn address(&self) -> Address {
        self.address
    }

    /// Returns the name in the EIP-712 domain.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the version in the EIP-712 domain.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the chain in the words of CAIP-2, as x402 names it.
    pub fn network(&self) -> String {
        format!("{NAMESPACE}{}", self.chain_id)
    }

    /// Returns the domain that an authorization for this token is signed in.
    pub fn domain(&self) -> Eip712Domain {
        Eip712Domain::new(
            Some(self.name.clone().into()),
            Some(self.version.clone().into()),
            Some(U256::from(self.chain_id)),
            Some(self.address),
            None,
        )
    }

    /// Returns where this token keeps its nonces.
    pub(crate) const fn space(&self) -> (u64, Address) {
        (self.chain_id, self.address)
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{NAMESPACE}{}/{}", self.chain_id, self.address)
    }
}

/// Reads the chain id out of a CAIP-2 name of an EVM chain.
pub(crate) fn chain_id(network: &str) -> Option<u64> {
    let digits = network.strip_prefix(NAMESPACE)?;
    digits
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| digits.parse().ok())?
}

const NAMESPACE: &str = "eip155:";
