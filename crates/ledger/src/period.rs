//! For how long what was spent counts.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::civil::DateTime;
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp as Moment, Unit};
use paywait_signals::Timestamp;

/// For how long what was spent counts against a limit.
///
/// A rolling period begins with what it counts, so that no moment of the clock makes all of it free
/// at once. A calendar period ends for all that it counts at the same moment, in UTC.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Period {
    /// So long after it was spent.
    Rolling(Duration),
    /// Until the end of the hour in which it was spent.
    CalendarHour,
    /// Until the end of the day in which it was spent, in UTC.
    CalendarDay,
    /// Until the end of the month in which it was spent, in UTC.
    CalendarMonth,
    /// For ever.
    Total,
}

impl Period {
    /// Sixty seconds.
    pub const MINUTE: Self = Self::Rolling(Duration::from_secs(60));

    /// Sixty minutes.
    pub const HOUR: Self = Self::Rolling(Duration::from_secs(60 * 60));

    /// Twenty-four hours.
    pub const DAY: Self = Self::Rolling(Duration::from_secs(24 * 60 * 60));

    /// Thirty days.
    pub const MONTH: Self = Self::Rolling(Duration::from_secs(30 * 24 * 60 * 60));

    /// Returns it as a store keeps it: in whole milliseconds, rounded up, and as many as can be counted.
    pub(crate) fn in_millis(self) -> Self {
        let Self::Rolling(span) = self else {
            return self;
        };
        let part = span.subsec_nanos() % 1_000_000 > 0;
        let millis = span.as_millis().saturating_add(u128::from(part));
        Self::Rolling(Duration::from_millis(
            u64::try_from(millis).unwrap_or(u64::MAX),
        ))
    }

    /// Returns when what was spent at `spent` counts no more; [`Timestamp::MAX`] for never.
    ///
    /// ```
    /// use paywait_ledger::Period;
    /// use paywait_signals::Timestamp;
    ///
    /// let newest = |text: &str| {
    ///     let moment: jiff::Timestamp = text.parse().unwrap();
    ///     Timestamp::from_millis(moment.as_millisecond().try_into().unwrap())
    /// };
    /// let spent = newest("2026-12-31T23:59:58Z");
    /// assert_eq!(Period::DAY.ends(spent), newest("2027-01-01T23:59:58Z"));
    /// assert_eq!(Period::CalendarHour.ends(spent), newest("2027-01-01T00:00:00Z"));
    /// assert_eq!(Period::CalendarMonth.ends(spent), newest("2027-01-01T00:00:00Z"));
    /// assert_eq!(Period::Total.ends(spent), Timestamp::MAX);
    /// ```
    pub fn ends(self, spent: Timestamp) -> Timestamp {
        match self {
            Self::Rolling(span) => spent.saturating_add(span),
            Self::CalendarHour => next(spent, Unit::Hour),
            Self::CalendarDay => next(spent, Unit::Day),
            Self::CalendarMonth => next(spent, Unit::Month),
            Self::Total => Timestamp::MAX,
        }
    }
}

/// Returns when the next `unit` of the calendar begins. Where the calendar ends, that is never: a
/// limit errs by counting too long.
fn next(moment: Timestamp, unit: Unit) -> Timestamp {
    let found = utc(moment).and_then(|now| {
        let day = now.date();
        let next = if unit == Unit::Hour {
            let hours = i64::from(now.hour()).saturating_add(1);
            let start = day.at(0, 0, 0, 0);
            start.checked_add(SignedDuration::from_hours(hours)).ok()?
        } else if unit == Unit::Day {
            day.tomorrow().ok()?.at(0, 0, 0, 0)
        } else {
            day.last_of_month().tomorrow().ok()?.at(0, 0, 0, 0)
        };
        let next = Offset::UTC.to_timestamp(next).ok()?;
        u64::try_from(next.as_millisecond()).ok()
    });
    found.map_or(Timestamp::MAX, Timestamp::from_millis)
}

/// Returns a moment by the calendar, as far as that goes.
fn utc(moment: Timestamp) -> Option<DateTime> {
    Some(Offset::UTC.to_datetime(read(moment)?))
}

fn read(moment: Timestamp) -> Option<Moment> {
    Moment::from_millisecond(i64::try_from(moment.as_millis()).ok()?).ok()
}

/// Returns a moment in UTC as RFC 3339 writes it; one that no calendar has as `never`.
pub(crate) fn stamp(moment: Timestamp) -> String {
    read(moment).map_or_else(|| "never".to_owned(), |moment| moment.to_string())
}

impl fmt::Display for Period {
    /// As it follows an amount: `per day`, `in total`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::MINUTE => f.write_str("per minute"),
            Self::HOUR => f.write_str("per hour"),
            Self::DAY => f.write_str("per day"),
            Self::MONTH => f.write_str("per 30 days"),
            Self::Rolling(span) => write!(f, "per {} s", span.as_secs_f64()),
            Self::CalendarHour => f.write_str("per calendar hour"),
            Self::CalendarDay => f.write_str("per calendar day"),
            Self::CalendarMonth => f.write_str("per calendar month"),
            Self::Total => f.write_str("in total"),
        }
    }
}

/// A period as a store keeps it: `rolling:<milliseconds>`, `hour`, `day`, `month`, `total`.
pub(crate) struct Kept(pub(crate) Period);

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Period::Rolling(span) => write!(f, "rolling:{}", span.as_millis()),
            Period::CalendarHour => f.write_str("hour"),
            Period::CalendarDay => f.write_str("day"),
            Period::CalendarMonth => f.write_str("month"),
            Period::Total => f.write_str("total"),
        }
    }
}

impl FromStr for Kept {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        if let Some(millis) = text.strip_prefix("rolling:") {
            let millis = millis.parse().map_err(|_| ())?;
            return Ok(Self(Period::Rolling(Duration::from_millis(millis))));
        }
        match text {
            "hour" => Ok(Self(Period::CalendarHour)),
            "day" => Ok(Self(Period::CalendarDay)),
            "month" => Ok(Self(Period::CalendarMonth)),
            "total" => Ok(Self(Period::Total)),
            _ => Err(()),
        }
    }
}
