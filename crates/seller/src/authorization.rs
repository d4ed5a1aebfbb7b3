//! A signed EIP-3009 authorization: what it promises, and whether its payer signed it.

use std::fmt;

use alloy_primitives::{Address, B256, Signature, U256, keccak256};
use alloy_sol_types::SolStruct;

use crate::Token;

/// A signed EIP-3009 authorization as a buyer showed it.
#[derive(Clone, PartialEq)]
pub(crate) struct Authorization {
    pub(crate) token: Token,
    pub(crate) from: Address,
    pub(crate) to: Address,
    pub(crate) value: U256,
    pub(crate) valid_after: U256,
    pub(crate) valid_before: U256,
    pub(crate) nonce: B256,
    signature: Vec<u8>,
    digest: B256,
    key: B256,
}

impl Authorization {
    pub(crate) fn new(
        token: Token,
        (from, to): (Address, Address),
        value: U256,
        (valid_after, valid_before): (U256, U256),
        nonce: B256,
        signature: Vec<u8>,
    ) -> Self {
        let message = eip3009::TransferWithAuthorization {
            from,
            to,
            value,
            validAfter: valid_after,
            validBefore: valid_before,
            nonce,
        };
        let digest = message.eip712_signing_hash(&token.domain());
        let key = keccak256([digest.as_slice(), &signature].concat());
        Self {
            token,
            from,
            to,
            value,
            valid_after,
            valid_before,
            nonce,
            signature,
            digest,
            key,
        }
    }

    /// Returns what tells this authorization from any other: message, domain and signature.
    pub(crate) const fn key(&self) -> B256 {
        self.key
    }

    /// Returns where its nonce is used up: chain, token, payer and nonce.
    pub(crate) const fn slot(&self) -> Slot {
        (self.token.space(), self.from, self.nonce)
    }

    /// Returns whether the payer's key made the signature, in the form that token contracts take:
    /// 65 bytes, `v` 27 or 28, and `s` in the lower half (EIP-2).
    pub(crate) fn is_signed(&self) -> bool {
        if !matches!(self.signature.as_slice(), [_, .., 27 | 28]) {
            return false;
        }
        let Ok(signature) = Signature::from_raw(&self.signature) else {
            return false;
        };
        signature.normalize_s().is_none()
            && signature
                .recover_address_from_prehash(&self.digest)
                .is_ok_and(|signer| signer == self.from)
    }
}

impl fmt::Debug for Authorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorization")
            .field("from", &self.from)
            .field("to", &self.to)
            .field("value", &self.value)
            .field("nonce", &self.nonce)
            .finish_non_exhaustive()
    }
}

/// Chain, token, payer and nonce.
pub(crate) type Slot = ((u64, Address), Address, B256);

mod eip3009 {
    alloy_sol_types::sol! {
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

#[cfg(test)]
mod tests {
    use alloy_primitives::{address, b256, hex};

    use super::*;

    /// The signature of the x402 specification's example, made and verified with viem.
    fn published() -> Authorization {
        Authorization::new(
            Token::usdc_base_sepolia(),
            (
                address!("0x70997970C51812dc3A010C7d01b50e0d17dc79C8"),
                address!("0x209693Bc6afc0C5328bA36FaF03C514EF312287C"),
            ),
            U256::from(10_000),
            (U256::ZERO, U256::from(1_740_672_154)),
            b256!("0xf3746613c2d920b5fdabc0856f2aeb2d4f88ee6037b8cc5d04a71a4462f13480"),
            hex!("9e4da37d87d01a322376e66f4a343e0584b617add56cdd845724b83ec1e5384e6ca7d838aac396c0bbfd5bd693a547dde102e55c26d2437d5e6fe92b2add96e61b").to_vec(),
        )
    }

    #[test]
    fn the_published_signature_is_its_payers() {
        let digest = b256!("0x2581a4c01e54debc75ffdcb53e7f023dd6defd24c074bba6467916daed293bdc");
        assert_eq!(published().digest, digest);
        assert!(published().is_signed());
    }

    #[test]
    fn any_other_signature_is_not() {
        let signature = published().signature;
        let mut flipped = signature.clone();
        flipped[64] = 28;
        let mut zero_based = signature.clone();
        zero_based[64] = 0;
        let mut longer = signature.clone();
        longer.insert(0, 0);
        // r, n - s and the other v recover to the same payer; tokens refuse that twin
        let parsed = Signature::from_raw(&signature).unwrap();
        let order = U256::from_be_bytes(hex!(
            "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"
        ));
        let high_s = Signature::new(parsed.r(), order.wrapping_sub(parsed.s()), !parsed.v())
            .as_bytes()
            .to_vec();
        for signature in [
            flipped,
            zero_based,
            longer,
            high_s,
            Vec::new(),
            vec![27; 65],
        ] {
            let other = Authorization {
                signature,
                ..published()
            };
            assert!(!other.is_signed(), "{:?}", other.signature);
        }
    }

    #[test]
    fn debug_keeps_the_signature_to_itself() {
        assert!(!format!("{:?}", published()).contains("9e4da3"));
    }
}
