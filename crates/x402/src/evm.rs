//! Transfers with authorization (EIP-3009), and what is signed of them (EIP-712).

use std::borrow::Cow;

use alloy_primitives::{Address, B256, Signature, U256};
use alloy_sol_types::{Eip712Domain, SolStruct};

use crate::Asset;

pub(crate) use typed::TransferWithAuthorization;

/// The macro makes public what only a wallet needs.
mod typed {
    use alloy_sol_types::sol;

    sol! {
        /// The struct that EIP-3009 has a payer sign.
        #[derive(Debug)]
        struct TransferWithAuthorization {
            address from;
            address to;
            uint256 value;
            uint256 validAfter;
            uint256 validBefore;
            bytes32 nonce;
        }
    }
}

/// One transfer that its payer authorizes, in the terms of EIP-3009.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Authorization {
    /// Who pays.
    pub from: Address,
    /// Who is paid.
    pub to: Address,
    /// How much, in atomic units.
    pub value: U256,
    /// From when it can be settled, in seconds since the Unix epoch, exclusive.
    pub valid_after: U256,
    /// Until when it can be settled, in seconds since the Unix epoch, exclusive.
    pub valid_before: U256,
    /// What lets it settle once.
    pub nonce: B256,
}

impl Authorization {
    /// Returns an authorization that is valid from the start of time: a later start protects
    /// nothing of the payer's and fails where clocks differ.
    pub const fn new(
        from: Address,
        to: Address,
        value: U256,
        valid_before: U256,
        nonce: B256,
    ) -> Self {
        Self {
            from,
            to,
            value,
            valid_after: U256::ZERO,
            valid_before,
            nonce,
        }
    }

    /// Returns the digest that is signed (EIP-712).
    pub fn signing_hash(&self, domain: &Eip712Domain) -> B256 {
        self.typed().eip712_signing_hash(domain)
    }

    /// Returns the hash of the struct alone (EIP-712).
    pub fn struct_hash(&self) -> B256 {
        self.typed().eip712_hash_struct()
    }

    /// Returns who made `signature` over this, if it can be told.
    pub fn signer(&self, domain: &Eip712Domain, signature: &Signature) -> Option<Address> {
        signature
            .recover_address_from_prehash(&self.signing_hash(domain))
            .ok()
    }

    pub(crate) const fn typed(&self) -> TransferWithAuthorization {
        TransferWithAuthorization {
            from: self.from,
            to: self.to,
            value: self.value,
            validAfter: self.valid_after,
            validBefore: self.valid_before,
            nonce: self.nonce,
        }
    }
}

/// Returns the signing domain of a token: `name` and `version` are the contract's own.
pub fn domain(name: &str, version: &str, asset: Asset) -> Eip712Domain {
    Eip712Domain {
        name: Some(Cow::Owned(name.to_owned())),
        version: Some(Cow::Owned(version.to_owned())),
        chain_id: Some(U256::from(asset.network.chain_id())),
        verifying_contract: Some(asset.contract),
        salt: None,
    }
}
