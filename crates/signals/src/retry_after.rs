//! The wait that a server names in its headers.

use std::borrow::Cow;
use std::time::Duration;

use http::HeaderMap;

use crate::{Signal, Timestamp};

/// A wait that a server named. A floor: never come sooner.
#[non_exhaustive]
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Hint {
    /// How long from now.
    pub wait: Duration,
    /// What named it.
    pub signal: Signal,
}

/// Returns the wait that the headers name, if they name one.
pub fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Hint> {
    let value = headers.get("retry-after")?.to_str().ok()?.trim();
    let wait = match value.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => now.until(http_date(value)?),
    };
    Some(Hint {
        wait,
        signal: Signal::Header(Cow::Borrowed("retry-after")),
    })
}

fn http_date(value: &str) -> Option<Timestamp> {
    let since = httpdate::parse_http_date(value)
        .ok()?
        .duration_since(std::time::UNIX_EPOCH)
        .ok()?;
    Some(Timestamp::default().saturating_add(since))
}
