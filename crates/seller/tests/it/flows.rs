//! What each flow does with each outcome, as the reference server does it.

use alloy_primitives::{Address, U256};
use http::{HeaderValue, StatusCode, header};
use paywait_seller::{Canned, Facilitator, Flow, Shop, Token};
use serde_json::json;

use crate::buyer::*;

const BOTH: [Flow; 2] = [Flow::Authorization, Flow::Upfront];

#[test]
fn an_unpaid_request_gets_the_offer_and_moves_nothing() {
    for flow in BOTH {
        let mut shop = shop(route(flow));
        let answer = shop.answer(&get(None), NOW);
        assert_refused(&answer.response, "Payment required");
        let offer = offer(answer.response.headers());
        assert_eq!(offer["x402Version"], 2);
        assert_eq!(offer["resource"]["url"], "http://seller.test/report");
        let entry = &offer["accepts"][0];
        assert_eq!(entry["scheme"], "exact");
        assert_eq!(entry["network"], "eip155:84532");
        assert_eq!(entry["amount"], "10000");
        assert_eq!(entry["asset"], "0x036CbD53842c5426634e7929541eC2318f3dCF7e");
        assert_eq!(entry["payTo"], PAYEE.to_string());
        assert_eq!(entry["maxTimeoutSeconds"], 60);
        let upfront = (flow == Flow::Upfront).then(|| json!("upfront"));
        assert_eq!(entry["extra"].get("paymentFlow"), upfront.as_ref());
        assert!(shop.ledger().settlements().is_empty());
        assert!(!shop.ledger().requests()[0].paid);
    }
}

#[test]
fn a_served_payment_settles_once_with_a_receipt() {
    for flow in BOTH {
        for status in [StatusCode::OK, StatusCode::CREATED, StatusCode::SEE_OTHER] {
            let mut shop = shop(route(flow).handler(Canned::new(status).body("here")));
            let payment = Draft::new(&ask(&mut shop), 1);
            let answer = pay(&mut shop, &payment.sign(), NOW);
            assert_settled(&answer.response, status.as_u16());
            assert_eq!(answer.response.body(), "here");
            let [settlement] = shop.ledger().settlements() else {
                panic!("not one")
            };
            assert_eq!(settlement.payer, PAYER);
            assert_eq!(settlement.pay_to, PAYEE);
            assert_eq!(settlement.amount, U256::from(PRICE));
            assert_eq!(settlement.nonce, payment.nonce);
            assert_eq!((settlement.at, settlement.request), (NOW, Some(2)));
            let receipt = receipt(answer.response.headers());
            assert_eq!(receipt["transaction"], settlement.transaction.to_string());
            assert_eq!(shop.ledger().total_moved(), U256::from(PRICE));
        }
    }
}

#[test]
fn a_failing_handler_is_free_in_authorization_and_paid_for_in_upfront() {
    for status in [
        StatusCode::NOT_FOUND,
        StatusCode::TOO_MANY_REQUESTS,
        StatusCode::BAD_GATEWAY,
    ] {
        let handler = Canned::new(status).retry_after(7).body("no");

        let mut kept = shop(route(Flow::Authorization).handler(handler.clone()));
        let payment = Draft::new(&ask(&mut kept), 1).sign();
        let answer = pay(&mut kept, &payment, NOW);
        assert_eq!(answer.response.status(), status);
        assert!(!answer.response.headers().contains_key("payment-response"));
        assert_eq!(answer.response.headers()[header::RETRY_AFTER], "7");
        assert!(kept.ledger().settlements().is_empty());
        assert!(kept.ledger().requests()[1].handler_ran);
        assert_eq!(kept.ledger().cashable(NOW).count(), 1);

        let mut taken = shop(route(Flow::Upfront).handler(handler));
        let payment = Draft::new(&ask(&mut taken), 1).sign();
        let answer = pay(&mut taken, &payment, NOW);
        assert_settled(&answer.response, status.as_u16());
        assert_eq!(answer.response.headers()[header::RETRY_AFTER], "7");
        assert_eq!(taken.ledger().settlements().len(), 1);
        assert_eq!(taken.ledger().cashable(NOW).count(), 0);
    }
}

#[test]
fn the_same_bytes_after_success_say_that_the_nonce_was_used() {
    let mut shop = shop(route(Flow::Authorization));
    let payment = Draft::new(&ask(&mut shop), 1).sign();
    assert_settled(&pay(&mut shop, &payment, NOW).response, 200);
    assert_refused(&pay(&mut shop, &payment, NOW).response, NONCE_USED);
    let last = shop.ledger().requests().last().unwrap();
    assert!(!last.handler_ran && !last.moved);
    assert_eq!(shop.ledger().settlements().len(), 1);
    assert_eq!(shop.ledger().authorizations_seen(), 1);
    assert_eq!(shop.ledger().authorizations()[0].shown, 2);
}

