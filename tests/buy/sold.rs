//! What it prints where something is bought.

use paywait_seller::{Canned, Route};
use reqwest::StatusCode;
use support::reference::ReferenceSeller;
use support::shop::terms;

use crate::program::buy;
use crate::stall::Stall;

#[tokio::test]
async fn what_was_bought_is_on_standard_output_byte_for_byte() {
    let sold = Canned::new(StatusCode::OK).body("no newline at the end");
    let stall = Stall::open(Route::new("/it", terms()).handler(sold)).await;
    let ran = buy(&[
        &stall.url(),
        "--max-price",
        "0.01",
        "--network",
        "eip155:84532",
    ])
    .await;
    assert_eq!(
        (ran.status, ran.stdout.as_str()),
        (0, "no newline at the end")
    );
    let report = "200 after 1 attempt, 2 sends, paid 0.01 USDC (0x";
    assert!(ran.stderr.starts_with(report), "{ran:?}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    assert_eq!(stall.saw(), (2, 1, 1));
}

#[tokio::test]
async fn what_costs_nothing_is_handed_over_and_nothing_is_signed() {
    let stall = Stall::open(Route::free("/it")).await;
    let ran = buy(&[&stall.url()]).await;
    assert_eq!((ran.status, ran.stdout.is_empty()), (0, false), "{ran:?}");
    assert_eq!(ran.stderr, "200 after 1 attempt, 1 send\n");
    assert_eq!(stall.saw(), (1, 0, 0));
}

#[tokio::test]
async fn the_wire_is_shown_decoded_and_no_signature_can_be_copied_from_it() {
    let stall = Stall::open(Route::new("/it", terms())).await;
    let ran = buy(&[&format!("{}?token=hush", stall.url()), "--wire"]).await;
    assert_eq!(ran.status, 0, "{ran:?}");
    for shown in [
        "> GET /it\n< 402 Payment Required\n< payment-required: {\n",
        "> payment-signature: {\n",
        "… (132 characters)",
        "\"nonce\": \"0x",
        "< payment-response: {\n",
    ] {
        assert!(
            ran.stderr.contains(shown),
            "{shown} is not in {}",
            ran.stderr
        );
    }
    // a nonce has 64 digits, a signature 130
    let runs = ran.stderr.split(|letter: char| !letter.is_ascii_hexdigit());
    assert_eq!(runs.map(str::len).max(), Some(64), "{}", ran.stderr);
    assert!(!ran.stderr.contains("hush"), "{}", ran.stderr);
}

#[tokio::test]
async fn the_reference_seller_is_bought_from_once() {
    let seller = match ReferenceSeller::start().await {
        Ok(seller) => seller,
        Err(left_out) => return left_out.report("the example buys from the reference seller"),
    };
    for path in ["/authorization/200/identified", "/upfront/200"] {
        seller.reset().await;
        let ran = buy(&[&seller.url(path)]).await;
        assert_eq!(ran.status, 0, "{ran:?}");
        assert_eq!(ran.stdout, format!(r#"{{"sold":"{path}"}}"#));
        let ledger = seller.ledger().await;
        assert_eq!(
            (ledger.requests.len(), ledger.settlements.len()),
            (2, 1),
            "{path}"
        );
    }
}
