//! A nonce settles once in its space, whatever was signed with it.

use alloy_primitives::B256;

use crate::buyer::{Buyer, Price, SELLER, usdc};
use crate::evm::{Evm, Reverted};

const NONCE: B256 = B256::repeat_byte(1);

fn funded(buyers: &[&Buyer]) -> Evm {
    let mut evm = Evm::deploy(usdc(), 1_000);
    for buyer in buyers {
        evm.mint(buyer.address(), 50_000);
    }
    evm
}

#[tokio::test]
async fn the_same_authorization_shown_again_settles_once() {
    let buyer = Buyer::random();
    let mut evm = funded(&[&buyer]);
    let signed = buyer.sign(Price::of(10_000), NONCE, 1_060).await;

    assert!(signed.settle(&mut evm).is_ok());
    for _ in 0..2 {
        assert_eq!(signed.settle(&mut evm), Err(Reverted::NonceUsed));
    }

    assert_eq!(evm.balance(SELLER), 10_000);
}

#[tokio::test]
async fn of_two_authorizations_with_one_nonce_one_settles_in_either_order() {
    let buyer = Buyer::random();
    let first = buyer.sign(Price::of(10_000), NONCE, 1_060).await;
    let second = buyer.sign(Price::of(15_000), NONCE, 1_120).await;
    for (order, moved) in [([first, second], 10_000), ([second, first], 15_000)] {
        let mut evm = funded(&[&buyer]);
        let [shown, late] = order;
        assert!(shown.settle(&mut evm).is_ok());
        for again in [late, shown, late] {
            assert_eq!(again.settle(&mut evm), Err(Reverted::NonceUsed));
        }
        assert_eq!(evm.balance(SELLER), moved);
        assert_eq!(evm.balance(buyer.address()), 50_000 - moved);
    }
}

#[tokio::test]
async fn a_second_signature_after_the_first_died_still_settles_once() {
    let buyer = Buyer::random();
    let first = buyer.sign(Price::of(10_000), NONCE, 1_060).await;
    let second = buyer.sign(Price::of(10_000), NONCE, 1_160).await;

    // the first was settled unseen, in its last second
    let mut evm = funded(&[&buyer]);
    evm.set_time(1_059);
    assert!(first.settle(&mut evm).is_ok());
    evm.set_time(1_100);
    assert_eq!(second.settle(&mut evm), Err(Reverted::NonceUsed));
    assert_eq!(evm.balance(SELLER), 10_000);

    // the first was never settled
    let mut evm = funded(&[&buyer]);
    evm.set_time(1_100);
    assert_eq!(first.settle(&mut evm), Err(Reverted::Expired));
    assert!(second.settle(&mut evm).is_ok());
    assert_eq!(evm.balance(SELLER), 10_000);
}

#[tokio::test]
async fn two_payers_with_one_nonce_are_two_spaces() {
    let (one, other) = (Buyer::random(), Buyer::random());
    let mut evm = funded(&[&one, &other]);
    for buyer in [&one, &other] {
        assert!(!evm.authorization_state(buyer.address(), NONCE));
        let signed = buyer.sign(Price::of(10_000), NONCE, 1_060).await;
        assert!(signed.settle(&mut evm).is_ok());
    }
    assert_eq!(evm.balance(SELLER), 20_000);
    assert_eq!(evm.events().len(), 2);
}

#[tokio::test]
async fn two_nonces_of_one_payer_are_two_payments() {
    let buyer = Buyer::random();
    let mut evm = funded(&[&buyer]);
    for nonce in [NONCE, B256::repeat_byte(2)] {
        let signed = buyer.sign(Price::of(10_000), nonce, 1_060).await;
        assert!(signed.settle(&mut evm).is_ok());
    }
    assert_eq!(evm.balance(SELLER), 20_000);
}
