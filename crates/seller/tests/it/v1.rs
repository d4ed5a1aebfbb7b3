//! Routes that are sold in version 1: offers in bodies, and refusals that look like first offers.

use alloy_primitives::{Address, U256};
use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode};
use paywait_seller::{Canned, Flow, Identifier, Route, Shop, Step, Terms};
use paywait_signals::Timestamp;
use serde_json::Value;

use crate::buyer::*;

fn terms_v1() -> Terms {
    Terms::usdc(PRICE, PAYEE).v1("base-sepolia")
}

fn old() -> Route {
    Route::new("/report", terms_v1())
}

/// A route that is sold in version 2 and, dearer, in version 1.
fn both() -> Route {
    let dearer = Terms::usdc(2 * PRICE, PAYEE).v1("base-sepolia");
    Route::new("/report", Terms::usdc(PRICE, PAYEE)).or(dearer)
}

/// Sends one request that carries `payment` in the header `name`.
fn send(shop: &mut Shop, name: &str, payment: &str, now: Timestamp) -> Response<Bytes> {
    let request = Request::get("http://seller.test/report").header(name, payment);
    let request = request.body(Bytes::new()).unwrap();
    shop.answer(&request, now).response
}

fn body(response: &Response<Bytes>) -> Value {
    serde_json::from_slice(response.body()).unwrap()
}

/// Asks for the price, and returns the offer in the body.
fn price(shop: &mut Shop) -> Value {
    body(&shop.answer(&get(None), NOW).response)
}

/// Asserts a 402 that cannot be told from a first offer but by its `error`.
#[track_caller]
fn assert_offered_anew(response: &Response<Bytes>, error: &str) {
    assert_eq!(response.status(), 402);
    let offer = body(response);
    assert_eq!(
        (&offer["x402Version"], &offer["error"]),
        (&1.into(), &error.into())
    );
    assert_eq!(offer["accepts"][0]["maxAmountRequired"], PRICE.to_string());
    for name in ["payment-required", "payment-response", "x-payment-response"] {
        assert!(!response.headers().contains_key(name), "{name}");
    }
}

#[test]
fn the_price_stands_in_the_body_and_in_no_header() {
    let mut shop = shop(old());
    let response = shop.answer(&get(None), NOW).response;
    assert_offered_anew(&response, "X-PAYMENT header is required");
    assert_eq!(response.headers()["content-type"], "application/json");
    let offer = body(&response);
    let entry = &offer["accepts"][0];
    assert_eq!(entry["scheme"], "exact");
    assert_eq!(entry["network"], "base-sepolia");
    assert_eq!(entry["resource"], "http://seller.test/report");
    assert_eq!(entry["asset"], "0x036CbD53842c5426634e7929541eC2318f3dCF7e");
    assert_eq!(entry["payTo"], PAYEE.to_string());
    assert_eq!(entry["maxTimeoutSeconds"], 60);
    assert_eq!(entry["extra"]["name"], "USDC");
    assert!(entry.get("amount").is_none());
}

#[test]
fn a_served_payment_settles_once_with_a_receipt_of_its_version() {
    for status in [StatusCode::OK, StatusCode::SEE_OTHER] {
        let mut shop = shop(old().handler(Canned::new(status).body("here")));
        let payment = Draft::new(&price(&mut shop), 1);
        let response = send(&mut shop, "X-PAYMENT", &payment.sign_v1(), NOW);
        assert_eq!(
            (response.status(), &response.body()[..]),
            (status, &b"here"[..])
        );
        let mut headers = response.headers().clone();
        let receipt_v1 = headers.remove("x-payment-response").unwrap();
        assert!(!headers.contains_key("payment-response"));
        headers.insert("payment-response", receipt_v1);
        let receipt = receipt(&headers);
        let [made] = shop.ledger().settlements() else {
            panic!("not one")
        };
        assert_eq!(receipt["success"], true);
        assert_eq!(receipt["network"], "base-sepolia");
        assert_eq!(receipt["transaction"], made.transaction.to_string());
        assert_eq!((made.payer, made.nonce), (PAYER, payment.nonce));
        assert_eq!(made.amount, U256::from(PRICE));
    }
}

#[test]
fn each_check_of_the_facilitator_has_its_reason_in_a_fresh_offer() {
    type Spoil = fn(&mut Draft);
    let checks: [(Spoil, &str); 5] = [
        (
            |draft| draft.from = Address::repeat_byte(9),
            "invalid_exact_evm_signature",
        ),
        (
            |draft| draft.to = Address::repeat_byte(9),
            "invalid_exact_evm_recipient_mismatch",
        ),
        (
            |draft| draft.valid_before = NOW.as_secs() + 5,
            "invalid_exact_evm_payload_authorization_valid_before",
        ),
        (
            |draft| draft.valid_after = NOW.as_secs() + 1,
            "invalid_exact_evm_payload_authorization_valid_after",
        ),
        (
            |draft| draft.value = U256::from(PRICE - 1),
            "invalid_exact_evm_payload_authorization_value_mismatch",
        ),
    ];
    for (spoil, reason) in checks {
        let mut shop = shop(old());
        let mut draft = Draft::new(&price(&mut shop), 1);
        spoil(&mut draft);
        let response = send(&mut shop, "X-PAYMENT", &draft.sign_v1(), NOW);
        assert_offered_anew(&response, reason);
        assert!(!shop.ledger().requests()[1].handler_ran, "{reason}");
        assert!(shop.ledger().settlements().is_empty(), "{reason}");
    }
}

