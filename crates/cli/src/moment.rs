//! Moments: now, and those on the command line.

use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::civil::Date;
use jiff::tz::Offset;
use paywait_signals::Timestamp;

/// Returns what time it is.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let millis = since.unwrap_or_default().as_millis();
    Timestamp::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
}

/// A moment on the command line: as RFC 3339 writes it, or a date for its first moment in UTC.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Moment(pub(crate) Timestamp);

impl FromStr for Moment {
    type Err = NoMoment;

    fn from_str(text: &str) -> Result<Self, NoMoment> {
        // a date's parser overlooks a time of day behind it
        let moment = match text.len() == "2026-12-31".len() {
            true => text.parse().and_then(|day: Date| {
                let midnight = day.at(0, 0, 0, 0);
                Offset::UTC.to_timestamp(midnight)
            }),
            false => text.parse::<jiff::Timestamp>(),
        };
        let millis = moment.map_err(|_| NoMoment)?.as_millisecond();
        let millis = u64::try_from(millis).map_err(|_| NoMoment)?;
        Ok(Self(Timestamp::from_millis(millis)))
    }
}

/// A text is no moment since 1970.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a moment is written like 2026-12-31 or 2026-12-31T23:59:59Z, and is not before 1970")]
pub(crate) struct NoMoment;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_strictly() {
        for (text, read) in [
            ("2026-12-31", Some("2026-12-31T00:00:00Z")),
            ("2026-12-31T23:59:59Z", Some("2026-12-31T23:59:59Z")),
            (
                "2026-12-31T23:59:59.5+02:00",
                Some("2026-12-31T21:59:59.5Z"),
            ),
            ("2026-12-31T23:59:59", None),
            ("2026-02-30", None),
            ("1969-12-31", None),
            ("20261231", None),
            ("today", None),
            ("", None),
        ] {
            let moment = text.parse::<Moment>().ok();
            let moment = moment.map(|Moment(moment)| moment.to_string());
            assert_eq!(moment.as_deref(), read, "{text}");
        }
    }
}
