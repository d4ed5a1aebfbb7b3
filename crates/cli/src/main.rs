//! The `paywait` command: what a ledger says, and what a person may say to it.
//!
//! ```text
//! paywait ledger FILE statement [--by WHAT] [--since WHEN] [--until WHEN] [--lines] [--csv]
//! paywait ledger FILE open
//! paywait ledger FILE resolve PURCHASE finished|presumed|given-up|settled|unused [--yes]
//! paywait ledger FILE halt | resume | status
//! paywait ledger FILE pins
//! paywait ledger FILE unpin ORIGIN ASSET
//! ```
//!
//! `FILE` is a `SqliteLedger`. Agents may have it open meanwhile: `statement` and `pins` never make one
//! of them wait, the other verbs for no longer than a write takes. A file that is missing is an error,
//! and never an empty ledger. `paywait help ledger VERB` says the rest of each verb.
//!
//! # What is printed
//!
//! The answer goes to standard output, a failure to standard error in one line. Moments are in UTC, as
//! RFC 3339 writes them. No signed payment is printed, no URL beyond its origin, and no character
//! that a terminal would take for a command: some of the texts are a seller's.
//!
//! With `--json` the answer is one JSON document, and so is a failure. Amounts are texts, since they
//! are exact. Fields may be added; those that are here stay:
//!
//! | verb | fields |
//! |---|---|
//! | `statement` | `by`; `totals`: `of`, `purchases`, `unit`, and an amount each for `spent`, `lost`, `held`, `presumed`, `refused`, `released`; `lines`: `at`, `begun`, `outcome`, `origin`, `payee`, `labels`, `asset`, `amount`, `usd`, `transaction`, `payment_id`, `key` |
//! | `open` | `open`: purchases |
//! | `resolve` | `resolved`: the resolution, `purchase`: as it is now |
//! | `halt`, `resume` | `halted` |
//! | `status` | `halted`, `used_today_usd` |
//! | `pins` | `pins`: `origin`, `asset`, `payee` |
//! | `unpin` | `unpinned`: `origin`, `asset`, `payee` |
//! | a failure | `error`: `status`, `reason`, `message`; where several purchases are meant `found`, how many, and `candidates`, the first of them: `payment_id`, `key`, `at`, `outcome`, `origin` |
//!
//! A purchase has `payment_id`, `key`, `named`, `in_hand`, `money`, `delivered`, `resolution`,
//! `origin`, `payer`, `payee`, `labels`, `asset`, `amount`, `usd`, `nonce`, `transaction`,
//! `signatures`, `shown`, `begun`, `written` and `valid_before`. The `unit` of a total is `usd` or a
//! token, and `reason` is `store`, `output`, `usage`, `not-found`, `ambiguous`, `in-hand` or
//! `unconfirmed`.
//!
//! # Exit statuses
//!
//! | status | meaning |
//! |---|---|
//! | 0 | done |
//! | 1 | failed: the ledger cannot be opened, read or written, or the answer cannot be printed |
//! | 2 | the command line is wrong |
//! | 3 | there is no such purchase or pin, or more than one purchase is meant |
//! | 4 | a call has the purchase in hand: ask again in half a minute |
//! | 5 | `status` alone: the ledger is halted |
//! | 6 | not confirmed, and nothing was changed |

mod answer;
mod command;
mod exit;
mod find;
mod moment;
mod open;
mod pins;
mod purchase;
mod resolve;
mod statement;
mod switch;

use std::path::Path;
use std::process::ExitCode;

use clap::Parser as _;
use paywait_ledger::SqliteLedger;

use answer::Answer;
use command::{Cli, Command, Verb};
use exit::Failure;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return command::refuse(&error),
    };
    let printed = run(&cli).and_then(|answer| answer.print(cli.json));
    match printed {
        Ok(status) => status.into(),
        Err(failure) => {
            failure.tell(cli.json);
            failure.status().into()
        }
    }
}

fn run(cli: &Cli) -> Result<Answer, Failure> {
    let Command::Ledger { file, verb } = &cli.command;
    verb.check(cli.json)?;
    let ledger = open(file)?;
    match verb {
        Verb::Statement(wanted) => statement::statement(&ledger, wanted),
        Verb::Open => open::open(&ledger),
        Verb::Resolve(order) => resolve::resolve(&ledger, order, cli.json),
        Verb::Halt => switch::halt(&ledger, true),
        Verb::Resume => switch::halt(&ledger, false),
        Verb::Status => switch::status(&ledger),
        Verb::Pins => pins::pins(&ledger),
        Verb::Unpin { origin, asset } => pins::unpin(&ledger, origin, asset),
    }
}

fn open(file: &Path) -> Result<SqliteLedger, Failure> {
    SqliteLedger::open(file).map_err(|error| Failure::Open {
        file: file.to_owned(),
        error,
    })
}
