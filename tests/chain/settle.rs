//! What settles, and what the token refuses.

use alloy_primitives::{Address, B256, U256, address};
use paywait_x402::evm::Authorization;
use paywait_x402::{Asset, Network};
use serde_json::Value;

use crate::buyer::{Buyer, Price, SELLER, Signed, usdc};
use crate::evm::{Event, Evm, Reverted};

const NONCE: B256 = B256::repeat_byte(1);

/// A chain at second 1,000, and a buyer with 50,000 units.
fn funded() -> (Evm, Buyer) {
    let (mut evm, buyer) = (Evm::deploy(usdc(), 1_000), Buyer::random());
    evm.mint(buyer.address(), 50_000);
    (evm, buyer)
}

#[tokio::test]
async fn an_authorization_settles_and_its_amount_moves() {
    let (mut evm, buyer) = funded();
    let signed = buyer.sign(Price::of(10_000), NONCE, 1_060).await;
    assert!(!evm.authorization_state(buyer.address(), NONCE));

    let transaction = signed.settle(&mut evm).unwrap();

    assert_eq!(evm.balance(buyer.address()), 40_000);
    assert_eq!(evm.balance(SELLER), 10_000);
    assert!(evm.authorization_state(buyer.address(), NONCE));
    let events = evm.events();
    assert_eq!(
        events.get(&(buyer.address(), NONCE)),
        Some(&Event::Used { transaction })
    );
    assert_eq!(events.len(), 1);
}

#[test]
fn a_payment_that_viem_signed_settles() {
    let vectors = include_str!("../../crates/x402/tests/vectors/x402-evm.json");
    let vectors: Value = serde_json::from_str(vectors).unwrap();
    let header = vectors.pointer("/wire/PAYMENT_SIGNATURE/base64").unwrap();
    let signed = Signed::read(header.as_str().unwrap().as_bytes());
    let valid_before: u64 = signed.authorization.valid_before.to();
    let mut evm = Evm::deploy(usdc(), valid_before.saturating_sub(1));
    evm.mint(signed.authorization.from, 10_000);

    assert!(signed.settle(&mut evm).is_ok());

    assert_eq!(evm.balance(signed.authorization.to), 10_000);
}

#[tokio::test]
async fn nothing_settles_in_the_second_of_its_valid_before_or_after() {
    let (mut evm, buyer) = funded();
    let signed = buyer.sign(Price::of(10_000), NONCE, 1_060).await;
    for (time, outcome) in [
        (1_059, None),
        (1_060, Some(Reverted::Expired)),
        (1_061, Some(Reverted::Expired)),
        (u64::MAX, Some(Reverted::Expired)),
    ] {
        evm.set_time(time);
        // each second is tried on a chain of its own
        assert_eq!(signed.settle(&mut evm.clone()).err(), outcome, "{time}");
    }
}

#[test]
fn nothing_settles_up_to_the_second_of_its_valid_after() {
    let (mut evm, buyer) = funded();
    let mut authorization = Authorization::new(
        buyer.address(),
        SELLER,
        U256::from(10_000),
        U256::from(2_000),
        NONCE,
    );
    authorization.valid_after = U256::from(1_010);
    let signed = buyer.sign_by_hand(authorization);
    for time in [1_000, 1_010] {
        evm.set_time(time);
        assert_eq!(signed.settle(&mut evm), Err(Reverted::NotYetValid));
    }
    evm.set_time(1_011);
    assert!(signed.settle(&mut evm).is_ok());
}

#[tokio::test]
async fn what_was_signed_for_another_chain_or_domain_is_worthless_here() {
    let (mut evm, buyer) = funded();
    let right = Price::of(10_000);
    for other in [
        Price {
            chain_id: 8_453,
            ..right
        },
        Price {
            domain_name: "USD Coin",
            ..right
        },
    ] {
        let signed = buyer.sign(other, NONCE, 1_060).await;
        assert_eq!(signed.settle(&mut evm), Err(Reverted::WrongSignature));
    }
    assert!(!evm.authorization_state(buyer.address(), NONCE));
    let signed = buyer.sign(right, NONCE, 1_060).await;
    assert!(signed.settle(&mut evm).is_ok());
}

#[tokio::test]
async fn the_same_bytes_settle_on_no_chain_but_their_own() {
    let buyer = Buyer::random();
    let elsewhere = Asset::new(Network::evm(8_453), usdc().contract);
    let mut evm = Evm::deploy(elsewhere, 1_000);
    evm.mint(buyer.address(), 50_000);
    let signed = buyer.sign(Price::of(10_000), NONCE, 1_060).await;
    assert_eq!(signed.settle(&mut evm), Err(Reverted::WrongSignature));
}

#[tokio::test]
async fn whoever_has_the_bytes_can_change_nothing_of_them() {
    let (mut evm, buyer) = funded();
    let signed = buyer.sign(Price::of(10_000), NONCE, 1_060).await;
    let changes: [fn(&mut Authorization); 5] = [
        |changed| changed.value = U256::from(10_001),
        |changed| changed.to = THIEF,
        |changed| changed.valid_before = U256::from(1_061),
        |changed| changed.nonce = B256::repeat_byte(2),
        |changed| changed.from = THIEF,
    ];
    for change in changes {
        let mut changed = signed;
        change(&mut changed.authorization);
        assert_eq!(changed.settle(&mut evm), Err(Reverted::WrongSignature));
    }
    assert_eq!(evm.balance(buyer.address()), 50_000);
}

#[tokio::test]
async fn without_the_money_the_nonce_stays_unused_and_settles_once_there_is_money() {
    let (mut evm, buyer) = (Evm::deploy(usdc(), 1_000), Buyer::random());
    evm.mint(buyer.address(), 9_999);
    let signed = buyer.sign(Price::of(10_000), NONCE, 1_060).await;

    assert_eq!(signed.settle(&mut evm), Err(Reverted::BalanceTooSmall));
    assert!(!evm.authorization_state(buyer.address(), NONCE));
    assert!(evm.events().is_empty());

    // a refusal for want of money frees nothing: it settles as long as it lives
    evm.mint(buyer.address(), 1);
    evm.set_time(1_059);
    assert!(signed.settle(&mut evm).is_ok());
    assert_eq!(evm.balance(buyer.address()), 0);
}

const THIEF: Address = address!("00000000000000000000000000000000000bad00");
