//! Scripted steps and limiters: what a seller does wrong, and what it does to the money.

use std::time::Duration;

use alloy_primitives::U256;
use http::StatusCode;
use paywait_seller::{
    Canned, Fault, Flow, Limiter, Place, Probes, Route, Shop, ShopError, Step, Terms,
};
use serde_json::json;

use crate::buyer::*;

const SECOND: Duration = Duration::from_secs(1);
const BOTH: [Flow; 2] = [Flow::Authorization, Flow::Upfront];

fn busy() -> Canned {
    Canned::new(StatusCode::TOO_MANY_REQUESTS).retry_after(2)
}

#[test]
fn a_reply_before_payment_looks_at_nothing() {
    let mut shop = shop(route(Flow::Upfront).script([Step::normal(), Step::reply(busy())]));
    let payment = Draft::new(&ask(&mut shop), 1).sign();
    let throttled = pay(&mut shop, &payment, NOW).response;
    assert_eq!(throttled.status(), 429);
    assert_eq!(throttled.headers()["retry-after"], "2");
    assert!(shop.ledger().settlements().is_empty());
    // the seller holds the signature all the same
    assert_eq!(shop.ledger().authorizations_seen(), 1);
    assert_settled(&pay(&mut shop, &payment, NOW).response, 200);
}

#[test]
fn a_verified_payment_is_kept_and_not_settled() {
    let mut shop = shop(route(Flow::Authorization).paid_script([Step::verified(busy())]));
    let payment = Draft::new(&ask(&mut shop), 1).sign();
    let answer = pay(&mut shop, &payment, NOW);
    assert_eq!(answer.response.status(), 429);
    assert!(!answer.response.headers().contains_key("payment-response"));
    assert_eq!(shop.ledger().cashable(NOW).count(), 1);
    assert_settled(&pay(&mut shop, &payment, NOW).response, 200);
}

#[test]
fn a_settled_payment_rides_on_any_status_with_or_without_its_receipt() {
    for flow in BOTH {
        for status in [
            StatusCode::FOUND,
            StatusCode::TOO_MANY_REQUESTS,
            StatusCode::BAD_GATEWAY,
        ] {
            let mut shop = shop(route(flow).paid_script([Step::settled(Canned::new(status))]));
            let payment = Draft::new(&ask(&mut shop), 1).sign();
            assert_settled(&pay(&mut shop, &payment, NOW).response, status.as_u16());
            assert!(shop.ledger().requests()[1].moved);
        }
        let bad_gateway = Canned::new(StatusCode::BAD_GATEWAY);
        let mut shop = shop(route(flow).paid_script([Step::settled_silently(bad_gateway)]));
        let payment = Draft::new(&ask(&mut shop), 1).sign();
        let answer = pay(&mut shop, &payment, NOW);
        assert_eq!(answer.response.status(), 502);
        assert!(!answer.response.headers().contains_key("payment-response"));
        assert_eq!(shop.ledger().settlements().len(), 1);
    }
}

#[test]
fn a_pending_payment_is_served_when_the_same_bytes_come_again_in_time() {
    for flow in BOTH {
        let mut shop = shop(route(flow).paid_script([Step::pending(SECOND * 30)]));
        let payment = Draft::new(&ask(&mut shop), 1).sign();
        let pending = pay(&mut shop, &payment, NOW).response;
        assert_not_settled(&pending, "settlement_pending", true);
        assert_eq!(
            shop.ledger().requests()[1].handler_ran,
            flow == Flow::Authorization
        );
        let served = pay(&mut shop, &payment, later(5)).response;
        assert_settled(&served, 200);
        let transaction = &receipt(pending.headers())["transaction"];
        assert_eq!(&receipt(served.headers())["transaction"], transaction);
        assert_eq!(shop.ledger().settlements().len(), 1);
        assert_eq!(shop.ledger().settlements()[0].mined_at, later(5));
    }
}

#[test]
fn a_pending_payment_that_was_mined_meanwhile_is_a_used_nonce_in_authorization() {
    let mut shop = shop(route(Flow::Authorization).paid_script([Step::pending(SECOND * 3)]));
    let payment = Draft::new(&ask(&mut shop), 1).sign();
    assert_not_settled(
        &pay(&mut shop, &payment, NOW).response,
        "settlement_pending",
        true,
    );
    assert_refused(&pay(&mut shop, &payment, later(3)).response, NONCE_USED);
    assert_eq!(shop.ledger().settlements().len(), 1);
}

#[test]
fn a_second_signature_while_the_first_is_pending_fails_with_a_hash() {
    let mut shop = shop(route(Flow::Authorization).paid_script([Step::pending(SECOND * 30)]));
    let first = Draft::new(&ask(&mut shop), 1);
    let second = Draft {
        valid_before: first.valid_before + 1,
        ..first.clone()
    };
    pay(&mut shop, &first.sign(), NOW);
    let answer = pay(&mut shop, &second.sign(), NOW);
    assert_not_settled(
        &answer.response,
        "invalid_exact_evm_transaction_failed",
        true,
    );
    assert_eq!(shop.ledger().settlements().len(), 1);
    assert_settled(&pay(&mut shop, &first.sign(), NOW).response, 200);
}

