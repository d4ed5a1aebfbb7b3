//! `statement`: sums, lines, CSV and JSON.

use std::time::Duration;

use paywait_ledger::Note;
use paywait_x402::Money;

use crate::desk::{Desk, PAYEE, Sale, TOKEN, label, now};

#[test]
fn sums_are_a_table_for_a_person() {
    let said = Desk::filled().run(&["statement"]).answer();
    let rows: Vec<Vec<_>> = said
        .lines()
        .map(|row| row.split_whitespace().collect())
        .collect();
    let head = "origin purchases spent lost held presumed refused released";
    assert_eq!(rows[0].join(" "), head);
    let sums = "https://seller.example 3 0.01 USD 0.01 USD 0.01 USD 0 USD 0 USD 0 USD";
    assert_eq!(rows[1].join(" "), sums);
    assert_eq!(rows.len(), 2);
}

#[test]
fn lines_stand_before_the_sums_and_the_newest_is_last() {
    let desk = Desk::empty();
    let ledger = desk.ledger();
    for (name, age) in [("new", 1), ("old", 100), ("middle", 50)] {
        let begun = now().saturating_sub(Duration::from_secs(age));
        let transaction = Some(format!("0x{name}"));
        let note = Note::new(Money::Settled, 1).transaction(transaction);
        Sale {
            begun,
            ..Sale::new(name)
        }
        .end(&ledger, note.delivered(true));
    }
    drop(ledger);
    let said = desk
        .run(&["statement", "--lines", "--by", "asset"])
        .answer();
    let (lines, sums) = said.split_once("\n\n").unwrap();
    let lines: Vec<_> = lines.lines().collect();
    assert!(lines[0].starts_with("at ") && lines[0].ends_with("transaction"));
    for (line, transaction) in lines[1..].iter().zip(["0xold", "0xmiddle", "0xnew"]) {
        let words: Vec<_> = line.split_whitespace().skip(1).collect();
        let expected = [
            "spent",
            "0.01",
            "USDC",
            "https://seller.example",
            transaction,
        ];
        assert_eq!(words, expected);
    }
    assert_eq!(lines.len(), 4);
    assert!(sums.starts_with("asset") && sums.contains(TOKEN));
}

#[test]
fn json_says_the_same_to_a_program() {
    let json = Desk::filled()
        .run(&["statement", "--json", "--by", "payee"])
        .json();
    assert_eq!(json["by"], "payee");
    let total = &json["totals"][0];
    assert_eq!(
        (&total["of"], &total["unit"]),
        (&PAYEE.into(), &"usd".into())
    );
    assert_eq!(total["purchases"], 3);
    for (outcome, sum) in [
        ("spent", "0.01"),
        ("lost", "0.01"),
        ("held", "0.01"),
        ("presumed", "0"),
        ("refused", "0"),
        ("released", "0"),
    ] {
        assert_eq!(total[outcome], sum, "{outcome}");
    }
    let lines = json["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 3);
    for field in [
        "at",
        "begun",
        "outcome",
        "origin",
        "payee",
        "labels",
        "asset",
        "amount",
        "usd",
        "transaction",
        "payment_id",
        "key",
    ] {
        assert!(lines[0].get(field).is_some(), "{field}");
    }
}

#[test]
fn csv_has_a_head_and_a_row_for_each_purchase() {
    let said = Desk::filled().run(&["statement", "--csv"]).answer();
    let rows: Vec<_> = said.lines().collect();
    let head = "at,begun,outcome,origin,payee,labels,asset,amount,usd,transaction,payment_id,key";
    assert_eq!(rows[0], head);
    assert_eq!(rows.len(), 4);
    assert!(
        rows.iter()
            .any(|row| row.contains(",spent,https://seller.example,"))
    );
}

#[test]
fn purchases_are_summed_for_each_label_of_a_kind() {
    let desk = Desk::empty();
    let ledger = desk.ledger();
    for (name, labels) in [
        ("one", vec![label("agent=scout")]),
        ("two", vec![label("agent=scout"), label("task=7")]),
        ("three", vec![]),
    ] {
        Sale {
            labels,
            ..Sale::new(name)
        }
        .end(&ledger, Note::new(Money::Unknown, 1));
    }
    drop(ledger);
    let json = desk
        .run(&["--json", "statement", "--by", "label:agent"])
        .json();
    assert_eq!(json["by"], "label:agent");
    let totals = json["totals"].as_array().unwrap();
    let held = |of: &str| {
        let total = totals.iter().find(|total| total["of"] == of);
        total.map(|total| total["held"].as_str().unwrap().to_owned())
    };
    assert_eq!(held("scout").as_deref(), Some("0.02"));
    assert_eq!(held("").as_deref(), Some("0.01"));
    assert_eq!(totals.len(), 2);
}

#[test]
fn each_word_of_by_is_taken() {
    let desk = Desk::filled();
    for by in [
        "origin", "payee", "asset", "hour", "day", "month", "label:x",
    ] {
        let json = desk.run(&["statement", "--json", "--by", by]).json();
        assert_eq!(json["by"], by);
        assert!(!json["totals"].as_array().unwrap().is_empty(), "{by}");
    }
}

#[test]
fn a_span_begins_with_its_first_moment_and_ends_before_its_last() {
    let desk = Desk::empty();
    let ledger = desk.ledger();
    let noon = "2026-01-02T12:00:00Z";
    let begun = paywait_signals::Timestamp::from_secs(1_767_355_200);
    assert_eq!(begun.to_string(), noon);
    let sale = Sale {
        begun,
        ..Sale::new("noon")
    };
    sale.end(&ledger, Note::new(Money::Unknown, 1));
    drop(ledger);
    for (span, purchases) in [
        (vec![], 1),
        (vec!["--since", noon], 1),
        (vec!["--since", "2026-01-02T12:00:00.001Z"], 0),
        (vec!["--until", noon], 0),
        (vec!["--until", "2026-01-02T14:00:01+02:00"], 1),
        (vec!["--since", "2026-01-02", "--until", "2026-01-03"], 1),
        (vec!["--since", "2026-01-03"], 0),
        (vec!["--until", "2026-01-02"], 0),
    ] {
        let words = [vec!["statement", "--json"], span].concat();
        let lines = desk.run(&words).json()["lines"].as_array().unwrap().len();
        assert_eq!(lines, purchases, "{words:?}");
    }
}

#[test]
fn an_empty_ledger_has_an_empty_statement() {
    let desk = Desk::empty();
    assert_eq!(desk.run(&["statement"]).answer().lines().count(), 1);
    let json = desk.run(&["statement", "--json"]).json();
    assert_eq!(json["totals"].as_array().unwrap().len(), 0);
}