#[test]
fn another_scheme_or_network_or_version_is_not_what_is_sold() {
    let unmatched = "Unable to find matching payment requirements";
    for (name, value, error) in [
        ("network", "base", unmatched),
        ("network", "eip155:84532", unmatched),
        ("scheme", "upto", unmatched),
    ] {
        let mut shop = shop(old());
        let mut draft = Draft::new(&price(&mut shop), 1);
        draft.entry[name] = value.into();
        let response = send(&mut shop, "X-PAYMENT", &draft.sign_v1(), NOW);
        assert_offered_anew(&response, error);
        assert!(shop.ledger().settlements().is_empty());
    }
    let mut shop = shop(old());
    let mut draft = Draft::new(&price(&mut shop), 1);
    draft.entry["network"] = "eip155:84532".into();
    // the newer payload in the older header has no scheme at its top, and is none
    let response = send(&mut shop, "X-PAYMENT", &draft.sign(), NOW);
    assert_offered_anew(&response, "X-PAYMENT header is required");
}

#[test]
fn the_header_of_the_other_version_is_not_looked_at() {
    let mut old = shop(old());
    let draft = Draft::new(&price(&mut old), 1);
    let response = send(&mut old, "PAYMENT-SIGNATURE", &draft.sign_v1(), NOW);
    assert_offered_anew(&response, "X-PAYMENT header is required");
    assert_eq!(old.ledger().paid_requests().count(), 0);

    let mut new = shop(route(Flow::Authorization));
    let mut draft = Draft::new(&ask(&mut new), 1);
    draft.entry["network"] = "base-sepolia".into();
    let response = send(&mut new, "X-PAYMENT", &draft.sign_v1(), NOW);
    assert_refused(&response, "Payment required");
}

#[test]
fn a_failing_handler_is_not_settled_and_the_same_bytes_are_taken_again() {
    let busy = Canned::new(StatusCode::TOO_MANY_REQUESTS).retry_after(7);
    let mut shop = shop(old().paid_script([Step::verified(busy)]));
    let payment = Draft::new(&price(&mut shop), 1).sign_v1();
    let response = send(&mut shop, "X-PAYMENT", &payment, NOW);
    assert_eq!(response.status(), 429);
    assert_eq!(response.headers()["retry-after"], "7");
    assert!(!response.headers().contains_key("x-payment-response"));
    assert!(shop.ledger().settlements().is_empty());
    assert_eq!(send(&mut shop, "X-PAYMENT", &payment, NOW).status(), 200);
    let again = send(&mut shop, "X-PAYMENT", &payment, NOW);
    assert_offered_anew(&again, NONCE_USED);
    assert_eq!(shop.ledger().settlements().len(), 1);
}

#[test]
fn a_settlement_that_fails_after_the_handler_looks_like_a_first_offer() {
    for (step, reason, moved) in [
        (
            Step::settle_failed("insufficient_funds"),
            "insufficient_funds",
            0,
        ),
        (
            Step::settle_failed_but_moved("fetch failed"),
            "fetch failed",
            1,
        ),
    ] {
        let mut shop = shop(old().paid_script([step]));
        let payment = Draft::new(&price(&mut shop), 1).sign_v1();
        let response = send(&mut shop, "X-PAYMENT", &payment, NOW);
        assert_offered_anew(&response, reason);
        assert!(shop.ledger().requests()[1].handler_ran);
        assert_eq!(shop.ledger().settlements().len(), moved);
    }
}

#[test]
fn whoever_sells_in_both_versions_offers_each_in_its_place_and_takes_the_newer_payment() {
    let mut shop = shop(both());
    let response = shop.answer(&get(None), NOW).response;
    let (newer, older) = (offer(response.headers()), body(&response));
    assert_eq!(
        (&newer["x402Version"], &older["x402Version"]),
        (&2.into(), &1.into())
    );
    assert_eq!(newer["accepts"].as_array().unwrap().len(), 1);
    assert_eq!(newer["accepts"][0]["amount"], PRICE.to_string());
    assert_eq!(
        older["accepts"][0]["maxAmountRequired"],
        (2 * PRICE).to_string()
    );

    let (newer, older) = (Draft::new(&newer, 1), Draft::new(&older, 2));
    let mut request = get(Some(&newer.sign()));
    let value = HeaderValue::try_from(older.sign_v1()).unwrap();
    request.headers_mut().insert("x-payment", value);
    assert_settled(&shop.answer(&request, NOW).response, 200);
    let response = send(&mut shop, "X-PAYMENT", &older.sign_v1(), NOW);
    assert!(response.headers().contains_key("x-payment-response"));
    let moved: Vec<_> = shop
        .ledger()
        .settlements()
        .iter()
        .map(|made| made.amount)
        .collect();
    assert_eq!(moved, [U256::from(PRICE), U256::from(2 * PRICE)]);
}

#[test]
fn version_1_has_no_identifier_and_no_flow() {
    let upfront = terms_v1().flow(Flow::Upfront);
    assert_eq!(upfront.payment_flow(), Flow::Authorization);
    let route = Route::new("/report", upfront).identifier(Identifier::Required);
    let mut shop = shop(route.handler(Canned::new(StatusCode::BAD_GATEWAY)));
    let offer = price(&mut shop);
    assert!(offer.get("extensions").is_none());
    let payment = Draft::new(&offer, 1).sign_v1();
    let response = send(&mut shop, "X-PAYMENT", &payment, NOW);
    assert_eq!(response.status(), 502);
    assert!(shop.ledger().settlements().is_empty());
}
