//! The example `buy`, run as a reader runs it.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

use std::path::PathBuf;
use std::process::Output;

use alloy_primitives::{Address, U256};
use http::StatusCode;
use paywait_seller::{Canned, Flow, RawServer, Route, Seller, Shop, Step, Terms, Token};
use support::reference::ReferenceSeller;
use tokio::process::Command;

/// A public test key of the Ethereum tools.
const KEY: &str = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";

/// The example, built: `cargo test` builds it beside the tests, and if not, this does.
async fn example() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let buy = tests
        .ancestors()
        .nth(2)
        .unwrap()
        .join("examples")
        .join("buy");
    if !buy.is_file() {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args([
            "build",
            "--quiet",
            "-p",
            "paywait-examples",
            "--example",
            "buy",
        ]);
        assert!(cargo.status().await.unwrap().success());
    }
    buy
}

async fn buy(key: Option<&str>, words: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(example().await);
    command
        .args(words)
        .env_remove("BUY_KEY")
        .env_remove("HTTP_PROXY")
        .env_remove("http_proxy");
    if let Some(key) = key {
        command.env("BUY_KEY", key);
    }
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

async fn shop() -> (Seller, RawServer) {
    let to = Address::repeat_byte(0x22);
    let base = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
        .parse()
        .unwrap();
    let real = Token::new(8453, base, "USD Coin", "2");
    let served = || Canned::new(StatusCode::OK).body("the goods");
    let fails = Step::settled(Canned::new(StatusCode::NOT_FOUND));
    let shop = Shop::builder()
        .route(Route::new("/report", Terms::usdc(10_000, to)).handler(served()))
        .route(Route::new("/real", Terms::new(real, U256::from(10_000), to)).handler(served()))
        .route(
            Route::new("/fails", Terms::usdc(10_000, to).flow(Flow::Upfront)).paid_script([fails]),
        );
    let seller = Seller::new(shop.build().unwrap());
    let server = RawServer::start(seller.clone()).await.unwrap();
    (seller, server)
}

#[tokio::test]
async fn it_buys_one_resource_and_prints_it() {
    let (seller, server) = shop().await;
    let url = format!("{}/report", server.url());
    let (status, stdout, stderr) = buy(Some(KEY), &[&url, "--max-price", "0.01"]).await;
    assert_eq!((status, stdout.as_str()), (0, "the goods\n"), "{stderr}");
    assert!(
        stderr.starts_with("200 after 1 attempt, 2 sends, paid 0.01 USDC"),
        "{stderr}"
    );
    assert_eq!(seller.ledger().settlements().len(), 1);
}

#[tokio::test]
async fn real_money_moves_only_on_a_network_that_is_named() {
    let (seller, server) = shop().await;
    let url = format!("{}/real", server.url());
    let (status, _, stderr) = buy(Some(KEY), &[&url]).await;
    assert_eq!(status, 6);
    assert!(
        stderr.contains("eip155:8453 is not among the networks to pay on"),
        "{stderr}"
    );
    assert_eq!(seller.ledger().authorizations_seen(), 0);
    let (status, _, stderr) = buy(Some(KEY), &[&url, "--network", "eip155:8453"]).await;
    assert_eq!(status, 0, "{stderr}");
}

#[tokio::test]
async fn each_mistake_has_one_sentence_and_a_status_of_its_own_and_no_key_is_printed() {
    let (seller, server) = shop().await;
    let url = format!("{}/report", server.url());
    let fails = format!("{}/fails", server.url());
    let bad_key = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b7869zz";
    let cases: [(i32, Option<&str>, &[&str]); 10] = [
        (2, Some(KEY), &[]),
        (2, Some(KEY), &[&url, "--colour"]),
        (2, Some(KEY), &[&url, "--max-price"]),
        (3, None, &[&url]),
        (3, Some(bad_key), &[&url]),
        (4, Some(KEY), &["no url"]),
        (5, Some(KEY), &[&url, "--max-price", "1e3"]),
        (5, Some(KEY), &[&url, "--network", "solana:mainnet"]),
        (6, Some(KEY), &[&url, "--max-price", "0.001"]),
        (7, Some(KEY), &[&fails]),
    ];
    for (expected, key, words) in cases {
        let (status, stdout, stderr) = buy(key, words).await;
        assert_eq!(status, expected, "{words:?}: {stderr}");
        assert_eq!(stdout, "", "{words:?}");
        assert_eq!(stderr.lines().count(), 1, "{words:?}: {stderr}");
        assert!(!stderr.contains("59c6995e"), "{words:?}: {stderr}");
    }
    assert_eq!(
        seller.ledger().settlements().len(),
        1,
        "the one that was not delivered"
    );
}

#[tokio::test]
async fn it_buys_from_the_reference_seller() {
    let seller = match ReferenceSeller::start().await {
        Ok(seller) => seller,
        Err(left_out) => return left_out.report("buying from the reference seller"),
    };
    let url = seller.url("/authorization/200/identified");
    let (status, stdout, stderr) = buy(Some(KEY), &[&url, "--wire"]).await;
    assert_eq!(status, 0, "{stderr}");
    assert_eq!(stdout, "{\"sold\":\"/authorization/200/identified\"}\n");
    assert_eq!(seller.ledger().await.settlements.len(), 1);
    // whoever reads a signature can cash it
    let signature = stderr.split_once("\"signature\": \"0x").unwrap().1;
    assert!(signature.get(4..).unwrap().starts_with('…'), "{stderr}");
}
