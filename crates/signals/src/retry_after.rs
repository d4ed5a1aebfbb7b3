//! The wait that a server names in its headers.

use std::borrow::Cow;
use std::time::Duration;

use http::HeaderMap;

use crate::{Signal, Timestamp, moment};

/// A wait that a server named. A floor: never come sooner.
#[non_exhaustive]
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Hint {
    /// How long from now, rounded up to a millisecond, at most 365 days.
    pub wait: Duration,
    /// What named it.
    pub signal: Signal,
}

impl Hint {
    pub(crate) const fn header(name: &'static str, wait: Duration) -> Self {
        Self {
            wait,
            signal: Signal::Header(Cow::Borrowed(name)),
        }
    }
}

/// Returns the wait that the headers name, on any status; whether to act on it is policy.
///
/// Reads `Retry-After` (RFC 9110, section 10.2.3) and its relatives in milliseconds. Beyond the
/// grammar it takes what cannot be misread: fractions, durations such as `6m0s`, RFC 3339 dates
/// and epochs near now. Dates are compared with the server's own `Date`. Of several values the
/// longest counts; a value in seconds that is the rounded one in milliseconds yields to it.
///
/// ```
/// use std::time::Duration;
/// use http::{HeaderMap, HeaderValue};
/// use paywait_signals::{Timestamp, retry_after};
///
/// let mut headers = HeaderMap::new();
/// headers.insert("retry-after", HeaderValue::from_static("20"));
/// let hint = retry_after(&headers, Timestamp::from_secs(0)).expect("a wait");
/// assert_eq!(hint.wait, Duration::from_secs(20));
/// assert_eq!(hint.signal.to_string(), "retry-after");
/// ```
pub fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Hint> {
    let now = moment::server_now(headers, now);
    let fine = MILLISECONDS
        .iter()
        .filter_map(|name| longest(headers, name, milliseconds))
        .max_by_key(|hint| hint.wait);
    let coarse = longest(headers, SECONDS, |value| seconds(value, now));
    match (fine, coarse) {
        (Some(fine), Some(coarse)) => Some(finer_or_longer(fine, coarse)),
        (Some(hint), None) | (None, Some(hint)) => Some(hint),
        (None, None) => FALLBACKS
            .iter()
            .find_map(|name| longest(headers, name, |value| seconds(value, now))),
    }
}

/// Returns the longest wait over all lines of one field; lines that do not parse say nothing.
fn longest(
    headers: &HeaderMap,
    name: &'static str,
    read: impl Fn(&str) -> Option<Duration>,
) -> Option<Hint> {
    headers
        .get_all(name)
        .iter()
        .filter_map(|line| read(line.to_str().ok()?))
        .max()
        .map(|wait| Hint::header(name, wait))
}

/// Both name one instant if the coarse one is the fine one rounded up to a second.
fn finer_or_longer(fine: Hint, coarse: Hint) -> Hint {
    let rounding = coarse.wait.checked_sub(fine.wait);
    if rounding.is_some_and(|rest| rest >= Duration::from_secs(1)) {
        return coarse;
    }
    fine
}

fn milliseconds(value: &str) -> Option<Duration> {
    moment::milliseconds(value).or_else(|| moment::timespan(value))
}

/// Reads one line of `Retry-After`: a value, or several delays that a proxy joined with ", ".
fn seconds(value: &str, now: Timestamp) -> Option<Duration> {
    let joined = value.contains(", ") && value.split(", ").all(moment::is_digits);
    if joined {
        return value
            .split(", ")
            .filter_map(|one| one_delay(one, now))
            .max();
    }
    one_delay(value, now)
}

fn one_delay(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim_matches([' ', '\t']);
    // the grammar allows any number of digits: what is no epoch is a delay beyond the cap
    let huge = || moment::is_digits(value).then_some(moment::LONGEST);
    moment::wait(value, now).or_else(huge)
}

/// The relatives of `Retry-After` that count milliseconds.
const MILLISECONDS: [&str; 3] = ["retry-after-ms", "x-ms-retry-after-ms", "x-amz-retry-after"];

const SECONDS: &str = "retry-after";

/// Read only where none of the others holds a value.
const FALLBACKS: [&str; 2] = ["x-retry-after", "x-ratelimit-retry-after"];

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderName, HeaderValue};

    fn told(lines: &[(&'static str, &'static str)]) -> Option<(u128, String)> {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            );
        }
        retry_after(&headers, Timestamp::from_secs(1_796_040_000))
            .map(|hint| (hint.wait.as_millis(), hint.signal.to_string()))
    }

    #[test]
    fn of_two_spellings_of_one_instant_the_finer_counts() {
        let lines = [("retry-after", "1"), ("retry-after-ms", "644")];
        assert_eq!(told(&lines), Some((644, "retry-after-ms".to_owned())));
    }

    #[test]
    fn of_two_instants_the_later_counts() {
        let lines = [("retry-after", "2"), ("retry-after-ms", "1000")];
        assert_eq!(told(&lines), Some((2_000, "retry-after".to_owned())));
        let lines = [("retry-after", "2"), ("x-amz-retry-after", "5000")];
        assert_eq!(told(&lines), Some((5_000, "x-amz-retry-after".to_owned())));
    }

    #[test]
    fn joined_delays_are_a_list_and_a_thousand_separator_is_not() {
        assert_eq!(
            told(&[("retry-after", "120, 30")]).map(|hint| hint.0),
            Some(120_000)
        );
        assert_eq!(told(&[("retry-after", "1,000")]), None);
    }

    #[test]
    fn the_nonstandard_names_count_only_where_the_standard_one_says_nothing() {
        let lines = [("retry-after", "4"), ("x-retry-after", "90")];
        assert_eq!(told(&lines).map(|hint| hint.0), Some(4_000));
        let lines = [("retry-after", "soon"), ("x-retry-after", "90")];
        assert_eq!(told(&lines).map(|hint| hint.0), Some(90_000));
    }

    #[test]
    fn a_date_is_compared_with_the_clock_of_the_server() {
        let lines = [
            ("date", "Mon, 30 Nov 2026 10:00:00 GMT"),
            ("retry-after", "Mon, 30 Nov 2026 10:00:05 GMT"),
        ];
        assert_eq!(told(&lines).map(|hint| hint.0), Some(5_000));
    }

    #[test]
    fn a_huge_delay_is_capped_and_never_wraps() {
        let lines = [("retry-after", "18446744073709551616")];
        assert_eq!(told(&lines).map(|hint| hint.0), Some(31_536_000_000));
    }
}
