//! The gate before the signer: each rule against the offers that it is for.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use alloy_primitives::{Address, U256};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use paywait_x402::{
    Amount, Asset, Candidate, Choose, Domain, EntryError, KnownAsset, Network, Offer, PaymentFlow,
    Policy, Refusal, Token, usd,
};
use serde_json::{Value, json};

fn entry() -> Value {
    json!({
        "scheme": "exact", "network": "eip155:84532", "amount": "10000",
        "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        "payTo": PAYEE, "maxTimeoutSeconds": 60,
        "extra": {"name": "USDC", "version": "2"},
    })
}

/// The entry that all are made from, with `value` at `pointer`, whose last name may be new.
fn with(pointer: &str, value: Value) -> Value {
    change(entry(), pointer, value)
}

fn change(mut entry: Value, pointer: &str, value: Value) -> Value {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let parent = entry.pointer_mut(parent).unwrap();
    let parent = parent.as_object_mut().unwrap();
    parent.insert(name.to_owned(), value);
    entry
}

fn offer(entries: &[Value]) -> Offer {
    let offer = json!({"x402Version": 2, "accepts": entries});
    Offer::decode(STANDARD.encode(offer.to_string()).as_bytes()).unwrap()
}

/// Five cents a call, on test networks.
fn policy() -> Policy {
    Policy::new(usd("0.05").unwrap())
}

fn base() -> Policy {
    policy().networks([Network::evm(8453)])
}

fn usdc() -> Asset {
    asset(84_532, "0x036CbD53842c5426634e7929541eC2318f3dCF7e")
}

fn asset(chain_id: u64, contract: &str) -> Asset {
    Asset::new(Network::evm(chain_id), contract.parse().unwrap())
}

/// EURC on Base: known, and no dollar token.
fn eurc() -> Value {
    let eurc = with("/network", json!("eip155:8453"));
    let eurc = change(eurc, "/asset", json!(EURC));
    change(eurc, "/extra", json!({"name": "EURC", "version": "2"}))
}

/// A token that nobody knows, and calls itself USDC.
fn stranger() -> Value {
    with("/asset", json!(STRANGER))
}

/// A rule, a policy that has it, an entry that it is for, and what the refusal says.
struct Row {
    policy: Policy,
    entry: Value,
    is: fn(&Refusal) -> bool,
    rule: &'static str,
    asked: String,
    allowed: &'static str,
    setting: Option<&'static str>,
}

fn row(
    policy: Policy,
    entry: Value,
    is: fn(&Refusal) -> bool,
    said: (&'static str, impl Into<String>, &'static str),
    setting: Option<&'static str>,
) -> Row {
    let (rule, asked, allowed) = said;
    Row {
        policy,
        entry,
        is,
        rule,
        asked: asked.into(),
        allowed,
        setting,
    }
}

macro_rules! is {
    ($variant:pat) => {
        |refusal| matches!(refusal, $variant)
    };
}

