//! The command line: its help, and what is refused.

use crate::desk::{Desk, paywait, run};

#[test]
fn help_says_what_each_exit_status_means() {
    for words in [&["--help"][..], &["ledger", "--help"]] {
        let said = run(paywait().args(words)).answer();
        for status in 0..=6 {
            assert!(said.contains(&format!("\n  {status}  ")), "{said}");
        }
    }
}

#[test]
fn help_says_what_each_resolution_does_to_the_money() {
    let said = run(paywait().args(["help", "ledger", "resolve"])).answer();
    for word in ["finished", "presumed", "given-up", "settled", "unused"] {
        let line = said
            .lines()
            .find(|line| line.contains(&format!("- {word}:")));
        assert!(line.is_some(), "{said}");
    }
    // wherever the lines are broken
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("counts as spent") && words.contains("let go"));
}

#[test]
fn the_version_is_told() {
    let said = run(paywait().arg("--version")).answer();
    assert_eq!(said, format!("paywait {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_wrong_command_line_is_refused_before_the_file_is_looked_at() {
    let desk = Desk::bare();
    for words in [
        &[][..],
        &["frobnicate"],
        &["statement", "--by", "weather"],
        &["statement", "--by", "label:"],
        &["statement", "--since", "yesterday"],
        &["statement", "--csv", "--json"],
        &["statement", "--csv", "--by", "day"],
        &[
            "statement",
            "--since",
            "2026-02-01",
            "--until",
            "2026-01-01",
        ],
        &[
            "statement",
            "--since",
            "2026-02-01",
            "--until",
            "2026-02-01",
        ],
        &["resolve", "pay_00000000"],
        &["resolve", "pay_00000000", "refunded"],
        &["unpin", "https://seller.example"],
        &["halt", "now"],
    ] {
        let ran = desk.run(words);
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{words:?}");
        assert!(!ran.err.is_empty());
    }
    let ran = run(paywait().args(["--json", "ledger", "x", "statement", "--csv"]));
    assert_eq!(ran.json_failure(2)["reason"], "usage");
}

#[test]
fn a_program_is_told_in_json_what_is_wrong_with_its_command_line() {
    let desk = Desk::bare();
    for words in [&["--json"][..], &["frobnicate", "--json"]] {
        let error = desk.run(words).json_failure(2);
        assert_eq!(error["reason"], "usage");
        assert!(!error["message"].as_str().unwrap().is_empty());
    }
}
