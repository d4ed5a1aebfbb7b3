//! Buys one resource from an x402 seller and prints it.
//!
//! ```sh
//! BUY_KEY=0x… cargo run --example buy --features rustls -- URL [--max-price 0.05] [--network eip155:84532] [--wire]
//! ```
//!
//! `--network` may be given several times and names what may be paid on; without it only test
//! networks are. `--wire` prints the headers of the paid exchange, decoded. What was bought goes to
//! standard output as it came, everything else to standard error. Exit status: 0 bought or free,
//! 2 a bad command line, 3 a bad key, 4 a bad URL, 5 a bad price or network, 6 refused or not paid,
//! 7 paid and not delivered or outcome unknown.

#![expect(clippy::print_stderr, reason = "this program talks to a person")]

use std::error::Error as StdError;
use std::io::Write as _;
use std::process::ExitCode;

use alloy_signer_local::PrivateKeySigner;
use paywait::{End, Limits, Pace, Pay, Retry, Wallet, report};
use reqwest::Response;
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};

mod order;
mod wire;

use order::Order;

/// What ends the program: its exit status, and a sentence.
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
    let order = Order::read(std::env::args_os().skip(1))?;
    let client = client(&order, wallet()?)?;
    let reply = client.get(order.url).send().await.map_err(unanswered)?;
    let ended = report(&reply);
    if ended.end != End::Served {
        return Err(undelivered(&ended.end, ended));
    }
    deliver(reply).await
}

fn wallet() -> Result<Wallet, Sorry> {
    let sorry = |sentence: &str| Sorry(3, sentence.to_owned());
    let key = std::env::var("BUY_KEY")
        .map_err(|_| sorry("Put the private key of the paying account into BUY_KEY."))?;
    // the parser's own error may quote what it read
    let signer: PrivateKeySigner = key
        .trim()
        .parse()
        .map_err(|_| sorry("BUY_KEY holds no private key, which is 64 hexadecimal digits."))?;
    Ok(Wallet::evm(signer))
}

fn client(order: &Order, wallet: Wallet) -> Result<ClientWithMiddleware, Sorry> {
    let limits = Limits::per_call(order.max_price).per_day(order.max_price);
    let mut pay = Pay::new(wallet, limits);
    if !order.networks.is_empty() {
        pay = pay.networks(order.networks.iter().copied());
    }
    let http = paywait::http_client()
        .map_err(|error| Sorry(6, format!("Not bought: there is no HTTP client: {error}.")))?;
    let client = ClientBuilder::new(http)
        .with(Retry::default())
        .with(pay)
        .with(Pace::default());
    Ok(match order.wire {
        true => client.with(wire::Wire).build(),
        false => client.build(),
    })
}

/// Writes what was bought to standard output as it comes, and the report to standard error.
async fn deliver(mut reply: Response) -> Result<(), Sorry> {
    let ended = report(&reply).clone();
    let broken = |why: String| {
        let (status, opening) = match ended.paid {
            Some(_) => (7, "Paid, and the answer did not come whole"),
            None => (6, "The answer did not come whole"),
        };
        Sorry(status, format!("{opening}: {ended}: {why}."))
    };
    let mut stdout = std::io::stdout();
    while let Some(chunk) = reply.chunk().await.map_err(|error| broken(cause(&error)))? {
        stdout
            .write_all(&chunk)
            .map_err(|error| broken(error.to_string()))?;
    }
    stdout.flush().map_err(|error| broken(error.to_string()))?;
    eprintln!("{ended}");
    Ok(())
}

/// What is said of a call that got no answer.
fn unanswered(error: reqwest_middleware::Error) -> Sorry {
    let Some(ended) = paywait::Error::find(&error) else {
        return Sorry(6, format!("Not bought: {}.", error.without_url()));
    };
    match ended.transport() {
        Some(transport) => {
            let why = format!("{}: {}", ended.report(), cause(transport));
            undelivered(ended.end(), why)
        }
        None => undelivered(ended.end(), ended.report()),
    }
}

/// What is said of a call that ended without what it asked for.
fn undelivered(end: &End, how: impl std::fmt::Display) -> Sorry {
    if *end == End::PaidNotDelivered {
        Sorry(7, format!("Paid and not delivered: {how}."))
    } else if *end == End::OutcomeUnknown {
        Sorry(7, format!("Perhaps paid and not delivered: {how}."))
    } else {
        Sorry(6, format!("Not bought: {how}."))
    }
}

/// What lies at the bottom of a transport error: what stands above it may tell the URL.
fn cause(error: &reqwest::Error) -> String {
    let below = std::iter::successors(error.source(), |&error| error.source());
    below
        .last()
        .map_or_else(|| "the connection failed".to_owned(), ToString::to_string)
}
