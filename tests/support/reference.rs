//! The reference x402 seller from npm, as a process of its own on loopback.

mod ledger;
mod left_out;

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

pub use ledger::{Ledger, Request, Settlement};
pub use left_out::LeftOut;

/// A running reference seller: `@x402/express` over a chain in memory.
///
/// Each one has a port and a ledger of its own. Its paid paths are `/{flow}/{behaviour}`, with
/// flow `authorization` or `upfront` and behaviour `200`, `429`, `500`, `429-then-200` or
/// `500-then-200`, and the same with `/identified` behind it, where the offer asks for a payment
/// identifier. Any method will do. `-then-` counts by the request header `X-Test-Id`.
#[derive(Debug)]
pub struct ReferenceSeller {
    url: String,
    client: reqwest::Client,
    // Held for its drop, which ends the process.
    _process: Child,
}

impl ReferenceSeller {
    /// Starts a seller and waits until it listens.
    ///
    /// # Errors
    ///
    /// [`LeftOut`] where `node` or the seller's packages are absent.
    ///
    /// # Panics
    ///
    /// Where the seller is there but does not start, and, with `PAYWAIT_REQUIRE_REFERENCE=1`,
    /// where it would be left out.
    pub async fn start() -> Result<Self, LeftOut> {
        match spawn() {
            Ok(process) => Ok(Self::listening(process).await),
            Err(left_out) if std::env::var_os(REQUIRE).is_some_and(|value| value == "1") => {
                panic!("{REQUIRE}=1, but {left_out}")
            }
            Err(left_out) => Err(left_out),
        }
    }

    async fn listening(mut process: Child) -> Self {
        let stdout = process.stdout.take();
        let mut lines = BufReader::new(stdout.unwrap_or_else(|| unreachable!("stdout is piped")));
        let mut line = String::new();
        let read = timeout(START_WITHIN, lines.read_line(&mut line)).await;
        let ready: Ready = match read {
            Ok(Ok(_)) => serde_json::from_str(&line)
                .unwrap_or_else(|error| panic!("the reference seller said {line:?}: {error}")),
            Ok(Err(error)) => panic!("the reference seller cannot be read: {error}"),
            Err(_) => panic!("the reference seller did not listen within {START_WITHIN:?}"),
        };
        let client = reqwest::Client::builder().no_proxy().build();
        Self {
            url: ready.url,
            client: client.unwrap_or_else(|error| panic!("no HTTP client: {error}")),
            _process: process,
        }
    }

    /// Returns the URL of a path that starts with a slash.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    /// Returns what the seller has seen and settled since it started or was reset.
    ///
    /// # Panics
    ///
    /// Where the seller does not answer, or not with a ledger.
    pub async fn ledger(&self) -> Ledger {
        let reply = self.client.get(self.url("/ledger")).send().await;
        let body = match reply.and_then(reqwest::Response::error_for_status) {
            Ok(reply) => reply.bytes().await,
            Err(error) => Err(error),
        };
        let body = body.unwrap_or_else(|error| panic!("the reference seller's ledger: {error}"));
        serde_json::from_slice(&body)
            .unwrap_or_else(|error| panic!("the reference seller's ledger: {error}"))
    }

    /// Clears the ledger, the counts of `-then-` paths, and the chain: balances and used nonces.
    ///
    /// # Panics
    ///
    /// Where the seller does not answer.
    pub async fn reset(&self) {
        let reply = self.client.post(self.url("/reset")).send().await;
        if let Err(error) = reply.and_then(reqwest::Response::error_for_status) {
            panic!("the reference seller did not reset: {error}");
        }
    }
}

/// The line that the seller prints when it listens.
#[derive(Deserialize)]
struct Ready {
    url: String,
}

fn spawn() -> Result<Child, LeftOut> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("reference-seller");
    if !folder.join("node_modules/@x402/express").is_dir() {
        return Err(LeftOut::without_packages(&folder));
    }
    let child = Command::new("node")
        .arg("server.mjs")
        .current_dir(&folder)
        // The seller ends when this pipe closes, so it cannot outlive a test that was killed.
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn();
    match child {
        Ok(child) => Ok(child),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(LeftOut::without_node()),
        Err(error) => panic!("node does not start: {error}"),
    }
}

const REQUIRE: &str = "PAYWAIT_REQUIRE_REFERENCE";
const START_WITHIN: Duration = Duration::from_secs(60);
