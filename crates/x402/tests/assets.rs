//! The known tokens, against separators that other code computed.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

use std::collections::BTreeSet;

use alloy_primitives::{Address, U256};
use paywait_x402::{Amount, Asset, KnownAsset, MoneyError, Network, evm, usd};

/// Chain, symbol, contract and EIP-712 domain separator, by `domainSeparator` of viem 2.57.20.
/// All but the last three are also what the contracts answered to `DOMAIN_SEPARATOR()`, as
/// others published it.
const SEPARATORS: [(u64, &str, &str, &str); 18] = [
    (
        8453,
        "USDC",
        "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        "02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f",
    ),
    (
        84_532,
        "USDC",
        "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        "71f17a3b2ff373b803d70a5a07c046c1a2bc8e89c09ef722fcb047abe94c9818",
    ),
    (
        1,
        "USDC",
        "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
        "06c37168a7db5138defc7866392bb87a741f9b3d104deb5094588ce041cae335",
    ),
    (
        137,
        "USDC",
        "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359",
        "caa2ce1a5703ccbe253a34eb3166df60a705c561b44b192061e28f2a985be2ca",
    ),
    (
        143,
        "USDC",
        "0x754704Bc059F8C67012fEd69BC8A327a5aafb603",
        "fe22123edc0dd4aeb912eb7948c5f0e531592c2053b3067612f427db342c93c6",
    ),
    (
        1329,
        "USDC",
        "0xe15fC38F6D8c56aF07bbCBe3BAf5708A2Bf42392",
        "0a19136106ae98d2c245cbbd451f3cb2bbbb1670e1ee191abacb5a5e255c0255",
    ),
    (
        42_220,
        "USDC",
        "0xcebA9300f2b948710d2653dD7B07f33A8B32118C",
        "b2ce31d2838445fa765a491f550e7c78ac7280ab0f3bc9d6063a86df9c3fb578",
    ),
    (
        43_114,
        "USDC",
        "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E",
        "bbea200329a938bc3438984a49cb0732e66d66d7bd59c127abacc1710e77f7b3",
    ),
    (
        43_113,
        "USDC",
        "0x5425890298aed601595a70AB815c96711a31Bc65",
        "fe9fa105a0e9629446730e544caa6b8d05d8d4fc93451750dc50e2ddd6d374b3",
    ),
    (
        80_002,
        "USDC",
        "0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582",
        "5cddc98319864e897e4469bd1d13c2288c677047b54b8cca12bd342adb6be9eb",
    ),
    (
        11_155_111,
        "USDC",
        "0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238",
        "b90e5057db141a932946e64d09ccb7ffc9b00bd79fec26f698d29af0c83320a6",
    ),
    (
        1,
        "EURC",
        "0x1aBaEA1f7C830bD89Acc67eC4af516284b1bC33c",
        "99f188f447f0c6eaf68589359cd2ead8c2faaaaee984ab926fdb734d0040073b",
    ),
    (
        8453,
        "EURC",
        "0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42",
        "ec4dcbded0afd42599589b79220899bbe000bb5ea66d6f1bc176e78d094203bb",
    ),
    (
        43_114,
        "EURC",
        "0xC891EB4cbdEFf6e073e859e987815Ed1505c2ACD",
        "094e957ad84a5711a2d13ea2ddcfe3947fe1704472f07bf8a49718f55a65f4b1",
    ),
    (
        42_220,
        "USDT",
        "0x48065fbBE25f71C9282ddf5e1cD6D6A887483D5e",
        "bcb4d62e4834b598d0eacecd84c0b397a0254e077c41cf2143e394d5701d1088",
    ),
    (
        50,
        "USDC",
        "0xfA2958CB79b0491CC627c1557F441eF849Ca8eb1",
        "e3bb44ae105af7e23bb39b117e22bbcbf435066554f45b3a9bbcba42c80fe56d",
    ),
    (
        1328,
        "USDC",
        "0x4fCF1784B31630811181f670Aea7A7bEF803eaED",
        "154bb5980ce1d584a1067dc67730720e6046d0364a2ade0b692dd488e71fe653",
    ),
    (
        324_705_682,
        "USDC.e",
        "0x2e08028E3C4c2356572E096d8EF835cD5C6030bD",
        "9c66d10c4bfde137b77b28f21e155cb5aa5acec7c1ae89d30a5467e11a74fc86",
    ),
];

