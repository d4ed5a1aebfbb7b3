//! The token: its interface, its code, and that the code is the one that was compiled.

use alloy_primitives::{B256, b256, hex, keccak256};
use alloy_sol_types::{SolCall, SolEvent, SolStruct, sol};
use paywait_x402::KnownAsset;

use crate::evm::Evm;

sol! {
    /// What is asked of the token. The events, errors and names are those of `Token.sol`.
    #[derive(Debug)]
    contract Token {
        event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
        event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);

        error NotYetValid();
        error Expired();
        error NonceUsed();
        error WrongSignature();
        error BalanceTooSmall();

        function balanceOf(address account) external view returns (uint256);
        function authorizationState(address authorizer, bytes32 nonce) external view returns (bool);
        function mint(address to, uint256 value) external;
        function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external;
        function transferWithAuthorization(
            address from,
            address to,
            uint256 value,
            uint256 validAfter,
            uint256 validBefore,
            bytes32 nonce,
            uint8 v,
            bytes32 r,
            bytes32 s
        ) external;
    }

    /// The struct that EIP-3009 has a payer sign to take a nonce back.
    #[derive(Debug)]
    struct CancelAuthorization {
        address authorizer;
        bytes32 nonce;
    }
}

/// The code that makes the token, as `compile.sh` wrote it.
pub(crate) fn creation_code() -> Vec<u8> {
    hex::decode(include_str!("token/Token.hex").trim_end()).unwrap()
}

#[test]
fn the_code_that_runs_is_the_one_that_was_compiled_from_this_source() {
    let source = keccak256(include_str!("token/Token.sol"));
    let settings = keccak256(include_str!("token/solc.json"));
    let deployed = Evm::deploy(KnownAsset::all()[1].asset, 0).code_hash();
    // all change together: run token/compile.sh, then write here what it made
    assert_eq!((source, settings, deployed), (SOURCE, SETTINGS, DEPLOYED));
}

#[test]
fn the_interface_is_that_of_eip_3009() {
    assert_eq!(
        Token::AuthorizationUsed::SIGNATURE_HASH,
        b256!("98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5")
    );
    assert_eq!(
        Token::AuthorizationCanceled::SIGNATURE_HASH,
        b256!("1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81")
    );
    assert_eq!(
        keccak256(CancelAuthorization::eip712_encode_type().as_bytes()),
        b256!("158b0a9edf7a828aad02f63cd515c68ef2f50ba807396f6d12842833a1597429")
    );
    let selectors = [
        Token::transferWithAuthorizationCall::SELECTOR,
        Token::cancelAuthorizationCall::SELECTOR,
        Token::authorizationStateCall::SELECTOR,
    ];
    assert_eq!(
        selectors.map(u32::from_be_bytes),
        [0xe3ee_160e, 0x5a04_9a70, 0xe94a_0102]
    );
}

const SOURCE: B256 = b256!("0fd73e9d932c255343fb8040120f0170aae9b742b467e065883df04938b62dd7");
const SETTINGS: B256 = b256!("d07fb35e8a75df74b938c207721103cf12d5423c891fe007221a113b0fd1bfa4");
const DEPLOYED: B256 = b256!("b0fb7ad2c137934ab901ae8d10d28405f83c0e920b2498a4b2b641beaf005db8");
