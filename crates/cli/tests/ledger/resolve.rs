//! `resolve`: which purchase is meant, what each word does to the money, and what is refused.

use paywait_ledger::{Note, Resolution};
use paywait_x402::Money;

use crate::desk::{Desk, Sale, id};

#[test]
fn each_word_ends_the_purchase_and_says_what_counts() {
    for (word, resolution, settled, used) in [
        ("finished", Resolution::Finished, true, "0.01"),
        ("presumed", Resolution::Presumed, false, "0.01"),
        ("given-up", Resolution::GivenUp, false, "0.01"),
        ("settled", Resolution::Settled, true, "0.01"),
        ("unused", Resolution::Unused, false, "0"),
    ] {
        let desk = one("unknown");
        let name = desk.purchase("unknown").stake.payment_id.to_string();
        let said = desk.run(&["resolve", &name, word, "--yes"]).answer();
        assert!(said.starts_with(&format!("{name} is {word}: ")), "{said}");
        // it is written: another opening of the file finds it
        let record = desk.purchase("unknown");
        assert_eq!(record.resolution, Some(resolution), "{word}");
        assert_eq!(record.is_settled(), settled, "{word}");
        assert_eq!(desk.used(), used, "{word}");
        assert_eq!(desk.run(&["open"]).answer(), "no purchase is open\n");
    }
}

#[test]
fn a_program_gets_the_purchase_as_it_is_then() {
    let desk = one("unknown");
    let key = desk.purchase("unknown").key.to_string();
    let json = desk.run(&["resolve", &key, "finished", "--json"]).json();
    assert_eq!(json["resolved"], "finished");
    let purchase = &json["purchase"];
    assert_eq!(purchase["key"], key);
    assert_eq!(purchase["money"], "settled");
    assert_eq!(purchase["resolution"], "finished");
}

#[test]
fn a_purchase_is_named_by_its_identifier_its_key_or_how_one_of_them_begins() {
    let desk = one("unknown");
    let record = desk.purchase("unknown");
    let (id, key) = (record.stake.payment_id.to_string(), record.key.to_string());
    for name in [&id, &key, &key.to_uppercase(), &id[..12], &key[..8]] {
        desk.run(&["resolve", name, "presumed"]).answer();
    }
    let capitals = id[..12].to_uppercase();
    desk.run(&["resolve", &capitals, "presumed"]).failure(3);
}

#[test]
fn what_is_not_there_is_not_found() {
    let desk = one("unknown");
    let name = "pay_00000000000000000000000000000000";
    let said = desk.run(&["resolve", name, "finished"]).failure(3);
    assert_eq!(said, format!("there is no purchase {name}"));
    let told = desk.run(&["--json", "resolve", name, "finished"]);
    let error = told.json_failure(3);
    assert_eq!(error["reason"], "not-found");
    assert_eq!(error["message"], said);
}

#[test]
fn an_ambiguous_name_is_refused_and_the_candidates_are_told() {
    let desk = twins();
    let ran = desk.run(&["resolve", "pay_aaaabbbb", "unused", "--yes"]);
    assert_eq!((ran.status, ran.out.as_str()), (3, ""));
    let lines: Vec<_> = ran.err.lines().collect();
    assert_eq!(lines[0], "paywait: 2 purchases are meant by pay_aaaabbbb");
    assert_eq!(lines.len(), 3);
    for name in ["pay_aaaabbbb00000001", "pay_aaaabbbb000000010"] {
        let begin = format!("  {name}  0x");
        assert!(lines.iter().any(|line| line.starts_with(&begin)), "{name}");
    }
    let told = desk.run(&["resolve", "pay_aaaabbbb", "unused", "--yes", "--json"]);
    let error = told.json_failure(3);
    assert_eq!(error["reason"], "ambiguous");
    assert_eq!(error["found"], 2);
    let candidates = error["candidates"].as_array().unwrap();
    assert_eq!(candidates.len(), 2);
    for field in ["payment_id", "key", "at", "outcome", "origin"] {
        assert!(candidates[0][field].is_string(), "{field}");
    }
    assert_eq!(desk.used(), "0.02");
}

