//! The ways in which a header spells a time: a delay, a date, an epoch, a duration.

use std::time::{Duration, UNIX_EPOCH};

use http::HeaderMap;

use crate::Timestamp;

/// The longest wait that is reported: 365 days. A longer one becomes this one.
pub(crate) const LONGEST: Duration = Duration::from_secs(31_536_000);

/// How far in the past a date may lie to mean "now".
const STALE: Duration = Duration::from_secs(86_400);

const SECOND: u128 = 1_000_000_000;
const MILLISECOND: u128 = 1_000_000;

/// Returns the moment to which the dates in `headers` relate: the server's own `Date` where it
/// parses, so that the skew of the local clock cancels out, else `now`.
pub(crate) fn server_now(headers: &HeaderMap, now: Timestamp) -> Timestamp {
    headers
        .get(http::header::DATE)
        .and_then(|value| value.to_str().ok())
        .and_then(http_date)
        .unwrap_or(now)
}

/// Returns the wait that `value` spells, seen from `now`, which is the server's.
///
/// A number is a delay in seconds of at most 365 days, or an epoch near now; a number that is
/// neither is unknown, as is everything that could be read in two ways.
pub(crate) fn wait(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim_matches([' ', '\t']);
    if let Some(number) = Number::read(value) {
        return number.as_delay().or_else(|| number.as_epoch(now));
    }
    let moment = http_date(value).or_else(|| rfc_3339(value));
    match moment {
        Some(moment) => from_date(moment, now),
        None => duration(value),
    }
}

/// Returns the delay of a number of milliseconds, rounded up and capped.
pub(crate) fn milliseconds(value: &str) -> Option<Duration> {
    let number = Number::read(value.trim_matches([' ', '\t']))?;
    Some(capped(number.scaled(MILLISECOND)))
}

/// Returns the delay of `hh:mm:ss[.f]`.
pub(crate) fn timespan(value: &str) -> Option<Duration> {
    let mut parts = value.trim_matches([' ', '\t']).split(':');
    let hours = parts.next().and_then(whole_number)?;
    let minutes = parts.next().and_then(whole_number)?;
    let seconds = Number::read(parts.next()?)?;
    if parts.next().is_some() || minutes > 59 {
        return None;
    }
    let nanos = hours
        .saturating_mul(60)
        .saturating_add(minutes)
        .saturating_mul(60 * SECOND)
        .saturating_add(seconds.scaled(SECOND));
    Some(capped(nanos))
}

/// Returns whether `value` is digits and nothing else.
pub(crate) fn is_digits(value: &str) -> bool {
    !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number as it is spelled: digits, and perhaps a fraction.
#[derive(Clone, Copy)]
struct Number<'a> {
    whole: &'a str,
    fraction: &'a str,
}

impl<'a> Number<'a> {
    /// Reads `digits` or `digits.digits`: no sign, no exponent, no separators.
    fn read(value: &'a str) -> Option<Self> {
        let (whole, fraction) = match value.split_once('.') {
            Some((whole, fraction)) if is_digits(fraction) => (whole, fraction),
            Some(_) => return None,
            None => (value, ""),
        };
        is_digits(whole).then_some(Self { whole, fraction })
    }

    fn as_delay(self) -> Option<Duration> {
        let nanos = self.scaled(SECOND);
        (nanos <= LONGEST.as_nanos()).then(|| capped(nanos))
    }

    /// Reads an epoch whose unit its number of digits gives, if it is near `now`.
    fn as_epoch(self, now: Timestamp) -> Option<Duration> {
        let unit = match (self.whole.len(), self.fraction.is_empty()) {
            (10, _) => SECOND,
            (13, true) => MILLISECOND,
            (16, true) => 1_000,
            (19, true) => 1,
            _ => return None,
        };
        let millis = self.scaled(unit).div_ceil(MILLISECOND);
        let moment = Timestamp::from_millis(u64::try_from(millis).ok()?);
        if now.until(moment) > LONGEST {
            return None;
        }
        from_date(moment, now)
    }

    /// Returns the number times `unit`, in the unit's own parts, rounded up.
    fn scaled(self, unit: u128) -> u128 {
        let whole = self.whole.parse::<u128>().unwrap_or(u128::MAX);
        let kept = self.fraction.get(..18).unwrap_or(self.fraction);
        let places = u32::try_from(kept.len()).unwrap_or(18);
        let part = kept.parse::<u128>().unwrap_or(0).saturating_mul(unit);
        let part = part.div_ceil(10_u128.saturating_pow(places));
        whole.saturating_mul(unit).saturating_add(part)
    }
}

/// Returns how long it is until `moment`: nothing if it has just passed, unknown if long ago.
fn from_date(moment: Timestamp, now: Timestamp) -> Option<Duration> {
    if moment.until(now) > STALE {
        return None;
    }
    Some(now.until(moment).min(LONGEST))
}

/// Reads one of the three forms of an HTTP-date (RFC 9110, section 5.6.7).
fn http_date(value: &str) -> Option<Timestamp> {
    let moment = httpdate::parse_http_date(value).ok()?;
    let since = moment.duration_since(UNIX_EPOCH).ok()?;
    Some(Timestamp::default().saturating_add(since))
}

