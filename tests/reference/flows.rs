//! Each flow and each behaviour of the handler: what is sent, signed and settled for one call.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking, and the table is for a reader"
)]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use paywait::{End, Limits, Pace, Pay, PurchaseName, Retry, Wallet, report, usd};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use support::reference::{Ledger, ReferenceSeller};

/// What the reference does with one call, as its ledger says it.
#[derive(Debug)]
struct Row {
    path: String,
    sends: usize,
    authorizations: usize,
    settlements: usize,
    runs: u64,
    status: u16,
    end: End,
}

/// How one call ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Ends {
    Served,
    PaidNotDelivered,
    Unknown,
}

const FLOWS: [&str; 2] = ["authorization", "upfront"];

const HANDLERS: [&str; 5] = ["200", "429", "500", "429-then-200", "500-then-200"];

/// How the call ends and how often money moves: of `authorization` only what was served settles; of
/// `upfront` everything does, and the reference serves no payment that it has settled already.
fn expected(flow: &str, handler: &str) -> (Ends, usize) {
    match (flow, handler) {
        (_, "200") | ("authorization", "429-then-200" | "500-then-200") => (Ends::Served, 1),
        ("authorization", _) => (Ends::Unknown, 0),
        _ => (Ends::PaidNotDelivered, 1),
    }
}

fn client() -> ClientWithMiddleware {
    let wallet = Wallet::evm(alloy_signer_local::PrivateKeySigner::random());
    let limits = Limits::per_call(usd("0.05").unwrap()).per_day(usd("5").unwrap());
    ClientBuilder::new(paywait::client_builder().no_proxy().build().unwrap())
        .with(
            Retry::default()
                .attempts(3.try_into().unwrap())
                .jitter(Duration::from_millis(50))
                .backoff(Duration::from_millis(20), Duration::from_millis(50)),
        )
        .with(Pay::new(wallet, limits))
        .with(Pace::default())
        .build()
}

fn authorizations(ledger: &Ledger) -> usize {
    let nonces: BTreeSet<_> = ledger
        .requests
        .iter()
        .filter_map(|request| request.nonce.clone())
        .collect();
    nonces.len()
}

async fn buy(seller: &ReferenceSeller, path: &str) -> Row {
    let reply = client().get(seller.url(path)).send().await.unwrap();
    let ledger = seller.ledger().await;
    Row {
        path: path.to_owned(),
        sends: ledger.requests.len(),
        authorizations: authorizations(&ledger),
        settlements: ledger.settlements.len(),
        runs: ledger.runs(path),
        status: reply.status().as_u16(),
        end: report(&reply).end.clone(),
    }
}

fn check(row: &Row, (ends, settlements): (Ends, usize)) {
    let ends_as = [
        (End::Served, Ends::Served),
        (End::PaidNotDelivered, Ends::PaidNotDelivered),
        (End::OutcomeUnknown, Ends::Unknown),
    ];
    let end = ends_as.into_iter().find(|(end, _)| *end == row.end);
    let (_, end) = end.unwrap_or_else(|| panic!("{row:?}"));
    assert_eq!(
        (end, row.settlements, row.authorizations),
        (ends, settlements, 1),
        "{row:?}"
    );
}

#[tokio::test]
async fn whatever_the_handler_does_one_call_signs_once_and_settles_at_most_once() {
    let seller = match ReferenceSeller::start().await {
        Ok(seller) => seller,
        Err(left_out) => return left_out.report("each flow and each behaviour of the handler"),
    };
    let mut table =
        "path                                   sends auths settled runs status end\n".to_owned();
    for flow in FLOWS {
        for handler in HANDLERS {
            for identified in ["", "/identified"] {
                seller.reset().await;
                let row = buy(&seller, &format!("/{flow}/{handler}{identified}")).await;
                let Row {
                    path,
                    sends,
                    authorizations,
                    settlements,
                    runs,
                    status,
                    end,
                } = &row;
                writeln!(
                    table,
                    "{path:38} {sends:5} {authorizations:5} {settlements:7} {runs:4} {status:6} {end}"
                )
                .unwrap();
                check(&row, expected(flow, handler));
            }
        }
    }
    println!("{table}");
}

#[tokio::test]
async fn a_named_purchase_that_comes_again_shows_the_same_authorization() {
    let seller = match ReferenceSeller::start().await {
        Ok(seller) => seller,
        Err(left_out) => return left_out.report("a named purchase that comes again"),
    };
    for (path, settlements) in [("/authorization/200", 1), ("/upfront/200", 1)] {
        seller.reset().await;
        let client = client();
        let call = || {
            client
                .get(seller.url(path))
                .with_extension(PurchaseName::new("once"))
        };
        let first = call().send().await.unwrap();
        assert_eq!(first.status(), 200);
        let again = call().send().await.unwrap();
        // paid before: nothing is signed, and the reference does not serve it twice
        assert_eq!(
            (again.status().as_u16(), &report(&again).end),
            (402, &End::PaidNotDelivered)
        );
        let ledger = seller.ledger().await;
        assert_eq!(
            (authorizations(&ledger), ledger.settlements.len()),
            (1, settlements),
            "{path}"
        );
        assert_eq!(ledger.runs(path), 1);
    }
}
