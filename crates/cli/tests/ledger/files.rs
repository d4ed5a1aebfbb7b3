//! Files that are missing, foreign, damaged, newer, or in use.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_executor::block_on;
use paywait_ledger::{Ledger, Note, SqliteLedger};
use paywait_x402::Money;
use rusqlite::Connection;

use crate::desk::{Desk, Sale};

/// A command line of each verb.
const VERBS: [&[&str]; 8] = [
    &["statement"],
    &["open"],
    &["resolve", "pay_00000000", "finished"],
    &["halt"],
    &["resume"],
    &["status"],
    &["pins"],
    &["unpin", "https://seller.example", crate::desk::TOKEN],
];

#[test]
fn a_missing_file_is_an_error_and_is_not_made() {
    let desk = Desk::bare();
    for verb in VERBS {
        let said = desk.run(verb).failure(1);
        let path = desk.path.display();
        assert_eq!(said, format!("{path}: there is no ledger at this path"));
        let told = desk.run(&[verb, &["--json"]].concat()).json_failure(1);
        assert_eq!(
            (&told["reason"], &told["message"]),
            (&"store".into(), &said.into())
        );
    }
    assert_eq!(fs::read_dir(desk.folder()).unwrap().count(), 0);
}

#[test]
fn a_foreign_file_is_refused_and_left_as_it_is() {
    let desk = Desk::bare();
    for content in ["", "the ledger of somebody else", "SQLite format 3\0"] {
        fs::write(&desk.path, content).unwrap();
        for verb in VERBS {
            desk.run(verb).failure(1);
            assert_eq!(fs::read_to_string(&desk.path).unwrap(), content);
        }
    }
    fs::remove_file(&desk.path).unwrap();
    let other = Connection::open(&desk.path).unwrap();
    other.execute_batch("CREATE TABLE t (x)").unwrap();
    drop(other);
    for verb in VERBS {
        let said = desk.run(verb).failure(1);
        assert!(said.ends_with("the file is not a ledger"), "{said}");
    }
}

#[test]
fn a_folder_is_no_ledger() {
    let desk = Desk::bare();
    fs::create_dir(&desk.path).unwrap();
    let said = desk.run(&["status"]).failure(1);
    assert!(said.ends_with("the file is not a ledger"), "{said}");
}

#[test]
fn a_file_of_a_newer_version_is_refused() {
    let desk = Desk::filled();
    let file = Connection::open(&desk.path).unwrap();
    file.pragma_update(None, "user_version", 99).unwrap();
    drop(file);
    for verb in VERBS {
        let said = desk.run(verb).failure(1);
        assert!(said.contains("format is version 99"), "{said}");
    }
}

#[test]
fn a_damaged_file_is_refused() {
    let desk = Desk::filled();
    let file = Connection::open(&desk.path).unwrap();
    let damaged = file.execute(
        "UPDATE purchase SET fields = replace(fields, '10000', '10001')",
        [],
    );
    assert_eq!(damaged.unwrap(), 3);
    drop(file);
    for verb in VERBS {
        let said = desk.run(verb).failure(1);
        assert!(said.ends_with("the ledger is damaged"), "{said}");
    }
}

#[test]
fn a_statement_is_read_while_another_process_writes_and_nothing_is_written_meanwhile() {
    let desk = Desk::filled();
    let agent = Connection::open(&desk.path).unwrap();
    agent.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(
        desk.run(&["statement", "--json"]).json()["totals"][0]["purchases"],
        3
    );
    assert!(desk.run(&["pins"]).answer().contains("seller.example"));
    let said = desk.run(&["halt"]).failure(1);
    assert_eq!(said, "another process keeps the ledger locked");
    agent.execute_batch("COMMIT").unwrap();
    desk.run(&["status"]).answer();
}

#[test]
fn agents_pay_on_while_it_is_read_and_changed() {
    let desk = Desk::filled();
    let ledger = desk.ledger();
    let unknown = desk.purchase("unknown").stake.payment_id.to_string();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let agent = scope.spawn(|| {
            let mut bought = 0;
            while !done.load(Ordering::Relaxed) {
                let name: &'static str = format!("bought {bought}").leak();
                let note = Note::new(Money::Settled, 1).delivered(true);
                Sale::new(name).end(&ledger, note);
                bought += 1;
            }
            bought
        });
        for _ in 0..5 {
            desk.run(&["statement", "--lines"]).answer();
            desk.run(&["open"]).answer();
            desk.run(&["status"]).answer();
        }
        desk.run(&["resolve", &unknown, "finished"]).answer();
        done.store(true, Ordering::Relaxed);
        assert!(agent.join().unwrap() > 0);
    });
    drop(ledger);
    let open = block_on(desk.ledger().open_purchases()).unwrap();
    assert_eq!(open.len(), 1);
}

#[test]
fn what_was_said_outlives_the_process_that_said_it() {
    let desk = Desk::filled();
    let name = desk.purchase("lost").stake.payment_id.to_string();
    desk.run(&["resolve", &name, "finished"]).answer();
    desk.run(&["halt"]).answer();
    let copy = desk.folder().join("copy.db");
    fs::copy(&desk.path, &copy).unwrap();
    let ledger = SqliteLedger::open(&copy).unwrap();
    assert!(block_on(ledger.is_halted()).unwrap());
    assert_eq!(block_on(ledger.open_purchases()).unwrap().len(), 1);
}
