//! What was spent, held, presumed, refused and lost.

use std::str::FromStr;

use clap::Args;
use futures_executor::block_on;
use paywait_ledger::{By, Ledger as _, Line, Quantity, SqliteLedger, Statement, Table};
use paywait_signals::Timestamp;

use crate::answer::Answer;
use crate::exit::Failure;
use crate::moment::{self, Moment};

/// Which statement is wanted.
#[derive(Args, Debug)]
pub(crate) struct Wanted {
    /// For each of what it sums: origin, payee, asset, hour, day, month, or label:KIND.
    ///
    /// A purchase with several labels of a kind is in the sum of each. Hours, days and months are of
    /// the calendar, in UTC.
    #[arg(long, value_name = "WHAT", default_value = "origin")]
    by: Sums,
    /// Leave out what was spent before this moment, or began before it if it is not known to be spent.
    ///
    /// As RFC 3339 writes it, or a date: 2026-12-31 is 2026-12-31T00:00:00Z.
    #[arg(long, value_name = "WHEN")]
    since: Option<Moment>,
    /// Leave out what was spent, or began, at this moment or later.
    #[arg(long, value_name = "WHEN")]
    until: Option<Moment>,
    /// List the purchases before the sums, the newest last.
    #[arg(long)]
    lines: bool,
    /// Print the purchases as CSV (RFC 4180), without sums.
    ///
    /// A text that a spreadsheet would take for a formula has a `'` before it.
    #[arg(long, conflicts_with_all = ["by", "json"])]
    csv: bool,
}

/// What a statement sums for, as it is said.
#[derive(Clone, Debug)]
struct Sums {
    word: String,
    by: By,
}

impl FromStr for Sums {
    type Err = NoSums;

    fn from_str(word: &str) -> Result<Self, NoSums> {
        let by = match word {
            "origin" => By::Origin,
            "payee" => By::Payee,
            "asset" => By::Asset,
            "hour" => By::Hour,
            "day" => By::Day,
            "month" => By::Month,
            _ => match word.split_once(':') {
                Some(("label", kind)) if !kind.is_empty() => By::Label(kind.to_owned()),
                _ => return Err(NoSums),
            },
        };
        let word = word.to_owned();
        Ok(Self { word, by })
    }
}

/// A word does not say what is summed for.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("sums are by origin, payee, asset, hour, day, month, or label:KIND")]
struct NoSums;

impl Wanted {
    /// Refuses what would look like a statement of nothing, or be two things at once.
    pub(crate) fn check(&self, json: bool) -> Result<(), Failure> {
        let usage = |why: &str| Err(Failure::Usage(why.to_owned()));
        let [since, until] = self.span();
        if since >= until {
            return usage("--until is not after --since");
        }
        // where one stands before the verb, the parser lets both through
        if self.csv && json {
            return usage("--csv and --json cannot be used together");
        }
        Ok(())
    }

    fn span(&self) -> [Timestamp; 2] {
        let since = self.since.map(|Moment(since)| since);
        let until = self.until.map(|Moment(until)| until);
        [
            since.unwrap_or(Timestamp::from_secs(0)),
            until.unwrap_or(Timestamp::MAX),
        ]
    }
}

/// Sums up what became of purchases.
pub(crate) fn statement(ledger: &SqliteLedger, wanted: &Wanted) -> Result<Answer, Failure> {
    let [since, until] = wanted.span();
    let lines = block_on(ledger.lines(since, until, moment::now()))?;
    let statement = Statement::new(lines, wanted.by.by.clone());
    let text = match (wanted.csv, wanted.lines) {
        (true, _) => statement.to_csv(),
        (false, true) => format!("{}\n{statement}", listed(statement.lines())),
        (false, false) => statement.to_string(),
    };
    let mut json = statement.to_json();
    if let Some(fields) = json.as_object_mut() {
        // as it is said: a label may be of a kind that is called `origin`
        fields.insert("by".to_owned(), wanted.by.word.clone().into());
    }
    Ok(Answer::new(text, json))
}

fn listed(lines: &[Line]) -> Table<5> {
    let head = ["at", "outcome", "amount", "origin", "transaction"];
    let mut table = Table::new(head).numbers([2]);
    for line in lines {
        table.push([
            line.at.to_string(),
            line.outcome.name().to_owned(),
            Quantity::Units(line.asset, line.amount).to_string(),
            line.origin.to_string(),
            line.transaction.clone().unwrap_or_default(),
        ]);
    }
    table
}
