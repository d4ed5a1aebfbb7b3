//! Payment identifiers: replay, conflict, and what is never stored.

use std::time::Duration;

use http::StatusCode;
use paywait_seller::{Canned, Flow, Identifier, Limiter, Place, Step};

use crate::buyer::*;

const ID: &str = "pay_7d5d747be160e280504c099d984bcfe0";

#[test]
fn the_same_bytes_replay_the_reply_with_its_receipt() {
    let mut shop = shop(route(Flow::Authorization).identifier(Identifier::Optional));
    let offer = ask(&mut shop);
    assert_eq!(
        offer["extensions"]["payment-identifier"]["info"]["required"],
        false
    );
    let payment = Draft::new(&offer, 1).id(&offer, ID).sign();
    let first = pay(&mut shop, &payment, NOW).response;
    let again = pay(&mut shop, &payment, later(600)).response;
    assert_settled(&again, 200);
    assert_eq!(
        first.headers()["payment-response"],
        again.headers()["payment-response"]
    );
    assert_eq!(first.body(), again.body());
    let last = shop.ledger().requests().last().unwrap();
    assert!(last.replayed && !last.handler_ran && !last.moved);
    assert_eq!(shop.ledger().settlements_for_id(ID).count(), 1);
}

#[test]
fn another_payload_under_the_same_identifier_is_a_conflict() {
    let mut shop = shop(route(Flow::Authorization).identifier(Identifier::Optional));
    let offer = ask(&mut shop);
    pay(&mut shop, &Draft::new(&offer, 1).id(&offer, ID).sign(), NOW);
    let other = Draft::new(&offer, 2).id(&offer, ID).sign();
    assert_eq!(pay(&mut shop, &other, NOW).response.status(), 409);
    assert_eq!(shop.ledger().settlements().len(), 1);
}

#[test]
fn a_required_identifier_that_is_missing_or_malformed_is_answered_400() {
    let mut shop = shop(route(Flow::Upfront).identifier(Identifier::Required));
    let offer = ask(&mut shop);
    assert_eq!(
        offer["extensions"]["payment-identifier"]["info"]["required"],
        true
    );
    assert_eq!(
        pay(&mut shop, &Draft::new(&offer, 1).sign(), NOW)
            .response
            .status(),
        400
    );
    let short = Draft::new(&offer, 1).id(&offer, "short").sign();
    assert_eq!(pay(&mut shop, &short, NOW).response.status(), 400);
    assert!(shop.ledger().settlements().is_empty());
    let good = Draft::new(&offer, 1).id(&offer, ID).sign();
    assert_settled(&pay(&mut shop, &good, NOW).response, 200);
}

#[test]
fn a_model_seller_stores_no_refusal() {
    let busy = Canned::new(StatusCode::TOO_MANY_REQUESTS).retry_after(1);
    let mut shop = shop(
        route(Flow::Upfront)
            .identifier(Identifier::Optional)
            .paid_script([Step::settled(busy)]),
    );
    let offer = ask(&mut shop);
    let payment = Draft::new(&offer, 1).id(&offer, ID).sign();
    assert_settled(&pay(&mut shop, &payment, NOW).response, 429);
    assert_settled(&pay(&mut shop, &payment, NOW).response, 200);
    assert!(!shop.ledger().requests()[2].replayed);
    assert_eq!(shop.ledger().settlements().len(), 1);
}

#[test]
fn a_reply_that_was_served_and_not_settled_is_not_stored() {
    let gift = Step::verified(Canned::new(StatusCode::OK).body("gift"));
    let mut shop = shop(
        route(Flow::Authorization)
            .identifier(Identifier::Optional)
            .paid_script([gift]),
    );
    let offer = ask(&mut shop);
    let payment = Draft::new(&offer, 1).id(&offer, ID).sign();
    assert_eq!(pay(&mut shop, &payment, NOW).response.body(), "gift");
    assert_settled(&pay(&mut shop, &payment, NOW).response, 200);
    assert!(!shop.ledger().requests()[2].replayed);
}

#[test]
fn a_sinner_replays_his_429_for_ever() {
    let limiter = Limiter::new(0, Duration::from_secs(1)).place(Place::InHandler);
    let mut shop = shop(
        route(Flow::Upfront)
            .identifier(Identifier::Optional)
            .store_errors(true)
            .limiter(limiter),
    );
    let offer = ask(&mut shop);
    let payment = Draft::new(&offer, 1).id(&offer, ID).sign();
    assert_settled(&pay(&mut shop, &payment, NOW).response, 429);
    assert_eq!(
        pay(&mut shop, &payment, later(3_600)).response.status(),
        429
    );
    assert!(shop.ledger().requests()[2].replayed);
}

#[test]
fn a_reply_that_was_lost_on_the_wire_is_replayed() {
    let mut shop = shop(
        route(Flow::Authorization)
            .identifier(Identifier::Optional)
            .paid_script([Step::normal().reset()]),
    );
    let offer = ask(&mut shop);
    let payment = Draft::new(&offer, 1).id(&offer, ID).sign();
    assert!(pay(&mut shop, &payment, NOW).fault.is_some());
    assert_eq!(shop.ledger().requests()[1].status, None);
    assert_settled(&pay(&mut shop, &payment, NOW).response, 200);
    assert_eq!(shop.ledger().settlements().len(), 1);
}
