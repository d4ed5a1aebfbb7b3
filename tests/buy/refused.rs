//! What it says, and with which status, where nothing is bought.

use std::net::{Ipv4Addr, TcpListener};

use paywait_seller::{Canned, Route, Step};
use reqwest::StatusCode;
use support::shop::{terms, upfront};

use crate::program::{KEY, buy, buy_with};
use crate::stall::Stall;

/// A seller of one thing at `/it` for 0.01 USDC on a test network.
async fn stall() -> Stall {
    Stall::open(Route::new("/it", terms())).await
}

#[tokio::test]
async fn a_bad_key_is_not_repeated_and_nothing_is_sent() {
    let stall = stall().await;
    let bad = [
        "correct horse battery staple",
        "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690",
        "59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690g",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "",
    ];
    for key in bad {
        let ran = buy_with(Some(key), &[&stall.url()]).await;
        let sentence = ran.sentence(3);
        assert!(
            sentence.starts_with("BUY_KEY holds no private key"),
            "{sentence}"
        );
    }
    assert_eq!(stall.saw(), (0, 0, 0));
}

#[tokio::test]
async fn a_missing_key_is_asked_for() {
    let stall = stall().await;
    let ran = buy_with(None, &[&stall.url()]).await;
    assert!(ran.sentence(3).contains("into BUY_KEY"));
    assert_eq!(stall.saw(), (0, 0, 0));
}

#[tokio::test]
async fn a_url_that_cannot_be_used_is_told_from_a_refusal() {
    for url in [
        "nowhere",
        "http://",
        "ftp://127.0.0.1/it",
        "file:///etc/passwd",
    ] {
        let ran = buy(&[url]).await;
        let sentence = ran.sentence(4);
        assert!(sentence.starts_with("The URL cannot be used"), "{sentence}");
    }
}

#[tokio::test]
async fn a_bad_price_or_network_stops_before_a_byte_leaves() {
    let stall = stall().await;
    for (option, value) in [
        ("--max-price", "five"),
        ("--max-price", "-1"),
        ("--max-price", "0.05.1"),
        ("--network", "base"),
        ("--network", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"),
    ] {
        let ran = buy(&[&stall.url(), option, value]).await;
        let sentence = ran.sentence(5);
        assert!(sentence.starts_with(option), "{sentence}");
    }
    assert_eq!(stall.saw(), (0, 0, 0));
}

#[tokio::test]
async fn a_bad_command_line_shows_the_usage_and_repeats_no_word_of_it() {
    let stall = stall().await;
    let url = stall.url();
    let (option, short) = (format!("--key={KEY}"), format!("-{KEY}"));
    let bad: [&[&str]; 7] = [
        &[],
        &[&url, "--cheap"],
        &[&url, &option],
        &[&url, &short],
        &[&url, KEY],
        &[&url, "--max-price"],
        &[&url, "--network"],
    ];
    for words in bad {
        let ran = buy(words).await;
        let sentence = ran.sentence(2);
        assert!(sentence.contains("usage: buy URL"), "{sentence}");
    }
    assert_eq!(stall.saw(), (0, 0, 0));
}

#[tokio::test]
async fn a_price_above_the_most_is_not_paid() {
    let stall = stall().await;
    let ran = buy(&[&stall.url(), "--max-price", "0.009999"]).await;
    let sentence = ran.sentence(6);
    assert!(sentence.starts_with("Not bought: 402 after"), "{sentence}");
    assert!(
        sentence.contains("allowed up to 0.009999 USD a call"),
        "{sentence}"
    );
    assert_eq!(stall.saw(), (1, 0, 0));
}

#[tokio::test]
async fn a_network_that_was_not_named_is_not_paid_on() {
    let stall = stall().await;
    let ran = buy(&[&stall.url(), "--network", "eip155:8453"]).await;
    let sentence = ran.sentence(6);
    assert!(
        sentence.contains("asked eip155:84532, allowed eip155:8453"),
        "{sentence}"
    );
    assert_eq!(stall.saw(), (1, 0, 0));
}

#[tokio::test]
async fn a_refused_connection_is_named_and_the_query_is_not() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let ran = buy(&[&format!("http://127.0.0.1:{port}/it?token=hush")]).await;
    let sentence = ran.sentence(6);
    assert!(
        sentence.starts_with("Not bought: no answer after"),
        "{sentence}"
    );
    assert!(sentence.to_lowercase().contains("refused"), "{sentence}");
    assert!(!sentence.contains("hush"), "{sentence}");
}

#[tokio::test]
async fn paid_and_not_delivered_has_a_status_of_its_own() {
    let gone = Step::settled(Canned::new(StatusCode::GONE));
    let stall = Stall::open(Route::new("/it", upfront()).paid_script([gone])).await;
    let ran = buy(&[&stall.url()]).await;
    let sentence = ran.sentence(7);
    assert!(
        sentence.starts_with("Paid and not delivered: 410 after"),
        "{sentence}"
    );
    assert_eq!(stall.saw(), (2, 1, 1));
}

#[tokio::test]
async fn an_authorization_that_may_still_be_cashed_counts_as_perhaps_paid() {
    let forbidden = Step::verified(Canned::new(StatusCode::FORBIDDEN));
    let stall = Stall::open(Route::new("/it", terms()).paid_script(vec![forbidden; 9])).await;
    let ran = buy(&[&stall.url()]).await;
    let sentence = ran.sentence(7);
    assert!(
        sentence.starts_with("Perhaps paid and not delivered: 403 after"),
        "{sentence}"
    );
    let (_, nonces, settlements) = stall.saw();
    assert_eq!((nonces, settlements), (1, 0));
}

#[tokio::test]
async fn half_a_body_is_no_delivery_whatever_its_status() {
    let sold = Canned::new(StatusCode::OK).body("the whole of the report");
    let route = Route::new("/it", terms()).handler(sold);
    let stall = Stall::open(route.paid_script([Step::normal().half_body()])).await;
    let ran = buy(&[&stall.url()]).await;
    assert_eq!(ran.status, 7, "{ran:?}");
    assert!(
        ran.stderr.starts_with("Paid and not delivered: 402 after"),
        "{ran:?}"
    );
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    // it was asked for once more, with the same payment
    assert_eq!(stall.saw(), (3, 1, 1));
}
