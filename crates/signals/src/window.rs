//! One quota as a server reports it.

use std::time::Duration;

use http::HeaderMap;

use crate::{Timestamp, structured};

/// One quota as a server reports it. What is missing was not said: it is neither zero nor endless.
#[non_exhaustive]
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Window {
    /// The name of the policy, as the server spells it.
    pub name: String,
    /// What is counted.
    pub unit: Unit,
    /// The partition of the quota that this request falls in; opaque.
    pub partition: Option<Vec<u8>>,
    /// The quota, in units for one length.
    pub limit: Option<u64>,
    /// What is left of the quota, in units.
    pub remaining: Option<u64>,
    /// The length of the window.
    pub length: Option<Duration>,
    /// How long from now no more than `remaining` may be used.
    ///
    /// It promises nothing about what is there afterwards.
    pub reset: Option<Duration>,
}

/// What a quota counts.
#[non_exhaustive]
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Unit {
    /// Requests.
    Requests,
    /// Requests in flight at one time.
    ConcurrentRequests,
    /// Bytes of content.
    ContentBytes,
    /// Tokens, in and out together.
    Tokens,
    /// Tokens sent to a model.
    InputTokens,
    /// Tokens made by a model.
    OutputTokens,
    /// A unit without a meaning here, as the server spells it. Never requests.
    Other(String),
}

impl Unit {
    /// Returns the unit that `name` stands for.
    ///
    /// `request` and `bytes`, which drafts of the RateLimit fields have used, are accepted beside
    /// the registered `requests` and `content-bytes`.
    pub fn from_name(name: &str) -> Self {
        match name {
            "request" | "requests" => Self::Requests,
            "concurrent-requests" => Self::ConcurrentRequests,
            "bytes" | "content-bytes" => Self::ContentBytes,
            "tokens" => Self::Tokens,
            "input-tokens" => Self::InputTokens,
            "output-tokens" => Self::OutputTokens,
            other => Self::Other(other.to_owned()),
        }
    }

    /// Returns the name of the unit, as the registry or the server spells it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Requests => "requests",
            Self::ConcurrentRequests => "concurrent-requests",
            Self::ContentBytes => "content-bytes",
            Self::Tokens => "tokens",
            Self::InputTokens => "input-tokens",
            Self::OutputTokens => "output-tokens",
            Self::Other(name) => name,
        }
    }
}

/// Returns the quotas that the headers of a reply report, on any status.
///
/// Reads the structured fields `RateLimit` and `RateLimit-Policy` (drafts -08 to -12 of
/// draft-ietf-httpapi-ratelimit-headers). A reply out of a cache (`Age` above zero) reports
/// nothing: its numbers are not current. No window is no statement, not "no limit".
///
/// ```
/// use http::{HeaderMap, HeaderValue};
/// use paywait_signals::{Timestamp, windows};
///
/// let mut headers = HeaderMap::new();
/// headers.insert("ratelimit-policy", HeaderValue::from_static(r#""burst";q=100;w=60"#));
/// headers.insert("ratelimit", HeaderValue::from_static(r#""burst";r=37;t=18"#));
/// let windows = windows(&headers, Timestamp::from_secs(0));
/// assert_eq!(windows[0].limit, Some(100));
/// assert_eq!(windows[0].remaining, Some(37));
/// ```
pub fn windows(headers: &HeaderMap, _now: Timestamp) -> Vec<Window> {
    if is_aged(headers) {
        return Vec::new();
    }
    structured::windows(headers)
}

/// Returns whether the reply lay in a cache: `Age` is a number above zero.
fn is_aged(headers: &HeaderMap) -> bool {
    headers.get_all(http::header::AGE).iter().any(|age| {
        let age = age.as_bytes().trim_ascii();
        age.iter().all(u8::is_ascii_digit) && age.iter().any(|&digit| digit != b'0')
    })
}
