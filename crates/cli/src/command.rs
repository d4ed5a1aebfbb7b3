//! The command line.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use paywait_ledger::printable;

use crate::exit::{Failure, Status};
use crate::resolve::Order;
use crate::statement::Wanted;

/// What a ledger of paid calls says, and what a person may say to it.
#[derive(Debug, Parser)]
#[command(name = "paywait", version, max_term_width = 100, after_help = STATUSES)]
pub(crate) struct Cli {
    /// Answer with one JSON document, and tell a failure as one on standard error.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Read a ledger, end purchases by hand, and halt or resume all that pay by it.
    #[command(after_help = STATUSES)]
    Ledger {
        /// A SQLite ledger. One that is missing is an error, never an empty ledger.
        file: PathBuf,
        #[command(subcommand)]
        verb: Verb,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Sum up what was spent, lost, held, presumed spent, refused and released.
    ///
    /// spent: it settled, and what was paid for came. lost: it settled, and what was paid for has not
    /// come. held: it can settle yet. presumed: it expired with neither receipt nor proof, and counts
    /// as spent. refused: the seller refused it, and it is held all the same. released: it did not
    /// settle and cannot.
    Statement(Wanted),
    /// List purchases that may have cost money and are neither delivered nor ended.
    Open,
    /// End a purchase by hand. Its key is never bought again.
    Resolve(Order),
    /// Halt everything: nothing new is signed or shown by anybody who shares the ledger.
    ///
    /// What was shown to a seller before goes on, since it may have cost money already.
    Halt,
    /// Let those who share the ledger pay again.
    Resume,
    /// Say whether the ledger is halted, and what counts against the day.
    ///
    /// The day is the last 24 hours. What counts is settled, held or presumed spent, in dollars;
    /// tokens without a price in dollars are not in it. The exit status is 5 if it is halted.
    Status,
    /// List the payees that are pinned: the one that was paid first at each origin, in each token.
    Pins,
    /// Take a pin away: the next payee of this origin and token is trusted, and pinned.
    Unpin {
        /// Where requests go, like https://seller.example
        // read later: what stands behind the origin of a URL may be secret, and is not repeated
        origin: String,
        /// The token, like eip155:8453/0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913
        asset: String,
    },
}

impl Verb {
    /// Refuses options that do not go together, and that the parser lets through.
    pub(crate) fn check(&self, json: bool) -> Result<(), Failure> {
        match self {
            Self::Statement(wanted) => wanted.check(json),
            Self::Open
            | Self::Resolve(_)
            | Self::Halt
            | Self::Resume
            | Self::Status
            | Self::Pins
            | Self::Unpin { .. } => Ok(()),
        }
    }
}

/// Tells what is wrong with a command line, or the help that it asked for.
pub(crate) fn refuse(error: &clap::Error) -> ExitCode {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) {
        // whoever stopped reading has read enough
        error.print().ok();
        return Status::Done.into();
    }
    let text = error.render().to_string();
    let lines = text.lines().map(printable);
    // what was asked for is not known, but how the answer is wanted is
    if std::env::args_os().any(|word| word == "--json") {
        let lines = lines.map(|line| line.trim().to_owned());
        let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
        let message = lines.join("; ");
        Failure::Usage(message.trim_start_matches("error: ").to_owned()).tell(true);
    } else {
        let text = lines.collect::<Vec<_>>().join("\n");
        writeln!(std::io::stderr(), "{text}").ok();
    }
    Status::Usage.into()
}

const STATUSES: &str = "\
Exit status:
  0  done
  1  failed: the ledger cannot be opened, read or written, or the answer cannot be printed
  2  the command line is wrong
  3  there is no such purchase or pin, or more than one purchase is meant
  4  a call has the purchase in hand: ask again in half a minute
  5  `status` alone: the ledger is halted
  6  not confirmed, and nothing was changed";
