//! What became of one purchase, for a statement.

use std::collections::BTreeSet;

use paywait_signals::Timestamp;
use paywait_x402::alloy_primitives::Address;
use paywait_x402::{Amount, Asset, Money, PaymentId, PurchaseKey, Usd};

use crate::period::stamp;
use crate::shelf::Shelf;
use crate::table::printable;
use crate::{Label, LedgerError, Origin, Record, Resolution};

/// What became of one purchase, as far as is known when it is asked.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Line {
    /// The purchase.
    pub key: PurchaseKey,
    /// The identifier that the seller knows it by.
    pub payment_id: PaymentId,
    /// When it began.
    pub begun: Timestamp,
    /// When it was spent, by its receipt or by proof; else when it began. It is listed under this.
    pub at: Timestamp,
    /// What became of it.
    pub outcome: Outcome,
    /// Where the request went.
    pub origin: Origin,
    /// Who is paid.
    pub payee: Address,
    /// What the call was tagged with.
    pub labels: BTreeSet<Label>,
    /// The token.
    pub asset: Asset,
    /// The largest amount that was signed, in atomic units.
    pub amount: Amount,
    /// The same in dollars, for a dollar token.
    pub usd: Option<Usd>,
    /// The transaction that the receipt names.
    pub transaction: Option<String>,
}

/// What became of a purchase.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Outcome {
    /// It settled, and what was paid for came.
    Spent,
    /// It settled, and what was paid for has not come. While it is open it may come yet.
    Lost,
    /// It can settle, or be signed yet.
    Held,
    /// It expired with neither receipt nor proof, and is counted as spent.
    Presumed,
    /// The seller refused it. It is held until it expires, and presumed to be spent then, all the same:
    /// a refusal is no proof.
    Refused,
    /// It did not settle and cannot: nothing was signed, or proof says so, or it was to be let go.
    Released,
}

impl Outcome {
    /// All of them, in the order of a statement's columns.
    pub const ALL: [Self; 6] = [
        Self::Spent,
        Self::Lost,
        Self::Held,
        Self::Presumed,
        Self::Refused,
        Self::Released,
    ];

    /// Returns its name in one word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spent => "spent",
            Self::Lost => "lost",
            Self::Held => "held",
            Self::Presumed => "presumed",
            Self::Refused => "refused",
            Self::Released => "released",
        }
    }

    fn of(record: &Record, now: Timestamp) -> Self {
        let finished = record.delivered || record.resolution == Some(Resolution::Finished);
        if record.is_settled() {
            return match finished {
                true => Self::Spent,
                false => Self::Lost,
            };
        }
        let tenure = record.tenure();
        if record.resolution == Some(Resolution::Unused) {
            Self::Released
        } else if record.money == Money::Refused && record.resolution.is_none() {
            Self::Refused
        } else if now < tenure.moment() {
            Self::Held
        } else if tenure.is_spent() {
            Self::Presumed
        } else {
            Self::Released
        }
    }
}

impl Line {
    pub(crate) fn of(record: &Record, now: Timestamp) -> Self {
        let stake = &record.stake;
        Self {
            key: record.key,
            payment_id: stake.payment_id.clone(),
            begun: record.begun,
            at: record.listed_at(),
            outcome: Outcome::of(record, now),
            origin: record.origin.clone(),
            payee: stake.pay_to,
            labels: record.labels.clone(),
            asset: stake.asset,
            amount: stake.amount,
            usd: stake.price,
            transaction: record.transaction.clone(),
        }
    }

    /// The heads of its cells in CSV.
    pub(crate) const COLUMNS: [&'static str; 12] = [
        "at",
        "begun",
        "outcome",
        "origin",
        "payee",
        "labels",
        "asset",
        "amount",
        "usd",
        "transaction",
        "payment_id",
        "key",
    ];

    /// Returns its cells in CSV.
    pub(crate) fn cells(&self) -> [String; 12] {
        let labels: Vec<_> = self.labels.iter().map(ToString::to_string).collect();
        [
            stamp(self.at),
            stamp(self.begun),
            self.outcome.name().to_owned(),
            self.origin.to_string(),
            self.payee.to_string(),
            no_formula(&labels.join(";")),
            self.asset.to_string(),
            self.amount.to_string(),
            self.usd.map(|usd| usd.to_string()).unwrap_or_default(),
            no_formula(self.transaction.as_deref().unwrap_or_default()),
            self.payment_id.as_str().to_owned(),
            self.key.to_string(),
        ]
    }

    pub(crate) fn to_json(&self) -> serde_json::Value {
        let labels: Vec<_> = self.labels.iter().map(ToString::to_string).collect();
        serde_json::json!({
            "at": stamp(self.at),
            "begun": stamp(self.begun),
            "outcome": self.outcome.name(),
            "origin": self.origin.as_str(),
            "payee": self.payee.to_string(),
            "labels": labels,
            "asset": self.asset.to_string(),
            "amount": self.amount.to_string(),
            "usd": self.usd.map(|usd| usd.to_string()),
            "transaction": self.transaction,
            "payment_id": self.payment_id.as_str(),
            "key": self.key.to_string(),
        })
    }
}

/// Returns the lines of what is listed since `since` and before `until`, the oldest first.
pub(crate) fn lines(
    shelf: &mut impl Shelf,
    [since, until]: [Timestamp; 2],
    now: Timestamp,
) -> Result<Vec<Line>, LedgerError> {
    let mut lines = Vec::new();
    shelf.each(&mut |record| {
        if (since..until).contains(&record.listed_at()) {
            lines.push(Line::of(&record, now));
        }
    })?;
    lines.sort_by_key(|line| (line.at, line.key));
    Ok(lines)
}

/// Writes `text` so that no spreadsheet takes it for a formula, and no terminal for a command.
fn no_formula(text: &str) -> String {
    let shown = printable(text);
    match shown.starts_with(['=', '+', '-', '@']) {
        true => format!("'{shown}"),
        false => shown,
    }
}
