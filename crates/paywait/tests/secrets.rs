//! No layer, scope or setting shows a key.

use std::fmt::Debug;

use alloy_signer_local::PrivateKeySigner;
use paywait::{Derivation, Limits, Pace, Pay, PurchaseName, Retry, Scope, Wallet, usd};

/// Both ways of printing: on one line, and on many.
fn told(value: &impl Debug) -> String {
    format!("{value:?} {value:#?}").to_lowercase()
}

#[test]
fn the_layers_show_no_key_and_no_secret() {
    let signer: PrivateKeySigner = KEY.parse().unwrap();
    let limits = Limits::per_call(usd("0.05").unwrap()).per_day(usd("5").unwrap());
    let wallet = Wallet::evm(signer);
    let pay = Pay::new(wallet.clone(), limits).derivation(Derivation::with_secret("sesame"));
    let words = [
        told(&wallet),
        told(&pay),
        told(&pay.clone().keeps_responses(true)),
        told(&Retry::default()),
        told(&Pace::default()),
    ];
    let words = words.concat();
    let start = KEY.trim_start_matches("0x").get(..16).unwrap();
    let listed = format!("{:?}", b"sesame").replace(['[', ']'], "");
    for secret in [start, "sesame", listed.as_str()] {
        assert!(!words.contains(secret), "{words}");
    }
}

#[test]
fn a_scope_shows_nothing_of_what_it_holds() {
    let scope = Scope::new().with(PurchaseName::new("sesame"));
    assert!(!told(&scope).contains("sesame"));
}

/// The first account of the usual test mnemonic: known to everybody.
const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
