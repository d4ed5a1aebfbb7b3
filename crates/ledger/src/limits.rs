//! How much may be spent: a limit per call and one per day, both asked for by name.

use paywait_x402::Usd;

/// How much may be spent.
///
/// Both limits must be said; a day without one takes an explicit word.
///
/// ```
/// use paywait_ledger::Limits;
/// use paywait_x402::usd;
///
/// # fn main() -> Result<(), paywait_x402::MoneyError> {
/// let limits = Limits::per_call(usd("0.05")?).per_day(usd("5")?);
/// assert_eq!(limits.most_per_day(), Some(usd("5")?));
/// # Ok(()) }
/// ```
///
/// ```compile_fail
/// # use paywait_ledger::Limits;
/// # use paywait_x402::usd;
/// let limits: Limits = Limits::per_call(usd("0.05").unwrap()); // no word on the day
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    per_call: Usd,
    per_day: Option<Usd>,
}

/// A limit per call that still needs a word on the day.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use = "say `per_day` or `no_daily_limit`"]
pub struct PerCall(Usd);

impl Limits {
    /// Sets the most that one call may cost.
    pub const fn per_call(most: Usd) -> PerCall {
        PerCall(most)
    }

    /// Returns the most that one call may cost.
    pub const fn most_per_call(&self) -> Usd {
        self.per_call
    }

    /// Returns the most that may be spent within 24 hours, if there is such a limit.
    pub const fn most_per_day(&self) -> Option<Usd> {
        self.per_day
    }
}

impl PerCall {
    /// Sets the most that may be spent within any 24 hours, holds included.
    pub const fn per_day(self, most: Usd) -> Limits {
        Limits {
            per_call: self.0,
            per_day: Some(most),
        }
    }

    /// Says that nothing but the price of each call bounds the spending of a day.
    pub const fn no_daily_limit(self) -> Limits {
        Limits {
            per_call: self.0,
            per_day: None,
        }
    }
}
