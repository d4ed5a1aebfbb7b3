//! The payees that are pinned.

use futures_executor::block_on;
use paywait_ledger::{Ledger as _, Origin, SqliteLedger, Table};
use paywait_x402::Asset;
use serde_json::json;

use crate::answer::Answer;
use crate::exit::Failure;

/// Lists the pins.
pub(crate) fn pins(ledger: &SqliteLedger) -> Result<Answer, Failure> {
    let pins = block_on(ledger.pins())?;
    let mut table = Table::new(["origin", "asset", "payee"]);
    let mut all = Vec::new();
    for pin in &pins {
        let row = [
            pin.origin.to_string(),
            pin.asset.to_string(),
            pin.payee.to_string(),
        ];
        all.push(json!({ "origin": row[0], "asset": row[1], "payee": row[2] }));
        table.push(row);
    }
    let text = match pins.is_empty() {
        true => "no payee is pinned\n".to_owned(),
        false => table.to_string(),
    };
    Ok(Answer::new(text, json!({ "pins": all })))
}

/// Takes a pin away.
pub(crate) fn unpin(ledger: &SqliteLedger, origin: &str, asset: &str) -> Result<Answer, Failure> {
    let usage = |error: &dyn std::fmt::Display| Failure::Usage(error.to_string());
    let origin: Origin = origin.parse().map_err(|error| usage(&error))?;
    let asset: Asset = asset.parse().map_err(|error| usage(&error))?;
    let payee = block_on(ledger.unpin(origin.clone(), asset))?;
    let none = || Failure::NotFound(format!("no payee is pinned at {origin} for {asset}"));
    let payee = payee.ok_or_else(none)?;
    let pin = json!({
        "origin": origin.as_str(), "asset": asset.to_string(), "payee": payee.to_string(),
    });
    Ok(Answer::new(
        format!("{payee} is pinned no more at {origin} for {asset}\n"),
        json!({ "unpinned": pin }),
    ))
}
