//! `halt`, `resume` and `status`.

use paywait_ledger::LedgerError;
use serde_json::json;

use crate::desk::{Desk, Sale};

#[test]
fn what_is_halted_stays_so_until_it_is_resumed() {
    let desk = Desk::empty();
    let halted = "halted: nothing new is paid until it is resumed\n";
    assert_eq!(desk.run(&["halt"]).answer(), halted);
    let refused = Sale::new("one").intend(&desk.ledger());
    assert_eq!(refused.unwrap_err(), LedgerError::Halted);
    // twice is once
    assert_eq!(desk.run(&["halt"]).answer(), halted);
    assert_eq!(desk.run(&["resume"]).answer(), "not halted\n");
    assert!(Sale::new("one").intend(&desk.ledger()).is_ok());
}

#[test]
fn an_agent_that_runs_is_halted_too() {
    let desk = Desk::empty();
    let ledger = desk.ledger();
    assert!(Sale::new("before").intend(&ledger).is_ok());
    desk.run(&["halt"]).answer();
    let refused = Sale::new("after").intend(&ledger);
    assert_eq!(refused.unwrap_err(), LedgerError::Halted);
    desk.run(&["resume"]).answer();
    assert!(Sale::new("after").intend(&ledger).is_ok());
}

#[test]
fn status_says_what_counts_and_its_exit_status_whether_it_is_halted() {
    let desk = Desk::filled();
    let said = desk.run(&["status"]).answer();
    assert_eq!(said, "not halted\n0.03 USD counts against the day\n");
    desk.run(&["halt"]).answer();
    let ran = desk.run(&["status"]);
    assert_eq!((ran.status, ran.err.as_str()), (5, ""));
    assert!(ran.out.starts_with("halted: "));
    assert!(ran.out.ends_with("\n0.03 USD counts against the day\n"));
}

#[test]
fn a_program_gets_a_document_of_each() {
    let desk = Desk::filled();
    let json = desk.run(&["status", "--json"]).json();
    assert_eq!(json, json!({"halted": false, "used_today_usd": "0.03"}));
    let json = desk.run(&["halt", "--json"]).json();
    assert_eq!(json, json!({"halted": true}));
    let ran = desk.run(&["status", "--json"]);
    assert_eq!(ran.status, 5);
    let told: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(told, json!({"halted": true, "used_today_usd": "0.03"}));
    let json = desk.run(&["resume", "--json"]).json();
    assert_eq!(json, json!({"halted": false}));
}
