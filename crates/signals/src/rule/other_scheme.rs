//! A price in a payment scheme that is not spoken here: MPP, L402, LSAT.

use std::borrow::Cow;

use http::HeaderMap;
use http::header::WWW_AUTHENTICATE;

use crate::body::is_code;
use crate::refusal::Refusal;
use crate::{Decision, Reason, Signal};

/// Stops where the server asks for a payment in another scheme.
pub(super) fn decide(refusal: &Refusal<'_>) -> Option<Decision> {
    if !matches!(refusal.status, 401 | 402) {
        return None;
    }
    let challenge = challenged(refusal.headers).map(|scheme| {
        let signal = Signal::Header(Cow::Borrowed(WWW_AUTHENTICATE.as_str()));
        (signal, scheme)
    });
    let problem = || {
        let name = refusal.body.text("/type")?.strip_prefix(PROBLEMS)?;
        Some((Signal::Body(Cow::Borrowed("/type")), name))
    };
    let (signal, code) = challenge.or_else(problem)?;
    Some(Decision {
        provider_code: is_code(code).then(|| code.to_owned()),
        ..refusal.stop(Reason::PaymentSchemeUnsupported, signal)
    })
}

/// Returns the scheme of a payment challenge, over all lines and lists of `WWW-Authenticate`.
fn challenged(headers: &HeaderMap) -> Option<&'static str> {
    let lines = || {
        let lines = headers.get_all(WWW_AUTHENTICATE).iter();
        lines.filter_map(|line| line.to_str().ok())
    };
    SCHEMES.into_iter().find(|scheme| {
        lines()
            .flat_map(members)
            .any(|member| begins(member, scheme))
    })
}

/// Returns whether a member of the list begins a challenge of `scheme`.
fn begins(member: &str, scheme: &str) -> bool {
    let member = member.trim_start();
    let (name, rest) = match member.split_once([' ', '\t']) {
        Some((name, rest)) => (name, rest.trim_start()),
        None => (member.trim_end(), ""),
    };
    name.eq_ignore_ascii_case(scheme) && !rest.starts_with('=')
}

/// Splits a list at its commas, but for those in quoted texts.
fn members(line: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    let mut escaped = false;
    line.split(move |byte: char| {
        let is_quote = byte == '"' && !escaped;
        escaped = quoted && byte == '\\' && !escaped;
        quoted ^= is_quote;
        byte == ',' && !quoted
    })
}

/// Schemes that ask for money; where two are offered, the first here is told.
const SCHEMES: [&str; 3] = ["Payment", "L402", "LSAT"];

/// Where the problem types of the `Payment` scheme stand.
const PROBLEMS: &str = "https://paymentauth.org/problems/";

#[cfg(test)]
mod tests {
    use super::*;

    fn scheme(line: &'static str) -> Option<&'static str> {
        let mut headers = HeaderMap::new();
        headers.insert(WWW_AUTHENTICATE, http::HeaderValue::from_static(line));
        challenged(&headers)
    }

    #[test]
    fn a_payment_challenge_is_found_in_a_list_and_in_any_case() {
        let line = r#"Bearer realm="a, b\", Payment c", payment id="1""#;
        assert_eq!(scheme(line), Some("Payment"));
        assert_eq!(scheme("L402"), Some("L402"));
    }

    #[test]
    fn a_scheme_that_stands_in_a_quoted_text_or_as_a_parameter_is_none() {
        assert_eq!(scheme(r#"Bearer realm="x, Payment id=1""#), None);
        assert_eq!(scheme(r#"Digest a=1, payment ="1""#), None);
        assert_eq!(scheme("Bearer"), None);
    }
}
