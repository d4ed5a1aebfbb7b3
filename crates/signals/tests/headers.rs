//! Replays recorded and composed headers: the wait that they name, and the structured windows.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

use http::{HeaderMap, HeaderName, HeaderValue};
use paywait_signals::{Timestamp, Unit, Window, retry_after, windows};
use serde_json::{Value, json};

const CORPUS: &str = include_str!("corpus/headers-structured.json");

#[test]
fn every_recorded_wait_is_read_as_expected() {
    let wrong = disagreements(|case, headers, now| {
        let expected = case["expect"]["retry_after_ms"].as_u64();
        let hint = retry_after(headers, now);
        let read = hint.map(|hint| u64::try_from(hint.wait.as_millis()).unwrap());
        (read != expected).then(|| format!("expected {expected:?}, read {read:?}"))
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Cases in which another family of headers also reports a quota are left out: only the
/// structured fields are read.
#[test]
fn every_structured_window_is_read_as_expected() {
    let wrong = disagreements(|case, headers, now| {
        let legacy = |name: &str| name.contains("ratelimit") && !STRUCTURED.contains(&name);
        if headers.keys().any(|name| legacy(name.as_str())) || is_older_draft(headers) {
            return None;
        }
        let expected = case["expect"]["windows"].as_array().unwrap();
        let read: Vec<Value> = windows(headers, now).iter().map(told).collect();
        let same = expected.len() == read.len() && expected.iter().all(|one| read.contains(one));
        (!same).then(|| format!("expected {expected:?}, read {read:?}"))
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn disagreements(check: impl Fn(&Value, &HeaderMap, Timestamp) -> Option<String>) -> Vec<String> {
    let corpus: Vec<Value> = serde_json::from_str(CORPUS).unwrap();
    assert!(corpus.len() > 100);
    let check = |case: &Value| {
        let moment: jiff::Timestamp = case["now"].as_str().unwrap().parse().unwrap();
        let now = Timestamp::from_millis(u64::try_from(moment.as_millisecond()).unwrap());
        let wrong = check(case, &headers(case), now)?;
        Some(format!("{}: {wrong}", case["id"]))
    };
    corpus.iter().filter_map(check).collect()
}

fn told(window: &Window) -> Value {
    let other = matches!(window.unit, Unit::Other(_));
    let unit = if other { "other" } else { window.unit.as_str() };
    let mut told = json!({"name": window.name, "unit": unit});
    let mut tell = |key: &str, value: Option<u64>| {
        if let Some(value) = value {
            told[key] = value.into();
        }
    };
    tell("limit", window.limit);
    tell("remaining", window.remaining);
    tell("window_s", window.length.map(|length| length.as_secs()));
    let millis = |reset: std::time::Duration| u64::try_from(reset.as_millis()).unwrap();
    tell("reset_in_ms", window.reset.map(millis));
    told
}

/// Whether a field under a structured name has the shape of an older draft: no item is a name.
fn is_older_draft(headers: &HeaderMap) -> bool {
    STRUCTURED.iter().any(|name| {
        let first = headers.get(*name).map(HeaderValue::as_bytes);
        first.is_some_and(|value| {
            value.first().is_some_and(u8::is_ascii_digit) || value.starts_with(b"limit=")
        })
    })
}

/// Characters up to U+00FF stand for single bytes.
fn headers(case: &Value) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in case["headers"].as_array().unwrap() {
        let name = HeaderName::try_from(line[0].as_str().unwrap()).unwrap();
        let value = line[1].as_str().unwrap();
        let bytes: Vec<u8> = value
            .chars()
            .map(|c| u8::try_from(u32::from(c)).unwrap())
            .collect();
        headers.append(name, HeaderValue::from_bytes(&bytes).unwrap());
    }
    headers
}

const STRUCTURED: [&str; 3] = ["ratelimit", "ratelimit-policy", "ratelimit-partition"];
