//! A buyer that is killed at any moment: buys what it is told on one file, until it is done or dies.
//!
//! Arguments: the file, the seller's URL, how far its clock is ahead in seconds, and the names to
//! buy, from one number up to another. The key of the wallet comes in `BUYER_KEY`.

use std::error::Error;
use std::future::Future;
use std::io::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use alloy_signer_local::PrivateKeySigner;
use paywait::{
    Clock, Limits, Pay, PurchaseName, Retry, SqliteLedger, SystemClock, Timestamp, Wallet, usd,
};
use reqwest_middleware::ClientWithMiddleware;
use tokio::task::JoinSet;

/// The system's clock, set ahead.
#[derive(Debug)]
struct Ahead(Duration);

impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        SystemClock::default().now().saturating_add(self.0)
    }

    fn sleep_until(&self, at: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        let there = at.saturating_sub(self.0);
        Box::pin(async move { SystemClock::default().sleep_until(there).await })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or("an argument is missing");
    let (file, url) = (next()?, next()?);
    let clock = Arc::new(Ahead(Duration::from_secs(next()?.parse()?)));
    let (from, to): (u64, u64) = (next()?.parse()?, next()?.parse()?);
    let signer: PrivateKeySigner = std::env::var("BUYER_KEY")?.parse()?;

    let ledger = Arc::new(SqliteLedger::open(&file)?);
    let limits = Limits::per_call(usd("0.05")?).no_daily_limit();
    let pay = Pay::with_ledger(Wallet::evm(signer), limits, ledger);
    let clock: Arc<dyn Clock> = clock;
    let http = paywait::client_builder().no_proxy().build()?;
    let client = reqwest_middleware::ClientBuilder::new(http)
        .with(Retry::default().with_clock(Arc::clone(&clock)))
        .with(pay.with_clock(clock))
        .build();

    // whoever kills it waits for this, so that it dies at work
    std::io::stdout().write_all(b"!")?;
    std::io::stdout().flush()?;
    let mut calls = JoinSet::new();
    for number in from..to {
        calls.spawn(buy(client.clone(), url.clone(), number));
        if calls.len() >= AT_ONCE {
            calls.join_next().await;
        }
    }
    while calls.join_next().await.is_some() {}
    Ok(())
}

/// Buys one thing, and says nothing: what came of it stands in the ledgers.
async fn buy(client: ClientWithMiddleware, url: String, number: u64) {
    let request = client.get(format!("{url}/report/{}", number % 2));
    let named = request.with_extension(PurchaseName::new(format!("order-{number}")));
    let reply = named.send().await;
    drop(reply);
}

const AT_ONCE: usize = 8;