#[test]
fn a_whole_name_is_meant_before_one_that_begins_so() {
    let desk = twins();
    let name = "pay_aaaabbbb00000001";
    desk.run(&["resolve", name, "unused", "--yes"]).answer();
    assert_eq!(desk.purchase("one").resolution, Some(Resolution::Unused));
    assert_eq!(desk.purchase("two").resolution, None);
}

#[test]
fn a_very_short_name_is_taken_for_a_slip() {
    let desk = one("unknown");
    for name in ["", "p", "pay_", "0x", "0x12345"] {
        let ran = desk.run(&["resolve", name, "presumed"]);
        assert_eq!(ran.status, 2, "{ran:?}");
    }
    assert_eq!(desk.purchase("unknown").resolution, None);
}

#[test]
fn unused_is_not_believed_without_a_yes() {
    let desk = one("unknown");
    let name = desk.purchase("unknown").stake.payment_id.to_string();
    let said = desk.run(&["resolve", &name, "unused"]).failure(6);
    assert!(said.contains("--yes"));
    let told = desk.run(&["resolve", &name, "unused", "--json"]);
    assert_eq!(told.json_failure(6)["reason"], "unconfirmed");
    assert_eq!(desk.purchase("unknown").resolution, None);
    assert_eq!(desk.used(), "0.01");
}

#[test]
fn what_a_call_has_in_hand_is_left_to_it() {
    let desk = Desk::empty();
    let ledger = desk.ledger();
    let sale = Sale::new("busy");
    let owner = sale.sign(&ledger);
    let name = sale.id.as_str();
    for word in ["finished", "unused"] {
        let ran = desk.run(&["resolve", name, word]);
        assert!(ran.failure(4).contains("in hand"));
    }
    let told = desk.run(&["resolve", name, "finished", "--json"]);
    assert_eq!(told.json_failure(4)["reason"], "in-hand");
    // and once it is given back it can be ended
    paywait_ledger::Ledger::release(&ledger, sale.key(), owner, true);
    drop(ledger);
    desk.run(&["resolve", name, "finished"]).answer();
}

#[test]
fn what_is_kept_for_statements_alone_is_over() {
    let desk = Desk::empty();
    let old = paywait_signals::Timestamp::from_secs(1_767_355_200);
    let sale = Sale {
        begun: old,
        is_named: false,
        ..Sale::new("old")
    };
    sale.end(&desk.ledger(), Note::new(Money::Unknown, 1));
    // any use of the ledger stops counting what no longer counts
    assert_eq!(desk.used(), "0");
    let said = desk.run(&["resolve", sale.id.as_str(), "finished"]);
    assert!(said.failure(3).contains("kept for statements alone"));
}

#[test]
fn a_wrong_word_can_be_put_right() {
    let desk = one("unknown");
    let name = desk.purchase("unknown").stake.payment_id.to_string();
    desk.run(&["resolve", &name, "unused", "--yes"]).answer();
    assert_eq!(desk.used(), "0");
    desk.run(&["resolve", &name, "settled"]).answer();
    assert_eq!(desk.used(), "0.01");
}

fn one(name: &'static str) -> Desk {
    let desk = Desk::empty();
    Sale::new(name).end(&desk.ledger(), Note::new(Money::Unknown, 1));
    desk
}

/// Two purchases, of which the identifier of one is how that of the other begins.
fn twins() -> Desk {
    let desk = Desk::empty();
    let ledger = desk.ledger();
    for (name, text) in [
        ("one", "pay_aaaabbbb00000001"),
        ("two", "pay_aaaabbbb000000010"),
    ] {
        let sale = Sale {
            id: id(text),
            ..Sale::new(name)
        };
        sale.end(&ledger, Note::new(Money::Unknown, 1));
    }
    drop(ledger);
    desk
}
