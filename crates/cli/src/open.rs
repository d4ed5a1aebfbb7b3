//! The purchases that wait for an answer.

use futures_executor::block_on;
use paywait_ledger::{Ledger as _, SqliteLedger, Table};
use serde_json::json;

use crate::answer::Answer;
use crate::exit::Failure;
use crate::{moment, purchase};

/// Lists the purchases that may have cost money and are neither delivered nor ended.
pub(crate) fn open(ledger: &SqliteLedger) -> Result<Answer, Failure> {
    let now = moment::now();
    let mut open = block_on(ledger.open_purchases())?;
    open.sort_by_key(|record| (record.begun, record.key));
    let mut table = Table::new(purchase::COLUMNS).numbers([purchase::AMOUNT]);
    for record in &open {
        table.push(purchase::row(record, now));
    }
    let text = match open.is_empty() {
        true => "no purchase is open\n".to_owned(),
        false => table.to_string(),
    };
    let purchases = open.iter().map(|record| purchase::to_json(record, now));
    Ok(Answer::new(
        text,
        json!({ "open": purchases.collect::<Vec<_>>() }),
    ))
}