#[test]
fn the_same_bytes_in_upfront_are_served_again_by_an_idempotent_facilitator_only() {
    let build = |facilitator| {
        let route = route(Flow::Upfront);
        Shop::builder()
            .route(route)
            .facilitator(facilitator)
            .build()
            .unwrap()
    };
    let mut idempotent = build(Facilitator::Idempotent);
    let payment = Draft::new(&ask(&mut idempotent), 1).sign();
    let first = pay(&mut idempotent, &payment, NOW).response;
    let again = pay(&mut idempotent, &payment, later(3_600)).response;
    assert_settled(&again, 200);
    assert_eq!(receipt(first.headers()), receipt(again.headers()));
    assert!(idempotent.ledger().requests()[2].handler_ran);
    assert!(!idempotent.ledger().requests()[2].moved);
    assert_eq!(idempotent.ledger().settlements().len(), 1);

    let mut strict = build(Facilitator::Strict);
    let payment = Draft::new(&ask(&mut strict), 1).sign();
    assert_settled(&pay(&mut strict, &payment, NOW).response, 200);
    assert_not_settled(&pay(&mut strict, &payment, NOW).response, NONCE_USED, false);
    assert!(!strict.ledger().requests()[2].handler_ran);
    assert_eq!(strict.ledger().settlements().len(), 1);
}

#[test]
fn a_second_signature_of_a_settled_nonce_never_settles() {
    for flow in BOTH {
        let mut shop = shop(route(flow));
        let offer = ask(&mut shop);
        let first = Draft::new(&offer, 1);
        let second = Draft {
            valid_before: first.valid_before + 30,
            ..first.clone()
        };
        assert_settled(&pay(&mut shop, &first.sign(), NOW).response, 200);
        let answer = pay(&mut shop, &second.sign(), NOW);
        if flow == Flow::Upfront {
            assert_not_settled(&answer.response, NONCE_USED, false)
        } else {
            assert_refused(&answer.response, NONCE_USED)
        }
        assert!(!shop.ledger().requests()[2].handler_ran);
        assert_eq!(shop.ledger().settlements().len(), 1);
        assert_eq!(shop.ledger().authorizations().len(), 2);
        assert_eq!(shop.ledger().authorizations_seen(), 1);
    }
}

#[test]
fn a_fresh_nonce_is_a_second_payment() {
    for flow in BOTH {
        let mut shop = shop(route(flow));
        let offer = ask(&mut shop);
        for nonce in [1, 2] {
            assert_settled(
                &pay(&mut shop, &Draft::new(&offer, nonce).sign(), NOW).response,
                200,
            );
        }
        assert_eq!(shop.ledger().total_moved(), U256::from(2 * PRICE));
    }
}

#[test]
fn each_check_of_the_facilitator_has_its_reason() {
    type Spoil = fn(&mut Draft);
    let checks: [(Spoil, &str); 6] = [
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
        (
            |draft| draft.value = U256::from(PRICE + 1),
            "invalid_exact_evm_payload_authorization_value_mismatch",
        ),
    ];
    for flow in BOTH {
        for (spoil, reason) in checks {
            let mut shop = shop(route(flow));
            let mut draft = Draft::new(&ask(&mut shop), 1);
            spoil(&mut draft);
            let answer = pay(&mut shop, &draft.sign(), NOW);
            if flow == Flow::Upfront {
                assert_not_settled(&answer.response, reason, false)
            } else {
                assert_refused(&answer.response, reason)
            }
            assert!(!shop.ledger().requests()[1].handler_ran, "{reason}");
            assert!(shop.ledger().settlements().is_empty(), "{reason}");
        }
    }
}

#[test]
fn six_seconds_of_window_and_a_window_that_has_just_begun_are_enough() {
    let mut shop = shop(route(Flow::Authorization));
    let mut draft = Draft::new(&ask(&mut shop), 1);
    draft.valid_before = NOW.as_secs() + 6;
    draft.valid_after = NOW.as_secs();
    assert_settled(&pay(&mut shop, &draft.sign(), NOW).response, 200);
}

#[test]
fn a_paid_payment_shown_after_its_window_is_refused_for_the_window() {
    let mut shop = shop(route(Flow::Authorization));
    let payment = Draft::new(&ask(&mut shop), 1).sign();
    assert_settled(&pay(&mut shop, &payment, NOW).response, 200);
    let expired = "invalid_exact_evm_payload_authorization_valid_before";
    assert_refused(&pay(&mut shop, &payment, later(60)).response, expired);
}

