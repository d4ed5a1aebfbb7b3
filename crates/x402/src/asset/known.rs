//! The tokens that are known, all of which take `transferWithAuthorization` (EIP-3009).
//!
//! A token is here if its contract and signing domain are published and hold together. "Circle"
//! is Circle's list of EURC contracts
//! (<https://developers.circle.com/stablecoins/eurc-contract-addresses>) or, for USDC, the
//! addresses in <https://github.com/circlefin/skills>; `@x402/evm` is its default assets in
//! version 2.27.0. "The separator" says that somebody published the contract's own
//! `DOMAIN_SEPARATOR()` as read from the chain, and it is the hash of this domain. For three,
//! marked "alike", none was found, and two x402 packages that say the same are believed. The
//! chains were not asked for this table.
//!
//! Left out, since the domain is disputed, or rests on less, or was not looked into further:
//!
//! - USDT0 on Stable and its test network (`USDT0` or `USD₮0`), Flare, Monad and `MegaETH`;
//! - bridged USDC on Abstract and `IoTeX` (`Bridged USDC` or `Bridged USDC (Stargate)`),
//!   Abstract's test network, Story, EDU Chain and peaq;
//! - USDC on Celo Sepolia (`USDC` or `USD Coin`);
//! - EURC on test networks, USAT on Celo, PYUSD, and AUSD (`AUSD` or `Agora Dollar`).
//!
//! Left out, since the token that is asked for takes no EIP-3009: `MegaUSD` on `MegaETH`, SBC on
//! Radius and its test network, and USDC on XRPL EVM.

use alloy_primitives::{Address, address};

use super::{Asset, KnownAsset};
use crate::Network;

/// USDC on Base and Base Sepolia come first: doctests and tests count on it.
pub(super) const KNOWN: [KnownAsset; 18] = [
    // Base; contract: Circle and @x402/evm; domain: the separator
    token(
        8453,
        address!("833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
        "USDC",
        ("USD Coin", "2"),
        true,
    ),
    // Base Sepolia; contract: Circle and @x402/evm; domain: the separator
    token(
        84_532,
        address!("036CbD53842c5426634e7929541eC2318f3dCF7e"),
        "USDC",
        ("USDC", "2"),
        true,
    ),
    // Ethereum; contract: Circle and @x402/evm; domain: the separator
    token(
        1,
        address!("A0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"),
        "USDC",
        ("USD Coin", "2"),
        true,
    ),
    // Polygon; contract: Circle and @x402/evm; domain: the separator
    token(
        137,
        address!("3c499c542cEF5E3811e1192ce70d8cC03d5c3359"),
        "USDC",
        ("USD Coin", "2"),
        true,
    ),
    // Monad; contract: @x402/evm; domain: the separator
    token(
        143,
        address!("754704Bc059F8C67012fEd69BC8A327a5aafb603"),
        "USDC",
        ("USDC", "2"),
        true,
    ),
    // Sei; contract: @x402/evm; domain: the separator
    token(
        1329,
        address!("e15fC38F6D8c56aF07bbCBe3BAf5708A2Bf42392"),
        "USDC",
        ("USDC", "2"),
        true,
    ),
    // Celo; contract: @x402/evm; domain: the separator
    token(
        42_220,
        address!("cebA9300f2b948710d2653dD7B07f33A8B32118C"),
        "USDC",
        ("USDC", "2"),
        true,
    ),
    // Avalanche; contract: Circle and @x402/evm; domain: the separator
    token(
        43_114,
        address!("B97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E"),
        "USDC",
        ("USD Coin", "2"),
        true,
    ),
    // Avalanche Fuji; contract: Circle and x402-rs; domain: the separator
    token(
        43_113,
        address!("5425890298aed601595a70AB815c96711a31Bc65"),
        "USDC",
        ("USD Coin", "2"),
        true,
    ),
    // Polygon Amoy; contract: Circle and x402-rs; domain: the separator
    token(
        80_002,
        address!("41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582"),
        "USDC",
        ("USDC", "2"),
        true,
    ),
    // Sepolia; contract: Circle; domain: the separator
    token(
        11_155_111,
        address!("1c7D4B196Cb0C7B01d743Fbc6116a902379C7238"),
        "USDC",
        ("USDC", "2"),
        true,
    ),
    // Ethereum; contract: Circle; domain: the separator
    token(
        1,
        address!("1aBaEA1f7C830bD89Acc67eC4af516284b1bC33c"),
        "EURC",
        ("Euro Coin", "2"),
        false,
    ),
    // Base; contract: Circle; domain: the separator
    token(
        8453,
        address!("60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42"),
        "EURC",
        ("EURC", "2"),
        false,
    ),
    // Avalanche; contract: Circle; domain: the separator
    token(
        43_114,
        address!("C891EB4cbdEFf6e073e859e987815Ed1505c2ACD"),
        "EURC",
        ("Euro Coin", "2"),
        false,
    ),
    // Celo; contract: @x402/evm; domain: the separator
    token(
        42_220,
        address!("48065fbBE25f71C9282ddf5e1cD6D6A887483D5e"),
        "USDT",
        ("Tether USD", "1"),
        true,
    ),
    // XDC; contract and domain: @x402/evm and x402-rs alike
    token(
        50,
        address!("fA2958CB79b0491CC627c1557F441eF849Ca8eb1"),
        "USDC",
        ("USDC", "2"),
        true,
    ),
    // Sei testnet; contract and domain: @x402/evm and x402-rs alike
    token(
        1328,
        address!("4fCF1784B31630811181f670Aea7A7bEF803eaED"),
        "USDC",
        ("USDC", "2"),
        true,
    ),
    // SKALE Base Sepolia; contract and domain: legacy x402 and UltravioletaDAO/x402-rs alike
    token(
        324_705_682,
        address!("2e08028E3C4c2356572E096d8EF835cD5C6030bD"),
        "USDC.e",
        ("Bridged USDC (SKALE Bridge)", "2"),
        true,
    ),
];

/// All tokens here have six decimals.
const fn token(
    chain_id: u64,
    contract: Address,
    symbol: &'static str,
    domain: (&'static str, &'static str),
    dollar: bool,
) -> KnownAsset {
    KnownAsset {
        asset: Asset::new(Network::evm(chain_id), contract),
        symbol,
        decimals: 6,
        domain_name: domain.0,
        domain_version: domain.1,
        dollar,
    }
}
