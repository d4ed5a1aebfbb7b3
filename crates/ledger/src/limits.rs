//! How much may be spent: a limit per call and one per day, both asked for by name, and more.

use paywait_x402::{Amount, Asset, Usd};

use crate::{Limit, Period};

/// How much may be spent.
///
/// Both limits must be said; a day without one takes an explicit word. More can be added, and all of
/// them hold: a price must fit under each.
///
/// ```
/// use paywait_ledger::{Limit, Limits, Period};
/// use paywait_x402::usd;
///
/// # fn main() -> Result<(), paywait_x402::MoneyError> {
/// let limits = Limits::per_call(usd("0.05")?)
///     .per_day(usd("5")?)
///     .and(Limit::dollars(usd("1")?, Period::DAY).on_each_origin())
///     .and(Limit::purchases(60, Period::MINUTE));
/// assert_eq!(limits.most_per_day(), Some(usd("5")?));
/// # Ok(()) }
/// ```
///
/// ```compile_fail
/// # use paywait_ledger::Limits;
/// # use paywait_x402::usd;
/// let limits: Limits = Limits::per_call(usd("0.05").unwrap()); // no word on the day
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Limits {
    per_call: Usd,
    per_day: Option<Usd>,
    assets: Vec<(Asset, Amount)>,
    more: Vec<Limit>,
    open_share: u8,
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

    /// Adds a limit.
    #[must_use]
    pub fn and(mut self, limit: Limit) -> Self {
        self.more.push(limit);
        self
    }

    /// Has a token that is no dollar token paid with, at most `per_call` atomic units of it a call and
    /// `per_day` within any 24 hours. Dollar limits do not count it.
    #[must_use]
    pub fn and_units(self, asset: Asset, per_call: Amount, per_day: Amount) -> Self {
        let mut limits = self.and(Limit::units(asset, per_day, Period::DAY));
        limits.assets.push((asset, per_call));
        limits
    }

    /// Sets how much of each limit on the wallet's money may be open at one origin at a time, in
    /// percent: held, or presumed to be spent. A quarter by default, so that a seller who refuses what
    /// was signed cannot use up what others are paid from; 100 for no such bound. Where nothing is open
    /// at an origin, one hold of any size is let in, so that 0 is one at a time.
    #[must_use]
    pub fn open_share(mut self, percent: u8) -> Self {
        self.open_share = percent.min(100);
        self
    }

    /// Returns the most that one call may cost.
    pub const fn most_per_call(&self) -> Usd {
        self.per_call
    }

    /// Returns the most that may be spent within 24 hours, if there is such a limit.
    pub const fn most_per_day(&self) -> Option<Usd> {
        self.per_day
    }

    /// Returns the tokens that are counted in their own units, and the most of each that one call may
    /// cost.
    pub fn assets(&self) -> &[(Asset, Amount)] {
        &self.assets
    }

    /// Returns whether one of them is meant to hold for longer than a program may run: a day, a month,
    /// or in total.
    pub fn outlive_a_restart(&self) -> bool {
        let is_long = |limit: &Limit| match limit.period() {
            Period::Rolling(span) => Period::Rolling(span) >= Period::DAY,
            Period::CalendarDay | Period::CalendarMonth | Period::Total => true,
            Period::CalendarHour => false,
        };
        self.on_ledger().iter().any(is_long)
    }

    /// Returns the limits that stand on a ledger, the bounds of what may be open among them.
    pub fn on_ledger(&self) -> Vec<Limit> {
        let per_day = self.per_day.map(|most| Limit::dollars(most, Period::DAY));
        let said: Vec<_> = per_day.into_iter().chain(self.more.clone()).collect();
        let shares = said.iter().filter_map(|limit| limit.share(self.open_share));
        let bounded = self.open_share < 100;
        let shares: Vec<_> = shares.filter(|_| bounded).collect();
        said.into_iter().chain(shares).collect()
    }
}

impl PerCall {
    /// Sets the most that may be spent within any 24 hours, holds included.
    pub const fn per_day(self, most: Usd) -> Limits {
        self.limits(Some(most))
    }

    /// Says that nothing but the price of each call bounds the spending of a day.
    pub const fn no_daily_limit(self) -> Limits {
        self.limits(None)
    }

    const fn limits(self, per_day: Option<Usd>) -> Limits {
        Limits {
            per_call: self.0,
            per_day,
            assets: Vec::new(),
            more: Vec::new(),
            open_share: OPEN_SHARE,
        }
    }
}

/// How much of a limit may be open at one origin, in percent.
const OPEN_SHARE: u8 = 25;
