//! One purchase, as it is shown.

use paywait_ledger::{Quantity, Record};
use paywait_signals::Timestamp;
use serde_json::{Value, json};

use crate::resolve::Word;

/// The heads of a purchase's row.
pub(crate) const COLUMNS: [&str; 6] = ["begun", "money", "amount", "origin", "expires", "purchase"];

/// The column of the amount.
pub(crate) const AMOUNT: usize = 2;

/// Returns its row in a table.
pub(crate) fn row(record: &Record, now: Timestamp) -> [String; 6] {
    let money = match record.is_in_hand(now) {
        true => format!("{}, in hand", record.money),
        false => record.money.to_string(),
    };
    [
        record.begun.to_string(),
        money,
        amount(record),
        record.origin.to_string(),
        expires(record).to_string(),
        record.stake.payment_id.to_string(),
    ]
}

/// Returns what it can cost, for a person.
pub(crate) fn amount(record: &Record) -> String {
    Quantity::Units(record.stake.asset, record.stake.amount).to_string()
}

/// Returns until when what was signed for it can be cashed.
pub(crate) const fn expires(record: &Record) -> Timestamp {
    Timestamp::from_secs(record.stake.valid_before)
}

/// Returns it for a program.
pub(crate) fn to_json(record: &Record, now: Timestamp) -> Value {
    let stake = &record.stake;
    let labels: Vec<_> = record.labels.iter().map(ToString::to_string).collect();
    json!({
        "payment_id": stake.payment_id.as_str(),
        "key": record.key.to_string(),
        "named": record.named,
        "in_hand": record.is_in_hand(now),
        "money": record.money.to_string(),
        "delivered": record.delivered,
        "resolution": record.resolution.and_then(Word::of).map(Word::name),
        "origin": record.origin.as_str(),
        "payer": stake.payer.to_string(),
        "payee": stake.pay_to.to_string(),
        "labels": labels,
        "asset": stake.asset.to_string(),
        "amount": stake.amount.to_string(),
        "usd": stake.price.map(|usd| usd.to_string()),
        "nonce": stake.nonce.to_string(),
        "transaction": record.transaction,
        "signatures": record.signatures(),
        "shown": record.shown,
        "begun": record.begun.to_string(),
        "written": record.written.to_string(),
        "valid_before": expires(record).to_string(),
    })
}
