//! Each flow and each behaviour of the handler: what is sent, signed and settled for one call.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

use std::fmt::{self, Write as _};
use std::sync::Arc;

use paywait::{End, Usd, usd};
use support::reference::{Ledger, ReferenceSeller};

use crate::book::Book;
use crate::buyer::{Buyer, ended};

/// What one call came to.
#[derive(Debug)]
struct Row {
    flow: &'static str,
    handler: &'static str,
    path: String,
    status: u16,
    end: End,
    held: Usd,
}

impl Row {
    /// Makes one call, with a buyer of its own.
    async fn buy(
        seller: Arc<ReferenceSeller>,
        flow: &'static str,
        handler: &'static str,
        suffix: &'static str,
    ) -> Self {
        let buyer = Buyer::with_attempts(3);
        let path = format!("/{flow}/{handler}{suffix}");
        let reply = buyer.client.get(seller.url(&path)).send().await.unwrap();
        let (status, end) = ended(&reply);
        Self {
            flow,
            handler,
            path,
            status,
            end,
            held: buyer.held(),
        }
    }

    /// How the call ends and how often money moves: of `authorization` only what was served
    /// settles; of `upfront` everything does, and the reference serves no payment that it has
    /// settled already.
    fn expected(&self) -> (u16, End, usize) {
        match (self.flow, self.handler) {
            (_, "200") | ("authorization", "429-then-200" | "500-then-200") => {
                (200, End::Served, 1)
            }
            ("authorization", "429") => (429, End::OutcomeUnknown, 0),
            ("authorization", _) => (500, End::OutcomeUnknown, 0),
            _ => (402, End::PaidNotDelivered, 1),
        }
    }

    fn check(&self, book: &Book) {
        let (status, end, settlements) = self.expected();
        let path = &self.path;
        assert_eq!((self.status, &self.end), (status, &end), "{path}");
        assert_eq!((book.nonces, book.settlements), (1, settlements), "{path}");
        let identifiers = usize::from(path.ends_with("/identified"));
        assert_eq!(book.identifiers, identifiers, "{path}");
        // settled or not: what can be cashed stays counted
        assert_eq!(self.held, usd("0.01").unwrap(), "{path}");
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:6} {:>5} {}", self.status, self.held, self.end)
    }
}

#[tokio::test]
async fn whatever_the_handler_does_one_call_signs_once_and_settles_at_most_once() {
    let seller = match ReferenceSeller::start().await {
        Ok(seller) => Arc::new(seller),
        Err(left_out) => return left_out.report("each flow and each behaviour of the handler"),
    };
    // all at once, since the seller asks some of them to wait a second
    let mut calls = Vec::new();
    for flow in ["authorization", "upfront"] {
        for handler in ["200", "429", "500", "429-then-200", "500-then-200"] {
            for suffix in ["", "/identified"] {
                let seller = Arc::clone(&seller);
                calls.push(tokio::spawn(Row::buy(seller, flow, handler, suffix)));
            }
        }
    }
    let mut rows = Vec::new();
    for call in calls {
        rows.push(call.await.unwrap());
    }
    let ledger = seller.ledger().await;
    println!("{}", table(&rows, &ledger));
    for row in &rows {
        row.check(&Book::of(&ledger, &row.path));
    }
}

fn table(rows: &[Row], ledger: &Ledger) -> String {
    let mut table =
        "path                                   sends auths settled runs status  held end\n"
            .to_owned();
    for row in rows {
        let book = Book::of(ledger, &row.path);
        writeln!(table, "{:38} {book} {row}", row.path).unwrap();
    }
    table
}
