//! The structured `RateLimit` and `RateLimit-Policy` fields of the RateLimit draft, -08 to -12.

use std::time::Duration;

use http::HeaderMap;
use sfv::{BareItem, Item, KeyRef, List, ListEntry, Parameters, Parser};

use crate::{Unit, Window, moment};

/// Returns the quotas of the structured fields.
///
/// A field that does not parse says nothing; an item without its required parameter says nothing;
/// an optional parameter of the wrong type says nothing. A bad policy does not spoil the state.
pub(crate) fn windows(headers: &HeaderMap) -> Vec<Window> {
    let policies = merged(items(headers, POLICY, policy), tighter_policy);
    let states = merged(items(headers, STATE, state), tighter_state);
    let mut joined = vec![false; policies.len()];
    let mut windows = Vec::new();
    for state in states {
        let Some(index) = policy_of(&state, &policies) else {
            windows.push(state);
            continue;
        };
        if let Some(seen) = joined.get_mut(index) {
            *seen = true;
        }
        windows.extend(policies.get(index).map(|policy| join(state, policy)));
    }
    let alone = policies.into_iter().zip(joined);
    windows.extend(alone.filter(|(_, seen)| !seen).map(|(policy, _)| policy));
    windows
}

/// Returns the position of the policy that a state belongs to.
///
/// It is the one of the same name and partition, else the only one of that name where either side
/// leaves the partition out.
fn policy_of(state: &Window, policies: &[Window]) -> Option<usize> {
    let exact = policies.iter().position(|policy| same_quota(policy, state));
    if exact.is_some() {
        return exact;
    }
    let open = |policy: &Window| policy.partition.is_none() || state.partition.is_none();
    let mut named = policies
        .iter()
        .enumerate()
        .filter(|(_, policy)| policy.name == state.name && open(policy));
    match (named.next(), named.next()) {
        (Some((index, _)), None) => Some(index),
        _ => None,
    }
}

fn join(state: Window, policy: &Window) -> Window {
    Window {
        unit: policy.unit.clone(),
        limit: policy.limit,
        length: policy.length,
        partition: state.partition.or_else(|| policy.partition.clone()),
        ..state
    }
}

fn same_quota(one: &Window, other: &Window) -> bool {
    one.name == other.name && one.partition == other.partition
}

/// Puts items of one name and partition together.
fn merged(items: Vec<Window>, tighter: fn(&Window, &mut Window) -> bool) -> Vec<Window> {
    let mut kept: Vec<Window> = Vec::new();
    for item in items {
        let absorbed = kept
            .iter_mut()
            .filter(|known| same_quota(known, &item))
            .any(|known| tighter(&item, known));
        if !absorbed {
            kept.push(item);
        }
    }
    kept
}

/// Of two states the smaller rest and the longer reset count.
fn tighter_state(item: &Window, known: &mut Window) -> bool {
    known.remaining = known.remaining.min(item.remaining);
    known.reset = known.reset.max(item.reset);
    true
}

/// Of two policies only an equal one is the same: a name may stand for a burst and a day.
fn tighter_policy(item: &Window, known: &mut Window) -> bool {
    item == known
}

/// Returns the items of one field, over all of its lines, that `read` understands.
fn items(headers: &HeaderMap, name: &str, read: fn(&Item) -> Option<Window>) -> Vec<Window> {
    let lines = headers.get_all(name).iter().map(|line| line.as_bytes());
    let joined = lines.collect::<Vec<_>>().join(&b", "[..]);
    if joined.len() > LONGEST_FIELD {
        return Vec::new();
    }
    let list = parse(&joined).or_else(|| parse(salvaged(&joined)?));
    list.unwrap_or_default()
        .iter()
        .filter_map(|entry| match entry {
            ListEntry::Item(item) => read(item),
            ListEntry::InnerList(_) => None,
        })
        .collect()
}

fn parse(field: &[u8]) -> Option<List> {
    Parser::new(field).parse::<List>().ok()
}

/// Drops the first of two names, as in `"fixed window";"api";q=500;w=300`, which is sent in the
/// wild and is no structured field.
fn salvaged(field: &[u8]) -> Option<&[u8]> {
    let rest = field.trim_ascii_start().strip_prefix(b"\"")?;
    let end = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    let rest = rest.get(end..)?.strip_prefix(b"\"")?;
    let rest = rest.strip_prefix(b";")?.trim_ascii_start();
    rest.starts_with(b"\"").then_some(rest)
}

fn policy(item: &Item) -> Option<Window> {
    let params = &item.params;
    let unit = match params.get(QUOTA_UNIT) {
        Some(BareItem::String(name)) => Unit::from_name(name.as_str()),
        _ => Unit::Requests,
    };
    Some(Window {
        unit,
        limit: Some(count(params, QUOTA)?),
        length: count(params, WINDOW).filter(|&w| w > 0).map(seconds),
        ..named(item)?
    })
}

/// Reads a state in both spellings: `r` and `t` up to -11, `a` and `w` after.
fn state(item: &Item) -> Option<Window> {
    let params = &item.params;
    let both = params.get(REMAINING).is_some() && params.get(AVAILABLE).is_some();
    let (remaining, renamed) = match (count(params, REMAINING), count(params, AVAILABLE)) {
        (Some(r), Some(a)) => (r.min(a), false),
        (Some(r), None) if !both => (r, false),
        (None, Some(a)) if !both => (a, true),
        _ => return None,
    };
    let effective =
        count(params, RESET).or_else(|| renamed.then(|| count(params, WINDOW)).flatten());
    Some(Window {
        remaining: Some(remaining),
        reset: effective.map(seconds),
        ..named(item)?
    })
}

/// Returns a window with nothing but the name of `item` and its partition.
fn named(item: &Item) -> Option<Window> {
    let string = item.bare_item.as_string().map(|name| name.as_str());
    let token = || item.bare_item.as_token().map(|name| name.as_str());
    let name = string.or_else(token)?;
    let partition = match item.params.get(PARTITION) {
        Some(BareItem::ByteSequence(key)) => Some(key.clone()),
        _ => None,
    };
    Some(Window {
        name: name.to_owned(),
        unit: Unit::Requests,
        partition,
        limit: None,
        remaining: None,
        length: None,
        reset: None,
    })
}

fn count(params: &Parameters, key: &KeyRef) -> Option<u64> {
    match params.get(key) {
        Some(BareItem::Integer(value)) => u64::try_from(i64::from(*value)).ok(),
        _ => None,
    }
}

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count).min(moment::LONGEST)
}

pub(crate) const POLICY: &str = "ratelimit-policy";
pub(crate) const STATE: &str = "ratelimit";

const QUOTA: &KeyRef = KeyRef::constant("q");
const QUOTA_UNIT: &KeyRef = KeyRef::constant("qu");
const WINDOW: &KeyRef = KeyRef::constant("w");
const PARTITION: &KeyRef = KeyRef::constant("pk");
const REMAINING: &KeyRef = KeyRef::constant("r");
const AVAILABLE: &KeyRef = KeyRef::constant("a");
const RESET: &KeyRef = KeyRef::constant("t");

/// The longest field, over all of its lines, that is parsed, in bytes: some thousand policies.
const LONGEST_FIELD: usize = 16 * 1024;
