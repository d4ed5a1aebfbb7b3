//! The switch that stops everything.

use paywait::{Ledger as _, NotPaid};

use crate::shop::{Trade, a_call, refusal};

#[tokio::test]
async fn while_the_ledger_is_halted_nothing_is_signed() {
    let trade = Trade::of(10_000).await;
    let client = trade.client(trade.pay(a_call("0.05")));
    assert_eq!(trade.ledger.halt(true).await, Ok(()));
    let ended = client.get(trade.url()).send().await;
    assert_eq!(refusal(&ended), Some(NotPaid::Halted));
    assert_eq!(
        (trade.signed_and_settled(), trade.used()),
        ((0, 0), "0".to_owned())
    );
    assert_eq!(trade.ledger.halt(false).await, Ok(()));
    assert_eq!(refusal(&client.get(trade.url()).send().await), None);
    assert_eq!(trade.signed_and_settled(), (1, 1));
}
