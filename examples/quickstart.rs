//! An agent buys from a seller that fails in the ways that make clients pay twice, and pays once.
//!
//! ```sh
//! cargo run --example quickstart
//! ```
//!
//! The seller runs in this process and keeps a ledger of its own; what it says at the end is what
//! counts. Exit status 1 if any call was paid twice.

#![expect(
    clippy::print_stdout,
    reason = "this program shows something to a reader"
)]

use std::collections::BTreeSet;
use std::error::Error;
use std::process::ExitCode;

use alloy_primitives::{Address, B256};
use alloy_signer_local::PrivateKeySigner;
use paywait::{Limits, Pace, Pay, Retry, Wallet, usd};
use paywait_seller::{
    Canned, Flow, Identifier, Ledger, RawServer, Route, Seller, Shop, Step, Terms,
};
use reqwest::StatusCode;
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};

/// What is bought: the path, and what the seller does wrong there.
const CALLS: [(&str, &str); 6] = [
    ("/free", "asks for nothing"),
    ("/plain", "serves what was paid for"),
    ("/limited", "says 429 before it takes money"),
    ("/throttled", "takes the money, then says 429"),
    ("/reset", "takes the money, then drops the connection"),
    ("/no-credit", "says 429 and means that the account is empty"),
];

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let seller = Seller::new(shop()?);
    let server = RawServer::start(seller.clone()).await?;

    let wallet = Wallet::evm(PrivateKeySigner::random());
    let limits = Limits::per_call(usd("0.05")?).per_day(usd("1")?);
    let client = ClientBuilder::new(paywait::http_client()?)
        .with(Retry::default())
        .with(Pay::new(wallet, limits))
        .with(Pace::default())
        .build();

    let mut paid_twice = false;
    for (path, sin) in CALLS {
        println!("{path} {sin}");
        buy(&client, &format!("{}{path}", server.url())).await;
        let settlements = settlements(&seller.ledger(), path);
        paid_twice |= settlements > 1;
        println!("  settlements: {settlements}\n");
    }

    println!("What the seller's ledger says:\n{}", seller.ledger());
    Ok(ExitCode::from(u8::from(paid_twice)))
}

/// Makes one call and prints what was decided, send by send.
async fn buy(client: &ClientWithMiddleware, url: &str) {
    let reply = client.get(url).send().await;
    let report = match &reply {
        Ok(reply) => Some(paywait::report(reply)),
        Err(error) => paywait::Error::find(error).map(paywait::Error::report),
    };
    let Some(report) = report else {
        println!("  no report: {reply:?}");
        return;
    };
    for sent in &report.sends {
        println!("  {sent}");
    }
    println!("  = {report}");
}

/// How often money moved for what was asked at `path`.
fn settlements(ledger: &Ledger, path: &str) -> usize {
    let asked = ledger
        .paid_requests()
        .filter(|request| request.path == path);
    let nonces: BTreeSet<B256> = asked.filter_map(|request| request.nonce).collect();
    nonces
        .into_iter()
        .map(|nonce| ledger.settlements_for_nonce(nonce).count())
        .sum()
}

/// A seller whose routes each have a fault of their own.
fn shop() -> Result<Shop, Box<dyn Error>> {
    let pay_to = Address::repeat_byte(0x22);
    let terms = Terms::usdc(10_000, pay_to);
    let late = terms.clone().flow(Flow::Upfront);
    let wait = || Canned::new(StatusCode::TOO_MANY_REQUESTS).retry_after(1);
    let served = || Canned::json(StatusCode::OK, r#"{"report":"ready"}"#);
    let no_credit = Canned::json(
        StatusCode::TOO_MANY_REQUESTS,
        r#"{"error":{"code":"credit_balance_exhausted","type":"insufficient_quota"}}"#,
    );

    let shop = Shop::builder()
        .route(Route::free("/free").handler(served()))
        .route(Route::new("/plain", terms.clone()).handler(served()))
        .route(
            Route::new("/limited", terms.clone())
                .handler(served())
                .script([Step::reply(wait())]),
        )
        .route(
            Route::new("/throttled", late.clone())
                .handler(served())
                .paid_script([Step::settled(wait())]),
        )
        .route(
            Route::new("/reset", late)
                .identifier(Identifier::Optional)
                .handler(served())
                .paid_script([Step::normal().reset()]),
        )
        .route(Route::new("/no-credit", terms).script(vec![Step::reply(no_credit); 9]));
    Ok(shop.build()?)
}