#[test]
fn a_lost_transaction_moves_nothing_and_the_same_bytes_settle_later() {
    let mut shop = shop(route(Flow::Upfront).paid_script([Step::pending_and_lost()]));
    let payment = Draft::new(&ask(&mut shop), 1).sign();
    assert_not_settled(
        &pay(&mut shop, &payment, NOW).response,
        "settlement_pending",
        true,
    );
    assert!(shop.ledger().settlements().is_empty());
    assert_settled(&pay(&mut shop, &payment, NOW).response, 200);
    assert_eq!(shop.ledger().settlements().len(), 1);
}

#[test]
fn success_false_with_free_text_may_have_moved_money() {
    for flow in BOTH {
        let steps = [
            Step::settle_failed("boom"),
            Step::settle_failed_but_moved("fetch failed"),
        ];
        let mut shop = shop(route(flow).paid_script(steps));
        let payment = Draft::new(&ask(&mut shop), 1).sign();
        assert_not_settled(&pay(&mut shop, &payment, NOW).response, "boom", false);
        assert!(shop.ledger().settlements().is_empty());
        assert_not_settled(
            &pay(&mut shop, &payment, NOW).response,
            "fetch failed",
            false,
        );
        assert_eq!(shop.ledger().settlements().len(), 1);
        assert_eq!(
            shop.ledger().requests()[2].handler_ran,
            flow == Flow::Authorization
        );
        let again = pay(&mut shop, &payment, NOW).response;
        if flow == Flow::Upfront {
            assert_settled(&again, 200)
        } else {
            assert_refused(&again, NONCE_USED)
        }
    }
}

#[test]
fn a_dishonest_seller_takes_the_money_and_offers_again() {
    let steps = [
        Step::refused("try again"),
        Step::refused_but_moved("try again"),
    ];
    let mut shop = shop(route(Flow::Authorization).paid_script(steps));
    let payment = Draft::new(&ask(&mut shop), 1).sign();
    assert_refused(&pay(&mut shop, &payment, NOW).response, "try again");
    assert!(shop.ledger().settlements().is_empty());
    assert_refused(&pay(&mut shop, &payment, NOW).response, "try again");
    assert_eq!(shop.ledger().settlements().len(), 1);
}

#[test]
fn a_step_about_payments_does_nothing_to_a_payment_that_is_refused() {
    let mut shop = shop(route(Flow::Authorization).paid_script([Step::settled(busy())]));
    let mut wrong = Draft::new(&ask(&mut shop), 1);
    wrong.to = PAYER;
    let answer = pay(&mut shop, &wrong.sign(), NOW);
    assert_refused(&answer.response, "invalid_exact_evm_recipient_mismatch");
    assert!(shop.ledger().settlements().is_empty());
}

#[test]
fn a_bare_402_has_no_x402_header() {
    let mut shop = shop(route(Flow::Authorization).script([Step::bare_402()]));
    let answer = shop.answer(&get(None), NOW);
    assert_eq!(answer.response.status(), 402);
    assert_eq!(answer.response.body(), "{}");
    assert!(!answer.response.headers().contains_key("payment-required"));
}

#[test]
fn a_price_that_rises_makes_the_old_payment_match_nothing() {
    let raised = Step::normal().price(U256::from(900_000));
    let mut shop = shop(route(Flow::Authorization).paid_script([raised]));
    let payment = Draft::new(&ask(&mut shop), 1).sign();
    let answer = pay(&mut shop, &payment, NOW);
    assert_refused(&answer.response, "No matching payment requirements");
    assert_eq!(
        offer(answer.response.headers())["accepts"][0]["amount"],
        "900000"
    );
    assert_eq!(ask(&mut shop)["accepts"][0]["amount"], "900000");
}

#[test]
fn faults_ride_on_the_answer_and_leave_the_money_as_it_was() {
    let steps = [
        Step::unseen().reset(),
        Step::normal().stall(SECOND),
        Step::normal().half_body(),
    ];
    let mut shop = shop(route(Flow::Upfront).paid_script(steps));
    let payment = Draft::new(&ask(&mut shop), 1).sign();
    assert_eq!(pay(&mut shop, &payment, NOW).fault, Some(Fault::Reset));
    assert!(shop.ledger().settlements().is_empty());
    assert_eq!(
        pay(&mut shop, &payment, NOW).fault,
        Some(Fault::Stall(SECOND))
    );
    assert_eq!(shop.ledger().settlements().len(), 1);
    assert_eq!(pay(&mut shop, &payment, NOW).fault, Some(Fault::HalfBody));
    assert_eq!(shop.ledger().settlements().len(), 1);
}

