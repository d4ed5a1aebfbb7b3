//! Buys one resource from an x402 seller and prints it.
//!
//! ```sh
//! BUY_KEY=0x… cargo run --example buy -- URL [--max-price 0.05] [--network eip155:84532] [--wire]
//! ```
//!
//! `--network` may be given several times and names what may be paid on; without it only test
//! networks are. `--wire` prints the headers of the paid exchange, decoded. Exit status: 0 bought
//! or free, 2 a bad command line, 3 a bad key, 4 a bad URL, 5 a bad price or network, 6 refused or
//! not paid, 7 paid and not delivered or outcome unknown.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this program talks to a person"
)]

use std::process::ExitCode;
use std::sync::Arc;

use alloy_signer_local::PrivateKeySigner;
use paywait::{End, Limits, Network, Pace, Pay, Retry, Usd, Wallet};
use reqwest_middleware::ClientBuilder;

mod wire;

/// What ends the program: a sentence, and its exit status.
struct Sorry(u8, String);

#[tokio::main]
async fn main() -> ExitCode {
    match buy().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(Sorry(status, sentence)) => {
            eprintln!("{sentence}");
            ExitCode::from(status)
        }
    }
}

async fn buy() -> Result<(), Sorry> {
    let order = Order::read(std::env::args().skip(1))?;
    let key = std::env::var("BUY_KEY").map_err(|_| {
        Sorry(
            3,
            "Put the private key of the paying account into BUY_KEY.".into(),
        )
    })?;
    // the parser's own error may quote what it read
    let signer: PrivateKeySigner = key.trim().parse().map_err(|_| {
        Sorry(
            3,
            "BUY_KEY does not hold a private key: 64 hexadecimal digits.".into(),
        )
    })?;

    let limits = Limits::per_call(order.max_price).per_day(order.max_price);
    let mut pay = Pay::new(Wallet::evm(signer), limits);
    if !order.networks.is_empty() {
        pay = pay.networks(order.networks);
    }
    let http = paywait::http_client()
        .map_err(|error| Sorry(4, format!("No HTTP client could be made: {error}")))?;
    let mut client = ClientBuilder::new(http)
        .with(Retry::default())
        .with(pay)
        .with(Pace::default());
    if order.wire {
        client = client.with_arc(Arc::new(wire::Wire));
    }

    let reply = client
        .build()
        .get(order.url)
        .send()
        .await
        .map_err(|error| match paywait::Error::find(&error) {
            Some(ended) => Sorry(
                status(ended.end()),
                format!("Not bought: {}.", ended.report()),
            ),
            None => Sorry(6, format!("Not bought: {}.", error.without_url())),
        })?;
    let report = paywait::report(&reply).clone();
    let status = status(&report.end);
    if status != 0 {
        return Err(Sorry(status, format!("Not bought: {report}.")));
    }
    let body = reply.text().await.map_err(|error| {
        Sorry(
            7,
            format!("Bought, and the answer broke off: {}.", error.without_url()),
        )
    })?;
    eprintln!("{report}");
    println!("{body}");
    Ok(())
}

/// The exit status of an end.
fn status(end: &End) -> u8 {
    if *end == End::Served {
        return 0;
    }
    let at_stake = matches!(end, End::PaidNotDelivered | End::OutcomeUnknown);
    if at_stake { 7 } else { 6 }
}

/// What the command line asks for.
struct Order {
    url: reqwest::Url,
    max_price: Usd,
    networks: Vec<Network>,
    wire: bool,
}

impl Order {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, Sorry> {
        let mut url = None;
        let mut max_price = "0.05".to_owned();
        let mut networks = Vec::new();
        let mut wire = false;
        while let Some(word) = words.next() {
            let mut value = || {
                words
                    .next()
                    .ok_or_else(|| Sorry(2, format!("{word} needs a value.")))
            };
            match word.as_str() {
                "--max-price" => max_price = value()?,
                "--network" => networks.push(value()?),
                "--wire" => wire = true,
                _ if word.starts_with('-') => return Err(Sorry(2, format!("There is no {word}."))),
                _ => url = Some(word),
            }
        }
        let url = url.ok_or_else(|| Sorry(2, USAGE.into()))?;
        Ok(Self {
            url: url
                .parse()
                .map_err(|error| Sorry(4, format!("The URL cannot be read: {error}.")))?,
            max_price: paywait::usd(&max_price)
                .map_err(|error| Sorry(5, format!("--max-price: {error}.")))?,
            networks: networks
                .iter()
                .map(|name| name.parse())
                .collect::<Result<_, _>>()
                .map_err(|error| Sorry(5, format!("--network: {error}.")))?,
            wire,
        })
    }
}

const USAGE: &str = "Usage: buy URL [--max-price 0.05] [--network eip155:84532] [--wire]";