/// Reads a date and time with its zone (RFC 3339), and no looser form of ISO 8601.
fn rfc_3339(value: &str) -> Option<Timestamp> {
    let bytes = value.as_bytes();
    let shaped = value.is_ascii()
        && value.len() <= 40
        && bytes.get(4) == Some(&b'-')
        && bytes.get(7) == Some(&b'-')
        && matches!(bytes.get(10), Some(b'T' | b't'))
        && bytes.get(13) == Some(&b':')
        && bytes.get(16) == Some(&b':')
        && !value.contains(['[', ',']);
    if !shaped {
        return None;
    }
    let moment: jiff::Timestamp = value.parse().ok()?;
    let nanos = u128::try_from(moment.as_nanosecond()).ok()?;
    let millis = u64::try_from(nanos.div_ceil(MILLISECOND)).ok()?;
    Some(Timestamp::from_millis(millis))
}

/// Reads one or more numbers with a unit, such as `6m0s` or `20ms`, and sums them.
fn duration(value: &str) -> Option<Duration> {
    let mut rest = value;
    let mut nanos = 0_u128;
    while !rest.is_empty() {
        let end = rest.find(|byte: char| !byte.is_ascii_digit() && byte != '.')?;
        let number = Number::read(rest.get(..end)?)?;
        rest = rest.get(end..)?;
        let end = rest
            .find(|byte: char| !byte.is_ascii_lowercase())
            .unwrap_or(rest.len());
        let unit = unit(rest.get(..end)?)?;
        rest = rest.get(end..)?;
        nanos = nanos.saturating_add(number.scaled(unit));
    }
    (!value.is_empty()).then(|| capped(nanos))
}

fn unit(name: &str) -> Option<u128> {
    Some(match name {
        "d" => 86_400 * SECOND,
        "h" => 3_600 * SECOND,
        "m" => 60 * SECOND,
        "s" => SECOND,
        "ms" => MILLISECOND,
        "us" => 1_000,
        "ns" => 1,
        _ => return None,
    })
}

fn whole_number(value: &str) -> Option<u128> {
    is_digits(value).then(|| value.parse().unwrap_or(u128::MAX))
}

/// Rounds up to a millisecond, so that no wait gets shorter, and caps at the longest.
fn capped(nanos: u128) -> Duration {
    let millis = u64::try_from(nanos.div_ceil(MILLISECOND)).unwrap_or(u64::MAX);
    Duration::from_millis(millis).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(1_796_040_000);

    fn millis(value: &str) -> Option<u128> {
        wait(value, NOW).map(|wait| wait.as_millis())
    }

    #[test]
    fn a_fraction_is_rounded_up_to_a_millisecond() {
        assert_eq!(millis("0.0001"), Some(1));
        assert_eq!(millis("1.5"), Some(1_500));
        assert_eq!(millis("0.00000000000000000000000001"), Some(0));
    }

    #[test]
    fn ten_and_thirteen_digits_near_now_are_an_epoch() {
        assert_eq!(millis("1796040030"), Some(30_000));
        assert_eq!(millis("1796040030000"), Some(30_000));
        assert_eq!(millis("1796040030.25"), Some(30_250));
    }

    #[test]
    fn a_number_that_is_neither_a_delay_nor_an_epoch_is_unknown() {
        for value in ["31536001", "999999999", "12345678901", "1000000000"] {
            assert_eq!(millis(value), None, "{value}");
        }
    }

    #[test]
    fn a_duration_is_the_sum_of_its_parts() {
        assert_eq!(millis("16m17.764s"), Some(977_764));
        assert_eq!(millis("1d2h"), Some(93_600_000));
        assert_eq!(millis("20ms"), Some(20));
        assert_eq!(millis("1us"), Some(1));
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_unknown() {
        for value in [
            "",
            "-5",
            "+5",
            "1e3",
            "0x10",
            "1_000",
            "NaN",
            "inf",
            "soon",
            "60abc",
            "5 s",
            "5S",
            ".5",
            "5.",
            "1.2.3",
            "٣",
            "\"30\"",
            "00:00:05",
            "2026-11-30",
            "20261130T120000Z",
        ] {
            assert_eq!(millis(value), None, "{value}");
        }
    }

    #[test]
    fn a_date_that_has_just_passed_is_now_and_an_old_one_is_unknown() {
        assert_eq!(millis("Mon, 30 Nov 2026 11:59:00 GMT"), Some(0));
        assert_eq!(millis("Sat, 28 Nov 2026 11:59:00 GMT"), None);
    }

    #[test]
    fn a_day_that_no_month_has_is_unknown() {
        assert_eq!(millis("Tue, 31 Feb 2026 00:00:00 GMT"), None);
        assert_eq!(millis("Tue, 31 Nov 2026 12:00:00 GMT"), None);
    }

    #[test]
    fn a_timespan_counts_hours_minutes_and_seconds() {
        assert_eq!(timespan("00:00:00.033"), Some(Duration::from_millis(33)));
        assert_eq!(timespan("01:02:03"), Some(Duration::from_secs(3_723)));
        assert_eq!(timespan("00:60:00"), None);
        assert_eq!(timespan("1:2"), None);
    }
}
