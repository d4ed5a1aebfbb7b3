//! Trust on first use: who was paid first is paid again, and nobody else.

use alloy_primitives::Address;
use paywait::{Ledger as _, NotPaid};
use paywait_seller::{Route, Terms};

use crate::shop::{Trade, a_call, refusal, terms};

const FIRST: Address = Address::repeat_byte(0x22);
const OTHER: Address = Address::repeat_byte(0x33);

#[tokio::test]
async fn a_seller_that_changes_its_payee_is_refused_until_the_pin_is_taken_away() {
    let other = Terms::usdc(10_000, OTHER).max_timeout(600);
    let trade = Trade::sells([
        Route::new("/it", terms(10_000)),
        Route::new("/other", other),
    ])
    .await;
    let client = trade.client(trade.pay(a_call("0.05")).pin_payees(true));
    assert_eq!(refusal(&client.get(trade.url()).send().await), None);
    assert_eq!(refusal(&client.get(trade.url()).send().await), None);

    let moved = client.get(trade.stand.url("/other")).send().await;
    let (asked, pinned) = (OTHER, FIRST);
    assert_eq!(refusal(&moved), Some(NotPaid::OtherPayee { asked, pinned }));
    assert_eq!(trade.signed_and_settled(), (2, 2));

    let origin = trade.url().parse().unwrap();
    let asset = paywait::KnownAsset::all()[1].asset;
    assert_eq!(trade.ledger.unpin(origin, asset).await, Ok(Some(FIRST)));
    assert_eq!(
        refusal(&client.get(trade.stand.url("/other")).send().await),
        None
    );
    assert_eq!(trade.signed_and_settled(), (3, 3));
    // and now that one is pinned
    assert!(refusal(&client.get(trade.url()).send().await).is_some());
}

#[tokio::test]
async fn without_the_setting_any_payee_is_paid() {
    let other = Terms::usdc(10_000, OTHER).max_timeout(600);
    let trade = Trade::sells([
        Route::new("/it", terms(10_000)),
        Route::new("/other", other),
    ])
    .await;
    let client = trade.client(trade.pay(a_call("0.05")));
    for path in ["/it", "/other"] {
        assert_eq!(
            refusal(&client.get(trade.stand.url(path)).send().await),
            None
        );
    }
}