/// Where an offer may be paid: who is asked for what.
fn places() -> Vec<Row> {
    let mainnet = change(
        with("/network", json!("eip155:8453")),
        "/asset",
        json!("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
    );
    vec![
        row(
            policy(),
            mainnet,
            is!(Refusal::Network { .. }),
            ("network", "eip155:8453", "eip155:11155111, eip155:11124, "),
            Some("networks"),
        ),
        row(
            base(),
            entry(),
            is!(Refusal::Network { .. }),
            ("network", "eip155:84532", "eip155:8453"),
            Some("networks"),
        ),
        row(
            policy().networks([]),
            entry(),
            is!(Refusal::Network { .. }),
            ("network", "eip155:84532", "none"),
            Some("networks"),
        ),
        row(
            policy(),
            with("/network", json!("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp")),
            is!(Refusal::Unreadable(EntryError::Network(_))),
            (
                "entry",
                "only EVM chains (eip155:…) are supported",
                READABLE,
            ),
            None,
        ),
    ]
}

/// What an offer may be paid with.
fn tokens() -> Vec<Row> {
    let euro = "eip155:8453/0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42";
    let listed = policy().assets([asset(43_113, "0x5425890298aed601595a70AB815c96711a31Bc65")]);
    vec![
        row(
            policy(),
            stranger(),
            is!(Refusal::UnknownAsset { .. }),
            (
                "known tokens",
                format!("eip155:84532/{STRANGER}"),
                "eip155:84532/0x036CbD53842c5426634e7929541eC2318f3dCF7e, ",
            ),
            Some("token"),
        ),
        row(
            listed,
            entry(),
            is!(Refusal::Asset { .. }),
            (
                "listed tokens",
                "eip155:84532/0x036CbD53842c5426634e7929541eC2318f3dCF7e",
                "eip155:43113/0x5425890298aed601595a70AB815c96711a31Bc65",
            ),
            Some("assets"),
        ),
        row(
            base(),
            eurc(),
            is!(Refusal::NotDollars { .. }),
            (
                "dollar tokens",
                "0.01 EURC",
                "dollar tokens, and others with a limit in their own units",
            ),
            Some("units"),
        ),
        row(
            base().units(asset(8453, EURC), Amount::from_u64(9_999)),
            eurc(),
            is!(Refusal::Units { .. }),
            ("price in units", "0.01 EURC", "up to 0.009999 EURC a call"),
            Some("units"),
        ),
        row(
            base()
                .assets([usdc()])
                .units(asset(8453, EURC), Amount::MAX),
            eurc(),
            is!(Refusal::Asset { .. }),
            ("listed tokens", euro, "eip155:84532/0x036C"),
            Some("assets"),
        ),
        row(
            policy().token(described("9"), Amount::MAX),
            stranger(),
            is!(Refusal::OtherDomain { .. }),
            (
                "signing domain",
                r#""USDC" version "2""#,
                r#""USDC" version "9""#,
            ),
            Some("token"),
        ),
        row(
            policy(),
            with("/extra/name", json!("USD Coin")),
            is!(Refusal::OtherDomain { .. }),
            (
                "signing domain",
                r#""USD Coin" version "2""#,
                r#""USDC" version "2""#,
            ),
            None,
        ),
        row(
            policy(),
            with("/extra/version", json!("1")),
            is!(Refusal::OtherDomain { .. }),
            (
                "signing domain",
                r#""USDC" version "1""#,
                r#""USDC" version "2""#,
            ),
            None,
        ),
    ]
}

/// How much an offer may ask for.
fn prices() -> Vec<Row> {
    let units = policy().units(usdc(), Amount::from_u64(5_000));
    vec![
        row(
            policy(),
            with("/amount", json!("50001")),
            is!(Refusal::PerCall { .. }),
            ("price", "0.050001 USD", "up to 0.05 USD a call"),
            Some("per_call"),
        ),
        row(
            policy(),
            with("/amount", json!(Amount::MAX.to_string())),
            is!(Refusal::Uncountable),
            (
                "price",
                "more than can be counted in dollars",
                "what can be counted",
            ),
            None,
        ),
        row(
            units,
            entry(),
            is!(Refusal::Units { .. }),
            ("price in units", "0.01 USDC", "up to 0.005 USDC a call"),
            Some("units"),
        ),
        row(
            Policy::new(usd("0").unwrap()).units(usdc(), Amount::MAX),
            with("/amount", json!("1")),
            is!(Refusal::Blocked { .. }),
            (
                "no payments",
                "1 units of eip155:84532/",
                "nothing, the limit is zero",
            ),
            Some("per_call"),
        ),
        row(
            policy(),
            with("/amount", json!("0")),
            is!(Refusal::Unreadable(EntryError::Amount)),
            (
                "entry",
                "the amount is not a positive whole number of atomic units",
                READABLE,
            ),
            None,
        ),
    ]
}

/// Who may be paid.
fn payees() -> Vec<Row> {
    let payee: Address = PAYEE.parse().unwrap();
    let nobody = "an address that somebody can spend from";
    let to = |payee: &str| with("/payTo", json!(payee));
    vec![
        row(
            policy().payees([Address::repeat_byte(0x11)]),
            entry(),
            is!(Refusal::Payee { .. }),
            (
                "listed payees",
                PAYEE,
                "0x1111111111111111111111111111111111111111",
            ),
            Some("payees"),
        ),
        row(
            policy().payees([payee]).deny_payees([payee]),
            entry(),
            is!(Refusal::DeniedPayee { .. }),
            ("denied payees", PAYEE, "any other"),
            Some("deny_payees"),
        ),
        row(
            policy(),
            to("0x0000000000000000000000000000000000000000"),
            is!(Refusal::NobodysPayee { .. }),
            (
                "payee",
                "0x0000000000000000000000000000000000000000",
                nobody,
            ),
            None,
        ),
        row(
            policy(),
            to("0x000000000000000000000000000000000000dEaD"),
            is!(Refusal::NobodysPayee { .. }),
            (
                "payee",
                "0x000000000000000000000000000000000000dEaD",
                nobody,
            ),
            None,
        ),
        row(
            policy(),
            to("0x036CbD53842c5426634e7929541eC2318f3dCF7e"),
            is!(Refusal::NobodysPayee { .. }),
            (
                "payee",
                "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
                nobody,
            ),
            None,
        ),
    ]
}

/// How an offer may be settled, and how long it may ask to be valid.
fn ways() -> Vec<Row> {
    let flow = |flow: &str| with("/extra/paymentFlow", json!(flow));
    let lasts = |seconds: u64| with("/maxTimeoutSeconds", json!(seconds));
    vec![
        row(
            policy().upfront(false),
            flow("upfront"),
            is!(Refusal::Flow { .. }),
            ("payment flow", "upfront", "authorization, escrow"),
            Some("upfront"),
        ),
        row(
            policy().escrow(false),
            flow("escrow"),
            is!(Refusal::Flow { .. }),
            ("payment flow", "escrow", "authorization, upfront"),
            Some("escrow"),
        ),
        row(
            policy(),
            flow("barter"),
            is!(Refusal::Unreadable(EntryError::Flow)),
            ("entry", "the payment flow is not known", READABLE),
            None,
        ),
        row(
            policy(),
            with("/extra/assetTransferMethod", json!("permit2")),
            is!(Refusal::Unreadable(EntryError::TransferMethod)),
            (
                "entry",
                "only transfers by EIP-3009 are supported",
                READABLE,
            ),
            None,
        ),
        row(
            policy(),
            with("/scheme", json!("upto")),
            is!(Refusal::Unreadable(EntryError::Scheme)),
            ("entry", "only the scheme exact is supported", READABLE),
            None,
        ),
        row(
            policy(),
            lasts(14),
            is!(Refusal::Window { .. }),
            ("shortest window", "14 s", "15 s or more"),
            Some("shortest_window"),
        ),
        row(
            policy().shortest_window(Duration::from_millis(60_001)),
            lasts(60),
            is!(Refusal::Window { .. }),
            ("shortest window", "60 s", "61 s or more"),
            Some("shortest_window"),
        ),
        row(
            policy().window(Duration::from_secs(10)),
            lasts(60),
            is!(Refusal::NoWindow { .. }),
            ("window", "15 s or more", "up to 10 s"),
            Some("window"),
        ),
        row(
            policy().longest_timeout(Duration::from_secs(3_600)),
            lasts(31_536_000),
            is!(Refusal::LongWindow { .. }),
            ("longest window", "31536000 s", "3600 s or less"),
            Some("longest_timeout"),
        ),
    ]
}

fn table() -> Vec<Row> {
    [places(), tokens(), prices(), payees(), ways()]
        .into_iter()
        .flatten()
        .collect()
}

/// Printed with `--nocapture`.
#[test]
fn each_hostile_offer_is_refused_by_its_rule_in_words_that_help() {
    println!("| rule | asked | allowed | setting |\n|---|---|---|---|");
    for row in table() {
        let offer = offer(std::slice::from_ref(&row.entry));
        let Err(Refusal::NoMatch(none)) = row.policy.choose(&offer) else {
            panic!("{} is paid", row.entry);
        };
        let refusal = &none.offered[0].why;
        let (asked, allowed) = (refusal.asked(), refusal.allowed());
        let setting = refusal.setting();
        let shown: String = allowed.chars().take(60).collect();
        let named = setting.unwrap_or("-");
        println!("| {} | {asked} | {shown} | {named} |", refusal.rule());

        assert!((row.is)(refusal), "{refusal:?}");
        assert_eq!(refusal.rule(), row.rule);
        assert!(asked.starts_with(&row.asked), "{asked}");
        assert!(allowed.starts_with(row.allowed), "{allowed}");
        assert_eq!(setting, row.setting, "{refusal}");
        let words = none.to_string();
        assert_eq!(words, refusal.to_string());
        assert!(
            words.contains(&asked) && words.contains(&allowed),
            "{words}"
        );
        // of the exact entry the gate says the same
        if let Some(entry) = offer.entries().first() {
            assert_eq!(row.policy.check(entry).as_ref(), Err(refusal));
        }
    }
}

#[test]
fn what_each_row_is_made_from_is_paid_where_nothing_forbids_it() {
    assert_eq!(policy().choose(&offer(&[entry()])), Ok(0));
    let units = base().units(asset(8453, EURC), Amount::from_u64(10_000));
    assert_eq!(units.choose(&offer(&[eurc()])), Ok(0));
    let price = units.check(&offer(&[eurc()]).entries()[0]).unwrap();
    assert_eq!((price.usd, price.amount), (None, Amount::from_u64(10_000)));
    let told = policy().token(described("2"), Amount::from_u64(10_000));
    assert_eq!(told.choose(&offer(&[stranger()])), Ok(0));
    for flow in ["authorization", "upfront", "escrow"] {
        let entry = with("/extra/paymentFlow", json!(flow));
        assert_eq!(policy().choose(&offer(&[entry])), Ok(0), "{flow}");
    }
}

#[test]
fn upfront_and_escrow_are_forbidden_each_on_its_own() {
    let pays = |policy: &Policy, flow: &str| {
        let entry = with("/extra/paymentFlow", json!(flow));
        policy.choose(&offer(&[entry])).is_ok()
    };
    for (upfront, escrow) in [(true, true), (true, false), (false, true), (false, false)] {
        let policy = policy().upfront(upfront).escrow(escrow);
        assert!(pays(&policy, "authorization"));
        assert_eq!(pays(&policy, "upfront"), upfront);
        assert_eq!(pays(&policy, "escrow"), escrow);
    }
}

#[test]
fn a_known_token_is_not_described_anew() {
    let mut token = Token::from(KnownAsset::find(usdc()).unwrap());
    token.domain = Domain::new("mine", "1");
    let policy = policy().token(token, Amount::MAX);
    let own = with("/extra", json!({"name": "mine", "version": "1"}));
    assert!(policy.choose(&offer(&[own])).is_err());
    assert_eq!(policy.choose(&offer(&[entry()])), Ok(0));
}

#[test]
fn where_nothing_matches_all_that_is_offered_and_supported_is_listed() {
    let entries = [
        with("/scheme", json!("upto")),
        with("/amount", json!("50001")),
        with("/extra/assetTransferMethod", json!("permit2")),
        stranger(),
    ];
    let Err(Refusal::NoMatch(none)) = policy().choose(&offer(&entries)) else {
        panic!("something is chosen");
    };
    let places: Vec<_> = none.offered.iter().map(|one| one.place).collect();
    assert_eq!(places, [0, 1, 2, 3]);
    let read: Vec<_> = none.offered.iter().map(|one| one.asked.is_some()).collect();
    assert_eq!(read, [false, true, false, true]);
    let supported = &none.supported;
    let tokens: Vec<_> = supported.tokens.iter().map(|token| token.asset).collect();
    assert!(tokens.contains(&usdc()));
    assert!(tokens.iter().all(|asset| policy().pays_on(asset.network)));
    let words = Refusal::NoMatch(none).to_string();
    for said in [
        "entry 0: entry: asked only the scheme exact",
        "entry 1 (50001 units of eip155:84532/",
        "setting: per_call",
        "entry 2: entry: asked only transfers by EIP-3009",
        "entry 3 (10000 units",
        "supported are networks eip155:",
        "tokens USDC (eip155:84532/",
    ] {
        assert!(words.contains(said), "{said}: {words}");
    }
    assert_eq!(
        policy().choose(&offer(&[])),
        Err(Refusal::NothingOffered),
        "nothing at all is its own refusal"
    );
}

#[test]
fn a_seller_s_own_words_do_not_flood_a_refusal() {
    let long = "💸".repeat(128);
    let entries = vec![with("/extra/name", json!(long)); 64];
    let refused = policy().choose(&offer(&entries)).unwrap_err();
    assert!(refused.to_string().len() < 16_000);
    assert!(refused.to_string().contains("and 56 more"));
}

#[test]
fn a_quote_says_what_would_be_signed() {
    let offer = offer(&[with("/extra/paymentFlow", json!("upfront"))]);
    let quote = policy().quote(&offer.entries()[0], 60).unwrap();
    assert_eq!(quote.token.asset, usdc());
    assert_eq!(quote.usd, Some(usd("0.01").unwrap()));
    assert_eq!(quote.flow, PaymentFlow::Upfront);
    assert_eq!(quote.valid_for, Duration::from_secs(60));
    assert_eq!(
        quote.to_string(),
        format!("0.01 USDC on eip155:84532 to {PAYEE}")
    );
    let longest = policy().quote(&offer.entries()[0], u64::MAX).unwrap();
    assert_eq!(longest.valid_for, policy().longest_window());
}

/// Takes what it is told to.
#[derive(Debug)]
struct Takes(Option<usize>);

impl Choose for Takes {
    fn choose(&self, _: &[Candidate<'_>]) -> Option<usize> {
        self.0
    }
}

#[test]
fn a_chooser_of_ones_own_chooses_among_what_may_be_paid_and_nothing_else() {
    let two = offer(&[
        with("/amount", json!("50001")),
        with("/amount", json!("20000")),
        entry(),
    ]);
    let by = |place| policy().choose_by(Arc::new(Takes(place))).choose(&two);
    assert_eq!((by(Some(0)), by(Some(1))), (Ok(1), Ok(2)));
    let none = Err(Refusal::NotChosen { candidates: 2 });
    assert_eq!((by(None), by(Some(2))), (none.clone(), none));
}

#[test]
fn what_cannot_be_funded_is_skipped_and_what_is_not_known_is_not() {
    let fuji = asset(43_113, "0x5425890298aed601595a70AB815c96711a31Bc65");
    let dear = change(entry(), "/network", json!("eip155:43113"));
    let dear = change(dear, "/asset", json!(fuji.contract.to_string()));
    let dear = change(dear, "/extra/name", json!("USD Coin"));
    let dear = change(dear, "/amount", json!("20000"));
    let two = offer(&[dear, entry()]);
    let with = |funds: &[(Asset, u64)]| {
        let funds = funds.iter();
        let funds = funds.map(|(asset, units)| (*asset, Amount::from_u64(*units)));
        let funds: BTreeMap<_, _> = funds.collect();
        policy().choose_funded(&two, None, &funds)
    };
    assert_eq!(with(&[]), Ok(1));
    assert_eq!(with(&[(usdc(), 10_000)]), Ok(1), "to the last unit");
    assert_eq!(with(&[(usdc(), 9_999)]), Ok(0));
    let Err(Refusal::NoMatch(none)) = with(&[(usdc(), 9_999), (fuji, 0)]) else {
        panic!("something is chosen");
    };
    let why = &none.offered[1].why;
    assert_eq!(
        why.to_string(),
        "balance: asked 0.01 USDC, allowed up to 0.009999 USDC, the balance (setting: balances)"
    );
}

mod choosing {
    use proptest::prelude::*;

    use super::*;

    /// Any of four networks, three of them with USDC that is known, at some price and flow.
    fn some_entry() -> impl Strategy<Value = Value> {
        let chains = prop_oneof![
            Just((84_532, "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "USDC")),
            Just((
                43_113,
                "0x5425890298aed601595a70AB815c96711a31Bc65",
                "USD Coin"
            )),
            Just((80_002, "0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582", "USDC")),
            Just((
                8453,
                "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
                "USD Coin"
            )),
            Just((84_532, STRANGER, "USDC")),
        ];
        let amounts = prop_oneof![1_u64..4, 9_999_u64..10_002, 49_999_u64..50_003];
        let flows = prop_oneof![
            Just("authorization"),
            Just("upfront"),
            Just("escrow"),
            Just("barter")
        ];
        (chains, amounts, flows, prop_oneof![Just(14), Just(60)]).prop_map(
            |((chain, contract, name), amount, flow, seconds)| {
                json!({
                    "scheme": "exact", "network": format!("eip155:{chain}"),
                    "amount": amount.to_string(), "asset": contract, "payTo": PAYEE,
                    "maxTimeoutSeconds": seconds,
                    "extra": {"name": name, "version": "2", "paymentFlow": flow},
                })
            },
        )
    }

    fn some_policy() -> impl Strategy<Value = Policy> {
        (any::<bool>(), any::<bool>(), prop::bool::weighted(0.3)).prop_map(
            |(upfront, escrow, names)| {
                let policy = policy().upfront(upfront).escrow(escrow);
                match names {
                    true => policy
                        .networks([8453, 43_113].map(Network::evm))
                        .prefer_networks([Network::evm(8453)]),
                    false => policy.prefer_networks([43_113, 84_532].map(Network::evm)),
                }
            },
        )
    }

    /// The order that is promised, told in other words than the code's.
    fn comes_before(policy: &Policy, offer: &Offer, one: usize, other: usize) -> bool {
        let [one, other] = [one, other].map(|place| {
            let entry = &offer.entries()[place];
            let late = entry.payment_flow() == PaymentFlow::Authorization;
            let named = policy.pays_on(Network::evm(8453));
            let order: &[u64] = if named { &[8453] } else { &[43_113, 84_532] };
            let chain = entry.network().chain_id();
            let network = order.iter().position(|preferred| *preferred == chain);
            let network = network.unwrap_or(order.len());
            (!late, entry.amount(), network, place)
        });
        one < other
    }

    proptest! {
        #[test]
        fn what_is_chosen_may_be_paid_and_nothing_that_may_comes_before_it(
            entries in prop::collection::vec(some_entry(), 0..6),
            policy in some_policy(),
        ) {
            let offer = offer(&entries);
            let may = |place: &usize| policy.check(&offer.entries()[*place]).is_ok();
            let all: Vec<usize> = (0..offer.entries().len()).filter(may).collect();
            match policy.choose(&offer) {
                Ok(chosen) => {
                    prop_assert!(all.contains(&chosen));
                    for other in all {
                        let first = other == chosen || comes_before(&policy, &offer, chosen, other);
                        prop_assert!(first, "{} before {}", chosen, other);
                    }
                }
                Err(Refusal::NoMatch(none)) => {
                    prop_assert!(all.is_empty());
                    prop_assert_eq!(none.offered.len(), entries.len());
                }
                Err(other) => prop_assert!(entries.is_empty(), "{}", other),
            }
        }

        #[test]
        fn no_order_of_the_seller_s_makes_it_cost_more(
            entries in prop::collection::vec(some_entry(), 1..6),
            turns in 0_usize..6,
        ) {
            let price = |entries: &[Value]| {
                let offer = offer(entries);
                let chosen = policy().choose(&offer).ok()?;
                let entry = &offer.entries()[chosen];
                Some((entry.payment_flow() == PaymentFlow::Authorization, entry.amount()))
            };
            let mut turned = entries.clone();
            let length = turned.len();
            turned.rotate_left(turns.min(length));
            prop_assert_eq!(price(&entries), price(&turned));
        }

        #[test]
        fn what_a_chooser_says_is_never_what_may_not_be_paid(
            entries in prop::collection::vec(some_entry(), 1..6),
            place in 0_usize..8,
        ) {
            let offer = offer(&entries);
            let policy = policy().choose_by(Arc::new(Takes(Some(place))));
            if let Ok(chosen) = policy.choose(&offer) {
                prop_assert!(policy.check(&offer.entries()[chosen]).is_ok());
            }
        }

        #[test]
        fn with_funds_it_is_the_choice_among_what_can_be_funded(
            entries in prop::collection::vec(some_entry(), 1..6),
            there in 0_u64..60_000,
        ) {
            let all = offer(&entries);
            let funds: BTreeMap<_, _> = KnownAsset::all().iter()
                .map(|known| (known.asset, Amount::from_u64(there)))
                .collect();
            let fits = |entry: &&Value| {
                let amount: U256 = entry["amount"].as_str().unwrap().parse().unwrap();
                amount <= U256::from(there)
            };
            let funded: Vec<Value> = entries.iter().filter(fits).cloned().collect();
            let chosen = policy().choose_funded(&all, None, &funds).ok();
            let chosen = chosen.map(|place| all.entries()[place].amount());
            let funded = offer(&funded);
            let alone = policy().choose(&funded).ok();
            prop_assert_eq!(chosen, alone.map(|place| funded.entries()[place].amount()));
        }
    }
}

fn described(version: &str) -> Token {
    let domain = Domain::new("USDC", version);
    Token::new(asset(84_532, STRANGER), "XUSD", 6, domain)
}

const PAYEE: &str = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C";

const EURC: &str = "0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42";

const STRANGER: &str = "0x4444444444444444444444444444444444444444";

const READABLE: &str = "scheme exact on EVM chains by EIP-3009";
