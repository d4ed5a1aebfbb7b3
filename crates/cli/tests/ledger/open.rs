//! `open`: what waits for an answer.

use paywait_ledger::Note;
use paywait_x402::Money;

use crate::desk::{Desk, PAYEE, Sale, TOKEN};

#[test]
fn what_is_lost_or_unknown_is_listed_and_what_was_bought_is_not() {
    let desk = Desk::filled();
    let said = desk.run(&["open"]).answer();
    assert!(said.starts_with("begun "));
    assert_eq!(said.lines().count(), 3);
    for name in ["lost", "unknown"] {
        let id = desk.purchase(name).stake.payment_id;
        let row = said.lines().find(|row| row.ends_with(id.as_str())).unwrap();
        assert!(row.contains("0.01 USDC  https://seller.example  "));
    }
}

#[test]
fn a_program_gets_each_field() {
    let desk = Desk::filled();
    let json = desk.run(&["open", "--json"]).json();
    let open = json["open"].as_array().unwrap();
    let lost = desk.purchase("lost");
    let found = open
        .iter()
        .find(|purchase| purchase["key"] == lost.key.to_string())
        .unwrap();
    for (field, value) in [
        ("payment_id", lost.stake.payment_id.as_str()),
        ("money", "settled"),
        ("origin", "https://seller.example"),
        ("payer", &lost.stake.payer.to_string()),
        ("payee", PAYEE),
        ("asset", TOKEN),
        ("amount", "10000"),
        ("usd", "0.01"),
        ("nonce", &lost.stake.nonce.to_string()),
        ("transaction", "0xabc"),
        ("begun", &lost.begun.to_string()),
        ("written", &lost.written.to_string()),
    ] {
        assert_eq!(found[field], value, "{field}");
    }
    assert_eq!(found["named"], true);
    assert_eq!(found["in_hand"], false);
    assert_eq!(found["delivered"], false);
    assert_eq!(found["signatures"], 1);
    assert_eq!(found["shown"], 3);
    assert!(found["resolution"].is_null());
    assert!(found["valid_before"].as_str().unwrap().ends_with('Z'));
}

#[test]
fn what_a_call_has_in_hand_says_so() {
    let desk = Desk::empty();
    let ledger = desk.ledger();
    Sale::new("busy").sign(&ledger);
    assert!(desk.run(&["open"]).answer().contains("signed, in hand"));
    let json = desk.run(&["open", "--json"]).json();
    assert_eq!(json["open"][0]["in_hand"], true);
}

#[test]
fn nothing_open_is_said_in_words() {
    let desk = Desk::empty();
    assert_eq!(desk.run(&["open"]).answer(), "no purchase is open\n");
    let json = desk.run(&["open", "--json"]).json();
    assert_eq!(json, serde_json::json!({ "open": [] }));
    let bought = Note::new(Money::Settled, 1).delivered(true);
    Sale::new("bought").end(&desk.ledger(), bought);
    assert_eq!(desk.run(&["open"]).answer(), "no purchase is open\n");
}