/// The names of version 1, and whether each is a test network.
const V1: [(&str, bool); 28] = [
    ("abstract", false),
    ("abstract-testnet", true),
    ("avalanche", false),
    ("avalanche-fuji", true),
    ("base", false),
    ("base-sepolia", true),
    ("celo", false),
    ("celo-sepolia", true),
    ("educhain", false),
    ("ethereum", false),
    ("flare", false),
    ("iotex", false),
    ("megaeth", false),
    ("monad", false),
    ("peaq", false),
    ("polygon", false),
    ("polygon-amoy", true),
    ("radius", false),
    ("radius-testnet", true),
    ("sei", false),
    ("sei-testnet", true),
    ("sepolia", true),
    ("skale-base-sepolia", true),
    ("stable", false),
    ("stable-testnet", true),
    ("story", false),
    ("xdc", false),
    ("xrpl-evm", false),
];

fn asset(chain_id: u64, contract: &str) -> Asset {
    Asset::new(Network::evm(chain_id), contract.parse().unwrap())
}

#[test]
fn each_token_has_its_separator_and_each_separator_its_token() {
    assert_eq!(KnownAsset::all().len(), SEPARATORS.len());
    for (chain_id, symbol, contract, separator) in SEPARATORS {
        let known = KnownAsset::find(asset(chain_id, contract)).unwrap();
        let domain = evm::domain(known.domain_name, known.domain_version, known.asset);
        assert_eq!(known.symbol, symbol);
        assert_eq!(
            domain.separator().to_string(),
            format!("0x{separator}"),
            "{symbol} on {chain_id}"
        );
    }
}

#[test]
fn each_contract_is_spelled_with_its_checksum() {
    for (chain_id, _, contract, _) in SEPARATORS {
        assert!(
            Address::parse_checksummed(contract, None).is_ok(),
            "{chain_id}"
        );
    }
}

#[test]
fn no_token_stands_twice() {
    let assets: BTreeSet<Asset> = KnownAsset::all().iter().map(|known| known.asset).collect();
    assert_eq!(assets.len(), KnownAsset::all().len());
}

#[test]
fn a_contract_is_known_on_its_own_chain_only() {
    let base = KnownAsset::all().first().unwrap().asset;
    let elsewhere = Asset::new(Network::evm(1), base.contract);
    assert_eq!(KnownAsset::find(elsewhere), None);
}

#[test]
fn euros_are_no_dollars() {
    for known in KnownAsset::all() {
        assert_eq!(known.dollar, known.symbol != "EURC", "{}", known.asset);
        assert_eq!(known.decimals, 6, "{}", known.asset);
        let one = known.usd(Amount::from_u64(1_000_000));
        let dollar = usd("1").map_err(|_| MoneyError::NotDollars);
        let expected = if known.dollar {
            dollar
        } else {
            Err(MoneyError::NotDollars)
        };
        assert_eq!(one, expected, "{}", known.asset);
    }
}

#[test]
fn each_name_of_version_1_is_a_chain_that_is_known_to_be_a_test_or_not() {
    for (name, test) in V1 {
        assert_eq!(Network::of_v1(name).unwrap().is_testnet(), test, "{name}");
    }
}

#[track_caller]
fn assert_usd(decimals: u8, units: u128, dollars: &str) {
    let mut token = *KnownAsset::all().first().unwrap();
    token.decimals = decimals;
    assert_eq!(
        token.usd(Amount::new(U256::from(units))),
        Ok(usd(dollars).unwrap())
    );
}

#[test]
fn dollars_are_exact_to_18_places_and_rounded_up_beyond() {
    assert_usd(6, 0, "0");
    assert_usd(6, 1, "0.000001");
    assert_usd(6, 1_234_567, "1.234567");
    assert_usd(18, 1, "0.000000000000000001");
    assert_usd(18, 1_500_000_000_000_000_000, "1.5");
    assert_usd(20, 0, "0");
    assert_usd(20, 1, "0.000000000000000001");
    assert_usd(20, 100, "0.000000000000000001");
    assert_usd(20, 101, "0.000000000000000002");
}

#[test]
fn more_dollars_than_can_be_counted_are_an_error() {
    let usdc = KnownAsset::all().first().unwrap();
    assert_eq!(usdc.usd(Amount::MAX), Err(MoneyError::TooLarge));
}
