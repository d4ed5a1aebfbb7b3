//! The structured `RateLimit` and `RateLimit-Policy` fields.

use std::time::Duration;

use http::HeaderMap;
use sfv::{BareItem, ListEntry, Parser};

use crate::{Timestamp, Unit, Window};

/// Returns the quotas that the headers report.
pub fn windows(headers: &HeaderMap, _now: Timestamp) -> Vec<Window> {
    let Some(Ok(value)) = headers.get("ratelimit").map(|value| value.to_str()) else {
        return Vec::new();
    };
    let Ok(list) = Parser::new(value).parse::<sfv::List>() else {
        return Vec::new();
    };
    list.iter().filter_map(window).collect()
}

fn window(entry: &ListEntry) -> Option<Window> {
    let ListEntry::Item(item) = entry else {
        return None;
    };
    let BareItem::String(name) = &item.bare_item else {
        return None;
    };
    let count = |key: &str| match item.params.get(key) {
        Some(BareItem::Integer(value)) => u64::try_from(i64::from(*value)).ok(),
        _ => None,
    };
    Some(Window {
        name: name.as_str().to_owned(),
        unit: Unit::Requests,
        partition: None,
        limit: None,
        remaining: Some(count("r")?),
        length: None,
        reset: count("t").map(Duration::from_secs),
    })
}
