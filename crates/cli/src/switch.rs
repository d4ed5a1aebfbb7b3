//! The switch that halts everything.

use futures_executor::block_on;
use paywait_ledger::{Ledger as _, SqliteLedger};
use serde_json::json;

use crate::answer::Answer;
use crate::exit::{Failure, Status};
use crate::moment;

/// Halts everything, or resumes it.
pub(crate) fn halt(ledger: &SqliteLedger, halted: bool) -> Result<Answer, Failure> {
    block_on(ledger.halt(halted))?;
    Ok(Answer::new(said(halted), json!({ "halted": halted })))
}

/// Says whether it is halted, and what counts against the day.
pub(crate) fn status(ledger: &SqliteLedger) -> Result<Answer, Failure> {
    let halted = block_on(ledger.is_halted())?;
    let used = block_on(ledger.used_today(moment::now()))?;
    let status = match halted {
        true => Status::Halted,
        false => Status::Done,
    };
    Ok(Answer {
        text: format!("{}{used} USD counts against the day\n", said(halted)),
        json: json!({ "halted": halted, "used_today_usd": used.to_string() }),
        status,
    })
}

fn said(halted: bool) -> String {
    let said = match halted {
        true => "halted: nothing new is paid until it is resumed",
        false => "not halted",
    };
    format!("{said}\n")
}
