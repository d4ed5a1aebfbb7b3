//! The structured `RateLimit` and `RateLimit-Policy` fields of the RateLimit draft, -08 to -12.

use std::time::Duration;

use http::{HeaderMap, HeaderName};
use sfv::{BareItem, Item, KeyRef, List, ListEntry, Parameters, Parser};

use crate::{Unit, Window, moment};

/// Returns the quotas of the structured fields.
///
/// A field that does not parse says nothing; an item without its required parameter says nothing;
/// an optional parameter of the wrong type says nothing. A bad policy does not spoil the state.
pub(crate) fn windows(headers: &HeaderMap) -> Vec<Window> {
    // most replies tell nothing
    if !FIELDS.iter().any(|field| headers.contains_key(field)) {
        return Vec::new();
    }
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
    list.filter(|list| list.len() <= MOST_ITEMS)
        .unwrap_or_default()
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

const FIELDS: [HeaderName; 2] = [
    HeaderName::from_static(POLICY),
    HeaderName::from_static(STATE),
];

const QUOTA: &KeyRef = KeyRef::constant("q");
const QUOTA_UNIT: &KeyRef = KeyRef::constant("qu");
const WINDOW: &KeyRef = KeyRef::constant("w");
const PARTITION: &KeyRef = KeyRef::constant("pk");
const REMAINING: &KeyRef = KeyRef::constant("r");
const AVAILABLE: &KeyRef = KeyRef::constant("a");
const RESET: &KeyRef = KeyRef::constant("t");

/// The longest field, over all of its lines, that is parsed, in bytes.
const LONGEST_FIELD: usize = 16 * 1024;

/// The most items that a field may list. A longer one says nothing, since the part that is left out
/// could be the quota that is used up.
const MOST_ITEMS: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn read(lines: &[(&'static str, &str)]) -> Vec<Window> {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            let value = HeaderValue::from_str(value).unwrap();
            headers.append(HeaderName::from_static(name), value);
        }
        windows(&headers)
    }

    /// Name, limit, remaining, length and reset in seconds.
    type Told<'a> = (&'a str, Option<u64>, Option<u64>, Option<u64>, Option<u64>);

    fn told(windows: &[Window]) -> Vec<Told<'_>> {
        let secs = |span: Option<Duration>| span.map(|span| span.as_secs());
        let told = windows.iter().map(|window| {
            let Window {
                name,
                limit,
                remaining,
                length,
                reset,
                ..
            } = window;
            (
                name.as_str(),
                *limit,
                *remaining,
                secs(*length),
                secs(*reset),
            )
        });
        told.collect()
    }

    #[test]
    fn of_both_spellings_the_smaller_rest_counts_and_w_is_no_reset() {
        let windows = read(&[(STATE, r#""d";r=5;a=3;w=60"#)]);
        assert_eq!(told(&windows), [("d", None, Some(3), None, None)]);
        let windows = read(&[(STATE, r#""d";a=3;w=60"#)]);
        assert_eq!(told(&windows), [("d", None, Some(3), None, Some(60))]);
        let windows = read(&[(STATE, r#""d";r=3;w=60"#)]);
        assert_eq!(told(&windows), [("d", None, Some(3), None, None)]);
    }

    #[test]
    fn an_item_with_one_spelling_ill_typed_is_dropped() {
        assert_eq!(read(&[(STATE, r#""d";r=1.5;a=3"#)]), []);
    }

    #[test]
    fn an_optional_parameter_of_the_wrong_type_is_dropped_alone() {
        let windows = read(&[(POLICY, r#""d";q=5;w=0;pk="user-1";qu=7"#)]);
        assert_eq!(told(&windows), [("d", Some(5), None, None, None)]);
        assert_eq!(windows[0].partition, None);
        assert_eq!(windows[0].unit, Unit::Requests);
    }

    #[test]
    fn a_bad_field_does_not_spoil_the_other() {
        let windows = read(&[(POLICY, r#""d";Q=5"#), (STATE, r#""d";r=1"#)]);
        assert_eq!(told(&windows), [("d", None, Some(1), None, None)]);
        let windows = read(&[(POLICY, r#""d";q=5"#), (STATE, r#""d";r=1,"#)]);
        assert_eq!(told(&windows), [("d", Some(5), None, None, None)]);
    }

    #[test]
    fn a_state_that_is_told_twice_is_the_smaller_rest_until_the_later_reset() {
        let windows = read(&[(STATE, r#""d";r=5;t=60"#), (STATE, r#""d";r=2;t=9"#)]);
        assert_eq!(told(&windows), [("d", None, Some(2), None, Some(60))]);
    }

    #[test]
    fn a_policy_without_a_partition_holds_for_each_partition_of_its_name() {
        let states = r#""d";r=1;pk=:YQ==:, "d";r=2;pk=:Yg==:"#;
        let windows = read(&[(POLICY, r#""d";q=5;w=60"#), (STATE, states)]);
        let expected = [
            ("d", Some(5), Some(1), Some(60), None),
            ("d", Some(5), Some(2), Some(60), None),
        ];
        assert_eq!(told(&windows), expected);
    }

    #[test]
    fn a_state_that_two_partitions_could_claim_belongs_to_neither() {
        let policies = r#""d";q=5;pk=:YQ==:, "d";q=6;pk=:Yg==:"#;
        let windows = read(&[(POLICY, policies), (STATE, r#""d";r=1"#)]);
        let expected = [
            ("d", None, Some(1), None, None),
            ("d", Some(5), None, None, None),
            ("d", Some(6), None, None, None),
        ];
        assert_eq!(told(&windows), expected);
    }

    #[test]
    fn of_two_names_in_one_item_the_second_is_the_policy() {
        let lines = [
            (POLICY, r#""fixed window";"api";q=500;w=300"#),
            (STATE, r#""api";r=0;t=55"#),
        ];
        let windows = read(&lines);
        assert_eq!(
            told(&windows),
            [("api", Some(500), Some(0), Some(300), Some(55))]
        );
        assert_eq!(read(&[(POLICY, r#""a\";"b";q=5"#)]), []);
        assert_eq!(read(&[(POLICY, r#""a";q=5;"b""#)]), []);
    }

    #[test]
    fn a_field_beyond_the_bound_says_nothing() {
        let one = r#""d";r=5, "#;
        let long = one.repeat(LONGEST_FIELD / one.len() + 1);
        assert_eq!(read(&[(STATE, &format!("{long}\"e\";r=1"))]), []);
    }
}
