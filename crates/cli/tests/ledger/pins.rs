//! `pins` and `unpin`.

use serde_json::json;

use crate::desk::{Desk, PAYEE, TOKEN};

#[test]
fn a_pin_is_listed_and_taken_away() {
    let desk = Desk::filled();
    let said = desk.run(&["pins"]).answer();
    let pin = format!("https://seller.example  {TOKEN}  {PAYEE}");
    assert_eq!(said.lines().nth(1), Some(pin.as_str()));
    let small = TOKEN.to_lowercase();
    let said = desk.run(&["unpin", "https://seller.example", &small]);
    let expected = format!("{PAYEE} is pinned no more at https://seller.example for {TOKEN}\n");
    assert_eq!(said.answer(), expected);
    assert_eq!(desk.run(&["pins"]).answer(), "no payee is pinned\n");
}

#[test]
fn a_program_gets_the_same() {
    let desk = Desk::filled();
    let pin = json!({"origin": "https://seller.example", "asset": TOKEN, "payee": PAYEE});
    let json = desk.run(&["pins", "--json"]).json();
    assert_eq!(json, json!({ "pins": [pin] }));
    // what stands behind the origin is no part of it
    let url = "https://seller.example/report?token=secret";
    let json = desk.run(&["unpin", url, TOKEN, "--json"]).json();
    assert_eq!(json, json!({ "unpinned": pin }));
    let json = desk.run(&["pins", "--json"]).json();
    assert_eq!(json, json!({ "pins": [] }));
}

#[test]
fn a_pin_that_is_not_there_is_not_found() {
    let desk = Desk::empty();
    let url = "https://seller.example/?token=secret";
    let said = desk.run(&["unpin", url, TOKEN]).failure(3);
    let expected = format!("no payee is pinned at https://seller.example for {TOKEN}");
    assert_eq!(said, expected);
    let told = desk.run(&["unpin", url, TOKEN, "--json"]);
    assert_eq!(told.json_failure(3)["reason"], "not-found");
}

#[test]
fn what_is_no_origin_or_no_token_is_not_repeated() {
    let desk = Desk::empty();
    for (origin, asset) in [
        ("seller.example/?token=secret", TOKEN),
        ("https://seller.example", "secret"),
        ("https://seller.example", "eip155:84532/secret"),
    ] {
        let said = desk.run(&["unpin", origin, asset]).failure(2);
        assert!(said.contains("is written like") && !said.contains("secret"));
    }
    let told = desk.run(&["unpin", "secret", TOKEN, "--json"]);
    assert_eq!(told.json_failure(2)["reason"], "usage");
}
