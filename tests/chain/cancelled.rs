//! A nonce that its payer took back.

use alloy_primitives::B256;

use crate::buyer::{Buyer, Price, SELLER, usdc};
use crate::evm::{Event, Evm, Reverted};

const NONCE: B256 = B256::repeat_byte(1);

fn funded() -> (Evm, Buyer) {
    let (mut evm, buyer) = (Evm::deploy(usdc(), 1_000), Buyer::random());
    evm.mint(buyer.address(), 50_000);
    (evm, buyer)
}

#[tokio::test]
async fn a_cancelled_nonce_settles_nothing() {
    let (mut evm, buyer) = funded();
    let signed = [
        buyer.sign(Price::of(10_000), NONCE, 1_060).await,
        buyer.sign(Price::of(20_000), NONCE, 2_000).await,
    ];

    let transaction = buyer.cancel(&mut evm, NONCE).unwrap();

    for signed in signed {
        assert_eq!(signed.settle(&mut evm), Err(Reverted::NonceUsed));
    }
    assert_eq!(evm.balance(SELLER), 0);
    let events = evm.events();
    assert_eq!(
        events.get(&(buyer.address(), NONCE)),
        Some(&Event::Cancelled { transaction })
    );
}

#[tokio::test]
async fn the_state_alone_does_not_tell_cancelled_from_used() {
    let (mut evm, buyer) = funded();
    let (used, cancelled) = (NONCE, B256::repeat_byte(2));
    let signed = buyer.sign(Price::of(10_000), used, 1_060).await;
    signed.settle(&mut evm).unwrap();
    buyer.cancel(&mut evm, cancelled).unwrap();

    for nonce in [used, cancelled] {
        assert!(evm.authorization_state(buyer.address(), nonce));
    }
    let events = evm.events();
    assert_ne!(
        events.get(&(buyer.address(), used)),
        events.get(&(buyer.address(), cancelled))
    );
}

#[tokio::test]
async fn a_used_nonce_cannot_be_cancelled_any_more() {
    let (mut evm, buyer) = funded();
    let signed = buyer.sign(Price::of(10_000), NONCE, 1_060).await;
    let transaction = signed.settle(&mut evm).unwrap();

    assert_eq!(buyer.cancel(&mut evm, NONCE), Err(Reverted::NonceUsed));

    let events = evm.events();
    assert_eq!(
        events.get(&(buyer.address(), NONCE)),
        Some(&Event::Used { transaction })
    );
}

#[tokio::test]
async fn nobody_but_the_payer_can_cancel() {
    let (mut evm, buyer) = funded();
    let signed = buyer.sign(Price::of(10_000), NONCE, 1_060).await;
    let refused = evm.cancel(buyer.address(), NONCE, &signed.signature);
    assert_eq!(refused, Err(Reverted::WrongSignature));
    Buyer::random().cancel(&mut evm, NONCE).unwrap();
    assert!(signed.settle(&mut evm).is_ok());
}
