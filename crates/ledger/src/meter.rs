//! What is summed for limits.

use std::fmt;
use std::str::FromStr;

use paywait_x402::alloy_primitives::U256;
use paywait_x402::{Amount, Asset, Usd};

use crate::period::Kept as KeptPeriod;
use crate::term::Term;
use crate::{Period, Quantity, Record};

/// What is summed for limits: which quantity, over which period, and of whom. Limits that differ in
/// their amount share one.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct Meter {
    unit: Unit,
    period: Period,
    of: Of,
}

/// What is counted.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum Unit {
    Usd,
    Asset(Asset),
    Purchases,
}

/// Of whom.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum Of {
    Wallet,
    Origin,
    Payee,
    Label(String),
    /// Per origin, what has not settled.
    OpenAtOrigin,
}

impl Meter {
    pub(crate) const fn new(unit: Unit, period: Period, of: Of) -> Self {
        Self { unit, period, of }
    }

    /// What every ledger sums, whatever its limits: the dollars of a day.
    pub(crate) const fn daily_dollars() -> Self {
        Self::new(Unit::Usd, Period::DAY, Of::Wallet)
    }

    /// Returns for how long a record counts on it.
    pub(crate) const fn term(&self) -> Term {
        match self.unit {
            Unit::Usd | Unit::Asset(_) => Term::Spent(self.period),
            Unit::Purchases => Term::Begun(self.period),
        }
    }

    /// Returns whether it counts purchases, not money.
    pub(crate) const fn counts_purchases(&self) -> bool {
        matches!(self.unit, Unit::Purchases)
    }

    /// Returns whether it counts what a record is of.
    pub(crate) fn counts(&self, record: &Record) -> bool {
        match self.unit {
            Unit::Usd => record.stake.price.is_some(),
            Unit::Asset(asset) => asset == record.stake.asset,
            Unit::Purchases => true,
        }
    }

    /// Returns what a record weighs on it.
    pub(crate) fn weight(&self, record: &Record) -> U256 {
        if self.of == Of::OpenAtOrigin && !record.is_at_risk() {
            return U256::ZERO;
        }
        let stake = &record.stake;
        match self.unit {
            Unit::Usd => stake.price.map_or(U256::ZERO, Usd::attos),
            Unit::Asset(asset) if asset == stake.asset => stake.amount.as_u256(),
            Unit::Asset(_) => U256::ZERO,
            Unit::Purchases => U256::from(1),
        }
    }

    /// Returns for whom a record counts on it.
    pub(crate) fn subjects(&self, record: &Record) -> Vec<String> {
        match &self.of {
            Of::Wallet => vec![String::new()],
            Of::Origin | Of::OpenAtOrigin => vec![record.origin.to_string()],
            Of::Payee => vec![record.stake.pay_to.to_string()],
            Of::Label(kind) => {
                let of_kind = record.labels.iter().filter(|label| label.kind() == kind);
                of_kind.map(|label| label.name().to_owned()).collect()
            }
        }
    }

    /// Returns what `sum` of it is.
    pub(crate) fn quantity(&self, sum: U256) -> Quantity {
        match self.unit {
            Unit::Usd => Quantity::Usd(Usd::from_attos(sum)),
            Unit::Asset(asset) => Quantity::Units(asset, Amount::new(sum)),
            Unit::Purchases => Quantity::Purchases(sum.saturating_to()),
        }
    }
}

impl fmt::Display for Meter {
    /// As a store keeps it: unit, period, and of whom.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit {
            Unit::Usd => f.write_str("usd")?,
            Unit::Asset(asset) => write!(f, "{asset}")?,
            Unit::Purchases => f.write_str("purchases")?,
        }
        write!(f, " {} ", KeptPeriod(self.period))?;
        match &self.of {
            Of::Wallet => f.write_str("wallet"),
            Of::Origin => f.write_str("origin"),
            Of::Payee => f.write_str("payee"),
            Of::OpenAtOrigin => f.write_str("open"),
            Of::Label(kind) => write!(f, "label {kind}"),
        }
    }
}

impl FromStr for Meter {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (unit, rest) = text.split_once(' ').ok_or(())?;
        let (period, of) = rest.split_once(' ').ok_or(())?;
        let KeptPeriod(period) = period.parse()?;
        Ok(Self::new(unit_of(unit)?, period, whose(of)?))
    }
}

fn unit_of(text: &str) -> Result<Unit, ()> {
    match text {
        "usd" => Ok(Unit::Usd),
        "purchases" => Ok(Unit::Purchases),
        _ => text.parse().map(Unit::Asset).map_err(|_| ()),
    }
}

fn whose(text: &str) -> Result<Of, ()> {
    match text {
        "wallet" => Ok(Of::Wallet),
        "origin" => Ok(Of::Origin),
        "payee" => Ok(Of::Payee),
        "open" => Ok(Of::OpenAtOrigin),
        _ => text
            .strip_prefix("label ")
            .map(|kind| Of::Label(kind.to_owned()))
            .ok_or(()),
    }
}