#[test]
fn a_payer_without_the_money_is_refused_until_he_has_it() {
    let short = "invalid_exact_evm_insufficient_balance";
    let usdc = Token::usdc_base_sepolia();
    for flow in BOTH {
        let mut shop = Shop::builder()
            .route(route(flow))
            .balance(usdc.clone(), PAYER, U256::from(PRICE - 1))
            .build()
            .unwrap();
        let payment = Draft::new(&ask(&mut shop), 1).sign();
        let answer = pay(&mut shop, &payment, NOW);
        if flow == Flow::Upfront {
            assert_not_settled(&answer.response, short, false)
        } else {
            assert_refused(&answer.response, short)
        }
        shop.set_balance(&usdc, PAYER, U256::from(PRICE + 1));
        assert_settled(&pay(&mut shop, &payment, NOW).response, 200);
        assert_eq!(shop.ledger().balance(&usdc, PAYER), Some(U256::from(1)));
    }
}

#[test]
fn what_does_not_echo_the_offer_is_refused_and_nothing_moves() {
    let mut shop =
        shop(route(Flow::Authorization).extension("bazaar", json!({ "info": { "a": 1 } })));
    let offer = ask(&mut shop);
    let none = "No matching payment requirements";

    let mut cheaper = Draft::new(&offer, 1);
    cheaper.entry["amount"] = json!("1");
    cheaper.value = U256::from(1);
    assert_refused(&pay(&mut shop, &cheaper.sign(), NOW).response, none);

    let mut lower_case = Draft::new(&offer, 2);
    lower_case.entry["payTo"] = json!(PAYEE.to_string().to_lowercase());
    assert_refused(&pay(&mut shop, &lower_case.sign(), NOW).response, none);

    let mut changed = Draft::new(&offer, 3);
    changed.extensions = Some(json!({ "bazaar": { "info": { "a": 2 } } }));
    assert_refused(
        &pay(&mut shop, &changed.sign(), NOW).response,
        "extension_echo_mismatch",
    );

    assert!(shop.ledger().settlements().is_empty());

    let mut more = Draft::new(&offer, 4);
    more.extensions = Some(json!({ "bazaar": { "info": { "a": 1, "b": 2 } }, "mine": {} }));
    assert_settled(&pay(&mut shop, &more.sign(), NOW).response, 200);
}

#[test]
fn what_cannot_be_read_is_no_payment() {
    for flow in BOTH {
        let mut shop = shop(route(flow));
        let offer = ask(&mut shop);
        for garbage in ["", "!!!", "e30=", "bm90IGpzb24="] {
            let answer = pay(&mut shop, garbage, NOW);
            assert_refused(&answer.response, "Payment required");
        }
        let mut v1 = get(None);
        v1.headers_mut()
            .insert("x-payment", HeaderValue::from_static("e30="));
        assert_refused(&shop.answer(&v1, NOW).response, "Payment required");
        let third = Draft {
            version: 3,
            ..Draft::new(&offer, 1)
        };
        let answer = pay(&mut shop, &third.sign(), NOW);
        assert_refused(&answer.response, "Unsupported x402 version: 3");
        assert_eq!(shop.ledger().paid_requests().count(), 0);
    }
}

#[test]
fn a_seller_who_keeps_what_he_was_shown_can_cash_each_nonce_once() {
    let handler = Canned::new(StatusCode::SERVICE_UNAVAILABLE);
    let mut shop = shop(route(Flow::Authorization).handler(handler));
    let offer = ask(&mut shop);
    let first = Draft::new(&offer, 1);
    let longer = Draft {
        valid_before: first.valid_before + 30,
        ..first.clone()
    };
    let other = Draft::new(&offer, 2);
    for draft in [&first, &longer, &other, &first] {
        assert_eq!(pay(&mut shop, &draft.sign(), NOW).response.status(), 503);
    }
    assert_eq!(shop.ledger().authorizations_seen(), 2);
    assert_eq!(shop.ledger().cashable(NOW).count(), 3);
    assert_eq!(shop.cash_in(later(59)).len(), 2);
    assert_eq!(shop.ledger().total_moved(), U256::from(2 * PRICE));
    assert_eq!(shop.ledger().cashable(later(59)).count(), 0);
    assert_refused(
        &pay(&mut shop, &longer.sign(), later(59)).response,
        NONCE_USED,
    );
}

#[test]
fn nothing_can_be_cashed_once_the_window_is_over() {
    let handler = Canned::new(StatusCode::SERVICE_UNAVAILABLE);
    let mut shop = shop(route(Flow::Authorization).handler(handler));
    let payment = Draft::new(&ask(&mut shop), 1).sign();
    pay(&mut shop, &payment, NOW);
    assert_eq!(shop.ledger().cashable(later(59)).count(), 1);
    assert_eq!(shop.ledger().cashable(later(60)).count(), 0);
    assert!(shop.cash_in(later(60)).is_empty());
}
