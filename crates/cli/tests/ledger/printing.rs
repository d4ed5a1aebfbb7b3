//! What is printed: nothing that is secret, and nothing that a terminal would obey.

use std::process::Stdio;

use futures_executor::block_on;
use paywait_ledger::{Ledger as _, Note};
use paywait_signals::Timestamp;
use paywait_x402::Money;
use serde_json::Value;

use crate::desk::{Desk, Sale, paywait, run};

/// A transaction as a hostile seller names it: it would clear the screen, hide and turn text around,
/// and is a formula to a spreadsheet.
const HOSTILE: &str = "=cmd\u{1b}[2J\r\n\u{9b}31m\u{7f}\u{202e}\u{2066}\u{0}\t\"'";

#[test]
fn a_sellers_text_commands_no_terminal() {
    let desk = hostile();
    for words in [
        vec!["statement", "--lines"],
        vec!["statement", "--csv"],
        vec!["statement", "--json"],
        vec!["open"],
        vec!["open", "--json"],
    ] {
        let said = desk.run(&words).answer();
        let obeyed = |char: char| {
            char.is_control() && char != '\n' || matches!(char, '\u{202e}' | '\u{2066}')
        };
        assert!(!said.contains(obeyed), "{said:?}");
    }
    let said = desk.run(&["statement", "--csv"]).answer();
    assert!(said.contains(r"'=cmd\u{1b}[2J\r\n"), "{said}");
}

#[test]
fn a_program_gets_a_sellers_text_as_it_is() {
    let desk = hostile();
    let json = desk.run(&["statement", "--json"]).json();
    assert_eq!(json["lines"][0]["transaction"], HOSTILE);
    let json = desk.run(&["open", "--json"]).json();
    assert_eq!(json["open"][0]["transaction"], HOSTILE);
}

#[test]
fn a_hostile_word_on_the_command_line_is_written_out() {
    let desk = Desk::empty();
    let name = "\u{1b}[2J\u{202e}pay_00000000";
    for words in [vec!["resolve", name, "finished"], vec![name]] {
        for json in [true, false] {
            let mut words = words.clone();
            words.extend(json.then_some("--json"));
            let ran = desk.run(&words);
            assert!(ran.status == 2 || ran.status == 3, "{ran:?}");
            assert!(!ran.err.contains(['\u{1b}', '\u{202e}']), "{ran:?}");
        }
    }
}

#[test]
fn no_signature_and_no_query_is_printed() {
    let desk = Desk::filled();
    let name = desk.purchase("unknown").stake.payment_id.to_string();
    let taken = block_on(desk.ledger().lines(
        Timestamp::from_secs(0),
        Timestamp::MAX,
        Timestamp::from_secs(0),
    ));
    assert_eq!(taken.unwrap().len(), 3);
    for words in [
        vec!["statement", "--lines"],
        vec!["statement", "--json"],
        vec!["statement", "--csv"],
        vec!["open"],
        vec!["open", "--json"],
        vec!["resolve", &name, "presumed", "--json"],
        vec!["pins"],
    ] {
        let said = desk.run(&words).answer();
        assert!(!said.contains("token=secret"), "{said}");
        assert!(!said.contains("signature\""), "{said}");
        // a signature has 65 bytes; the longest that is printed has 32
        let longest = said.split(|char: char| !char.is_ascii_hexdigit());
        assert!(longest.map(str::len).max().unwrap() <= 64, "{said}");
    }
}

#[test]
fn whoever_stops_reading_is_not_told_of_it() {
    let desk = Desk::filled();
    for words in [vec!["statement", "--lines"], vec!["open", "--json"]] {
        let mut command = desk.command(&words);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(output.stderr, b"");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cannot_be_printed_is_a_failure() {
    let desk = Desk::filled();
    let full = || {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
        Stdio::from(full.unwrap())
    };
    let ran = run(desk.command(&["open"]).stdout(full()));
    assert!(ran.failure(1).starts_with("the answer cannot be printed: "));
    let ran = run(desk.command(&["open", "--json"]).stdout(full()));
    assert_eq!(ran.json_failure(1)["reason"], "output");
    // nor is there a panic where not even that can be told
    let ran = run(paywait().stdout(full()).stderr(full()));
    assert_eq!(ran.status, 2);
}

fn hostile() -> Desk {
    let desk = Desk::empty();
    let note = Note::new(Money::Settled, 1).transaction(Some(HOSTILE.to_owned()));
    Sale::new("lost").end(&desk.ledger(), note);
    let json: Value = desk.run(&["open", "--json"]).json();
    assert_eq!(json["open"].as_array().unwrap().len(), 1);
    desk
}
