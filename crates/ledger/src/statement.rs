//! What was spent, held, presumed, refused and lost, and for whom.

use std::collections::BTreeMap;
use std::fmt;

use paywait_x402::alloy_primitives::U256;
use paywait_x402::{Amount, Asset, Usd};

use crate::period::stamp;
use crate::{Line, Outcome, Quantity, Table};

/// What became of purchases, summed for each of something.
///
/// It prints as a table for a person. All moments are in UTC.
///
/// ```
/// use paywait_ledger::{By, Ledger, MemoryLedger, Statement};
/// use paywait_signals::Timestamp;
///
/// # futures_executor::block_on(async {
/// let ledger = MemoryLedger::new();
/// let now = Timestamp::from_secs(1_800_000_000);
/// let lines = ledger.lines(Timestamp::from_secs(0), now, now).await?;
/// let statement = Statement::new(lines, By::Origin);
/// assert!(statement.to_string().starts_with("origin"));
/// assert_eq!(statement.to_csv().lines().count(), 1); // the head
/// # Ok::<(), paywait_ledger::LedgerError>(()) }).unwrap();
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Statement {
    by: By,
    totals: Vec<Total>,
    lines: Vec<Line>,
}

/// For each of what a statement sums.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum By {
    /// Each origin.
    Origin,
    /// Each payee.
    Payee,
    /// Each label of a kind. What has several of them is in the sum of each.
    Label(String),
    /// Each token.
    Asset,
    /// Each hour of the calendar.
    Hour,
    /// Each day of the calendar.
    Day,
    /// Each month of the calendar.
    Month,
}

/// What became of the purchases of one group, in dollars or in one token that has no price in dollars.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Total {
    /// Of which origin, payee, label, token or period; empty for what has no such label.
    pub of: String,
    /// How many purchases.
    pub purchases: u64,
    /// How much, by what became of it. A sum that is too large to count is the largest that can be.
    pub amounts: BTreeMap<Outcome, Quantity>,
    unit: Unit,
}

/// What is summed by itself: dollars, or one token.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Unit {
    Usd,
    Asset(Asset),
}

impl Statement {
    /// Sums `lines` up.
    pub fn new(lines: Vec<Line>, by: By) -> Self {
        let mut sums: BTreeMap<(String, Unit), (u64, BTreeMap<Outcome, U256>)> = BTreeMap::new();
        for line in &lines {
            let (unit, amount) = by.measure(line);
            for of in by.groups(line) {
                let (purchases, amounts) = sums.entry((of, unit)).or_default();
                *purchases = purchases.saturating_add(1);
                let sum = amounts.entry(line.outcome).or_default();
                *sum = sum.saturating_add(amount);
            }
        }
        let totals = sums
            .into_iter()
            .map(|((of, unit), (purchases, amounts))| Total {
                of,
                purchases,
                amounts: amounts
                    .into_iter()
                    .map(|(outcome, sum)| (outcome, unit.quantity(sum)))
                    .collect(),
                unit,
            });
        Self {
            totals: totals.collect(),
            by,
            lines,
        }
    }

    /// Returns the sums, in the order of what they are of.
    pub fn totals(&self) -> &[Total] {
        &self.totals
    }

    /// Returns the purchases, in the order in which they were given.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Returns it as JSON: `by`, `totals` and `lines`. Amounts are texts, since they are exact.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "by": self.by.to_string(),
            "totals": self.totals.iter().map(Total::to_json).collect::<Vec<_>>(),
            "lines": self.lines.iter().map(Line::to_json).collect::<Vec<_>>(),
        })
    }

    /// Returns its purchases as CSV (RFC 4180), with a head.
    ///
    /// A text that a spreadsheet would take for a formula has a `'` before it: some are a seller's.
    pub fn to_csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let head = writer.write_record(Line::COLUMNS);
        let mut rows = self
            .lines
            .iter()
            .map(|line| writer.write_record(line.cells()));
        let written = head.and_then(|()| rows.try_for_each(|row| row));
        // memory does not fail, and what is written is text
        let bytes = written.ok().and_then(|()| writer.into_inner().ok());
        String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default()
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [spent, lost, held, presumed, refused, released] = Outcome::ALL.map(Outcome::name);
        let by = self.by.to_string();
        let head = [
            &by,
            "purchases",
            spent,
            lost,
            held,
            presumed,
            refused,
            released,
        ];
        let mut table = Table::new(head).numbers(1..head.len());
        for total in &self.totals {
            table.push(total.row());
        }
        fmt::Display::fmt(&table, f)
    }
}

impl By {
    fn groups(&self, line: &Line) -> Vec<String> {
        let of_clock = |width| vec![stamp(line.at).chars().take(width).collect()];
        match self {
            Self::Origin => vec![line.origin.to_string()],
            Self::Payee => vec![line.payee.to_string()],
            Self::Asset => vec![line.asset.to_string()],
            Self::Hour => of_clock("2026-12-31T23".len()),
            Self::Day => of_clock("2026-12-31".len()),
            Self::Month => of_clock("2026-12".len()),
            Self::Label(kind) => {
                let of_kind = line.labels.iter().filter(|label| label.kind() == kind);
                let names: Vec<_> = of_kind.map(|label| label.name().to_owned()).collect();
                match names.is_empty() {
                    true => vec![String::new()],
                    false => names,
                }
            }
        }
    }

    /// In what a purchase is summed, and how much of it. A token is summed in its own units.
    fn measure(&self, line: &Line) -> (Unit, U256) {
        match line.usd {
            Some(usd) if *self != Self::Asset => (Unit::Usd, usd.attos()),
            _ => (Unit::Asset(line.asset), line.amount.as_u256()),
        }
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Origin => "origin",
            Self::Payee => "payee",
            Self::Label(kind) => kind,
            Self::Asset => "asset",
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Month => "month",
        })
    }
}

impl Unit {
    const fn quantity(self, sum: U256) -> Quantity {
        match self {
            Self::Usd => Quantity::Usd(Usd::from_attos(sum)),
            Self::Asset(asset) => Quantity::Units(asset, Amount::new(sum)),
        }
    }
}

impl Total {
    /// Returns how much became so.
    pub fn amount(&self, outcome: Outcome) -> Quantity {
        let nothing = self.unit.quantity(U256::ZERO);
        self.amounts.get(&outcome).copied().unwrap_or(nothing)
    }

    fn row(&self) -> [String; 8] {
        let of = match self.of.is_empty() {
            true => "-".to_owned(),
            false => self.of.clone(),
        };
        let [spent, lost, held, presumed, refused, released] =
            Outcome::ALL.map(|outcome| self.amount(outcome).to_string());
        let purchases = self.purchases.to_string();
        [
            of, purchases, spent, lost, held, presumed, refused, released,
        ]
    }

    fn to_json(&self) -> serde_json::Value {
        let unit = match self.unit {
            Unit::Usd => "usd".to_owned(),
            Unit::Asset(asset) => asset.to_string(),
        };
        let mut json = serde_json::json!({
            "of": self.of, "purchases": self.purchases, "unit": unit,
        });
        for outcome in Outcome::ALL {
            let amount = match self.amount(outcome) {
                Quantity::Usd(usd) => usd.to_string(),
                Quantity::Units(_, amount) => amount.to_string(),
                Quantity::Purchases(number) => number.to_string(),
            };
            if let Some(fields) = json.as_object_mut() {
                fields.insert(outcome.name().to_owned(), amount.into());
            }
        }
        json
    }
}