#[test]
fn a_limiter_before_the_paywall_takes_no_money_and_one_in_the_handler_of_upfront_does() {
    let limiter = Limiter::new(1, SECOND * 10);
    let mut model = shop(route(Flow::Upfront).limiter(limiter.clone()));
    let offer = ask(&mut model);
    assert_settled(
        &pay(&mut model, &Draft::new(&offer, 1).sign(), NOW).response,
        200,
    );
    let throttled = pay(&mut model, &Draft::new(&offer, 2).sign(), NOW).response;
    assert_eq!(
        (
            throttled.status().as_u16(),
            &throttled.headers()["retry-after"]
        ),
        (429, &"10".parse().unwrap())
    );
    assert_eq!(model.ledger().settlements().len(), 1);

    let mut sinner = shop(route(Flow::Upfront).limiter(limiter.place(Place::InHandler)));
    let offer = ask(&mut sinner);
    assert_settled(
        &pay(&mut sinner, &Draft::new(&offer, 1).sign(), NOW).response,
        200,
    );
    assert_settled(
        &pay(&mut sinner, &Draft::new(&offer, 2).sign(), NOW).response,
        429,
    );
    assert_eq!(sinner.ledger().settlements().len(), 2);
}

#[test]
fn counted_probes_use_up_the_quota_of_the_payment_that_follows() {
    let limiter = Limiter::new(1, SECOND * 10)
        .probes(Probes::Counted)
        .fields(true);
    let mut shop = shop(route(Flow::Authorization).limiter(limiter));
    let first = shop.answer(&get(None), NOW).response;
    assert_eq!(first.headers()["ratelimit"], "\"requests\";r=0;t=10");
    let payment = Draft::new(&offer(first.headers()), 1).sign();
    assert_eq!(pay(&mut shop, &payment, NOW).response.status(), 429);
    assert_settled(&pay(&mut shop, &payment, later(10)).response, 200);
}

#[test]
fn a_route_may_offer_several_ways_and_decoys_before_them() {
    let terms = |amount| Terms::usdc(amount, PAYEE);
    let decoy = json!({ "scheme": "upto", "network": "solana:x" });
    let mut shop = shop(
        Route::new("/report", terms(1_000_000))
            .or(terms(10_000))
            .decoy(decoy),
    );
    let mut offer = ask(&mut shop);
    assert_eq!(offer["accepts"].as_array().unwrap().len(), 3);
    offer["accepts"][0] = offer["accepts"][2].clone();
    assert_settled(
        &pay(&mut shop, &Draft::new(&offer, 1).sign(), NOW).response,
        200,
    );
    assert_eq!(shop.ledger().total_moved(), U256::from(10_000));
}

#[test]
fn a_free_route_has_no_paywall_and_an_unknown_path_is_recorded() {
    let mut shop = shop(Route::free("/report"));
    assert_eq!(shop.answer(&get(None), NOW).response.status(), 200);
    let elsewhere = http::Request::get("/elsewhere?secret=1").body(()).unwrap();
    assert_eq!(shop.answer(&elsewhere, NOW).response.status(), 404);
    assert_eq!(shop.ledger().requests()[1].path, "/elsewhere");
}

#[test]
fn a_full_ledger_turns_requests_away_and_says_so() {
    let mut shop = Shop::builder()
        .route(route(Flow::Upfront))
        .capacity(1)
        .build()
        .unwrap();
    let payment = Draft::new(&ask(&mut shop), 1).sign();
    assert_eq!(pay(&mut shop, &payment, NOW).response.status(), 503);
    assert_eq!(
        (shop.ledger().requests().len(), shop.ledger().turned_away()),
        (1, 1)
    );
    assert!(shop.ledger().settlements().is_empty());
}

#[test]
fn a_shop_refuses_paths_that_are_none_and_paths_twice() {
    let path = || "/report".to_owned();
    let twice = Shop::builder()
        .route(route(Flow::Upfront))
        .route(route(Flow::Upfront))
        .build();
    assert_eq!(twice.unwrap_err(), ShopError::SamePath { path: path() });
    let bare = Shop::builder().route(Route::free("report")).build();
    assert_eq!(
        bare.unwrap_err(),
        ShopError::Path {
            path: "report".into()
        }
    );
}

#[test]
fn the_date_is_the_sellers_and_the_ledger_prints_no_signature() {
    let mut shop = shop(route(Flow::Upfront));
    let answer = shop.answer(&get(None), NOW);
    assert_eq!(
        answer.response.headers()["date"],
        "Thu, 27 Feb 2025 16:00:00 GMT"
    );
    let payment = Draft::new(&offer(answer.response.headers()), 1).sign();
    pay(&mut shop, &payment, NOW);
    let bytes =
        base64::Engine::decode(&base64::engine::general_purpose::STANDARD, &payment).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let signature = &json["payload"]["signature"].as_str().unwrap()[2..];
    for printed in [
        shop.ledger().to_string(),
        format!("{:?}", shop.ledger()),
        format!("{shop:?}"),
    ] {
        assert!(printed.contains("report"));
        assert!(!printed.contains(signature) && !printed.contains(&payment));
    }
    assert!(shop.ledger().to_string().contains("settlements: 1"));
}
