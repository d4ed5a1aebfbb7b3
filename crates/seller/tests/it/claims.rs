//! Fixed replies that claim things in the words of x402.

use http::StatusCode;
use paywait_seller::{Canned, Flow, Route, Step};
use serde_json::json;

use crate::buyer::*;

#[test]
fn a_false_receipt_moves_no_money() {
    let claim = json!({ "success": true, "transaction": "0xf0", "network": "eip155:84532" });
    let lie = Canned::new(StatusCode::BAD_GATEWAY).receipt(&claim);
    let mut shop = shop(route(Flow::Authorization).paid_script([Step::verified(lie)]));
    let payment = Draft::new(&ask(&mut shop), 1).sign();

    let answer = pay(&mut shop, &payment, NOW);

    assert_eq!(answer.response.status(), 502);
    assert_eq!(receipt(answer.response.headers()), claim);
    assert!(shop.ledger().settlements().is_empty());
}

#[test]
fn an_offer_says_what_it_was_given_however_odd() {
    let odd = json!({ "x402Version": 2, "accepts": [{ "maxTimeoutSeconds": "60" }] });
    let reply = Canned::new(StatusCode::PAYMENT_REQUIRED).offer(&odd);
    let mut shop = shop(Route::free("/report").handler(reply));

    assert_eq!(ask(&mut shop), odd);
}
