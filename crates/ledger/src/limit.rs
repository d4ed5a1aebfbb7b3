//! One limit: how much, for how long, and for whom.

use std::fmt;

use paywait_x402::alloy_primitives::{Address, U256};
use paywait_x402::{Amount, Asset, Usd};

use crate::meter::{Meter, Of, Unit};
use crate::{Label, Origin, Period, Quantity};

/// One limit: how much may be spent or held, for how long it counts, and for whom.
///
/// A limit of zero blocks all that it reaches.
///
/// ```
/// use paywait_ledger::{Limit, Period};
/// use paywait_x402::usd;
///
/// # fn main() -> Result<(), paywait_x402::MoneyError> {
/// let limit = Limit::dollars(usd("1")?, Period::HOUR).on_each_origin();
/// assert_eq!(limit.to_string(), "1 USD per hour at each origin");
/// let velocity = Limit::purchases(30, Period::MINUTE);
/// assert_eq!(velocity.to_string(), "30 purchases per minute");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Limit {
    most: Quantity,
    period: Period,
    reach: Reach,
}

/// For whom a limit is.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Reach {
    /// All that the ledger records.
    Wallet,
    /// Each origin by itself.
    EachOrigin,
    /// One origin.
    Origin(Origin),
    /// Each payee by itself.
    EachPayee,
    /// One payee.
    Payee(Address),
    /// Each label of a kind by itself.
    EachLabel(String),
    /// One label.
    Label(Label),
    /// At each origin by itself, what is held or presumed to be spent, without what a receipt or proof
    /// says settled. Where nothing of it stands at an origin, one hold of any size is let in.
    OpenAtEachOrigin,
}

impl Limit {
    /// Returns a limit on what is spent or held in dollars, over all dollar tokens. Of a rolling period
    /// whole milliseconds count, rounded up.
    pub fn dollars(most: Usd, period: Period) -> Self {
        Self::new(Quantity::Usd(most), period)
    }

    /// Returns a limit on what is spent or held of one token, in its atomic units.
    pub fn units(asset: Asset, most: Amount, period: Period) -> Self {
        Self::new(Quantity::Units(asset, most), period)
    }

    /// Returns a limit on how many purchases are begun.
    pub fn purchases(most: u64, period: Period) -> Self {
        Self::new(Quantity::Purchases(most), period)
    }

    fn new(most: Quantity, period: Period) -> Self {
        Self {
            most,
            period: period.in_millis(),
            reach: Reach::Wallet,
        }
    }

    /// Has it hold for each origin by itself.
    #[must_use]
    pub fn on_each_origin(self) -> Self {
        self.reaching(Reach::EachOrigin)
    }

    /// Has it hold for one origin.
    #[must_use]
    pub fn on_origin(self, origin: Origin) -> Self {
        self.reaching(Reach::Origin(origin))
    }

    /// Has it hold for each payee by itself.
    #[must_use]
    pub fn on_each_payee(self) -> Self {
        self.reaching(Reach::EachPayee)
    }

    /// Has it hold for one payee.
    #[must_use]
    pub fn on_payee(self, payee: Address) -> Self {
        self.reaching(Reach::Payee(payee))
    }

    /// Has it hold for each label of `kind` by itself. A call without one is not reached.
    #[must_use]
    pub fn on_each_label(self, kind: impl Into<String>) -> Self {
        self.reaching(Reach::EachLabel(kind.into()))
    }

    /// Has it hold for one label.
    #[must_use]
    pub fn on_label(self, label: Label) -> Self {
        self.reaching(Reach::Label(label))
    }

    /// Has it hold for what is open at each origin by itself.
    #[must_use]
    pub fn on_open_at_each_origin(self) -> Self {
        self.reaching(Reach::OpenAtEachOrigin)
    }

    fn reaching(self, reach: Reach) -> Self {
        Self { reach, ..self }
    }

    /// Returns the most that it allows.
    pub const fn most(&self) -> Quantity {
        self.most
    }

    /// Returns for how long what is spent counts.
    pub const fn period(&self) -> Period {
        self.period
    }

    /// Returns for whom it is.
    pub const fn reach(&self) -> &Reach {
        &self.reach
    }

    /// Returns the bound of what may be open at one origin: `percent` of a limit on the wallet's
    /// money, and nothing for another.
    pub(crate) fn share(&self, percent: u8) -> Option<Self> {
        // never nothing of something: that would block all
        let of = |all: U256| {
            let [percent, hundred] = [percent, 100].map(U256::from);
            let part = match all.checked_mul(percent) {
                Some(parts) => parts.div_ceil(hundred),
                None => all.div_ceil(hundred).saturating_mul(percent),
            };
            part.max(U256::from(1)).min(all)
        };
        let most = match self.most {
            Quantity::Usd(most) => Quantity::Usd(Usd::from_attos(of(most.attos()))),
            Quantity::Units(asset, most) => Quantity::Units(asset, Amount::new(of(most.as_u256()))),
            Quantity::Purchases(_) => return None,
        };
        let share = Self::new(most, self.period).on_open_at_each_origin();
        (self.reach == Reach::Wallet).then_some(share)
    }

    /// Returns what is counted for it.
    pub(crate) fn meter(&self) -> Meter {
        let unit = match self.most {
            Quantity::Usd(_) => Unit::Usd,
            Quantity::Units(asset, _) => Unit::Asset(asset),
            Quantity::Purchases(_) => Unit::Purchases,
        };
        let of = match &self.reach {
            Reach::Wallet => Of::Wallet,
            Reach::EachOrigin | Reach::Origin(_) => Of::Origin,
            Reach::EachPayee | Reach::Payee(_) => Of::Payee,
            Reach::EachLabel(kind) => Of::Label(kind.clone()),
            Reach::Label(label) => Of::Label(label.kind().to_owned()),
            Reach::OpenAtEachOrigin => Of::OpenAtOrigin,
        };
        Meter::new(unit, self.period, of)
    }

    /// Returns whether it is for `subject` of its meter.
    pub(crate) fn reaches(&self, subject: &str) -> bool {
        match &self.reach {
            Reach::Origin(origin) => origin.as_str() == subject,
            Reach::Payee(payee) => payee.to_string() == subject,
            Reach::Label(label) => label.name() == subject,
            Reach::Wallet
            | Reach::EachOrigin
            | Reach::EachPayee
            | Reach::EachLabel(_)
            | Reach::OpenAtEachOrigin => true,
        }
    }

    /// Returns whether `asked` fits beside what `used` counts.
    pub(crate) fn has_room(&self, used: U256, asked: U256) -> bool {
        if self.most.is_zero() {
            return false;
        }
        if self.reach == Reach::OpenAtEachOrigin && used.is_zero() {
            return true;
        }
        let most = match self.most {
            Quantity::Usd(most) => most.attos(),
            Quantity::Units(_, most) => most.as_u256(),
            Quantity::Purchases(most) => U256::from(most),
        };
        used.checked_add(asked).is_some_and(|sum| sum <= most)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.most, self.period)?;
        match &self.reach {
            Reach::Wallet => Ok(()),
            Reach::EachOrigin => f.write_str(" at each origin"),
            Reach::Origin(origin) => write!(f, " at {origin}"),
            Reach::EachPayee => f.write_str(" for each payee"),
            Reach::Payee(payee) => write!(f, " for payee {payee}"),
            Reach::EachLabel(kind) => write!(f, " for each {kind}"),
            Reach::Label(label) => write!(f, " for {label}"),
            Reach::OpenAtEachOrigin => f.write_str(" open at each origin"),
        }
    }
}
