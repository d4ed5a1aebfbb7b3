//! The codes that a body holds, and the one that decides.

use std::borrow::Cow;

use crate::Signal;
use crate::body::Body;
use crate::moment::is_digits;
use crate::provider::{Meaning, PROVIDERS, Provider, Specificity};

/// What the codes of one body say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Codes {
    /// The most specific code, known or not. A number, which mostly repeats the status, yields to
    /// a code that is known.
    pub(crate) most_specific: Option<String>,
    /// The most specific code that is known.
    pub(crate) known: Option<Known>,
}

/// A code with a meaning.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Known {
    pub(crate) code: &'static str,
    pub(crate) meaning: Meaning,
    /// Where it stands in the body: an RFC 6901 pointer.
    pub(crate) pointer: &'static str,
}

impl Known {
    pub(crate) const fn signal(self) -> Signal {
        Signal::Body(Cow::Borrowed(self.pointer))
    }
}

impl Codes {
    /// Reads the codes of a body, and those of the upstream's answer that it may hold.
    pub(crate) fn read(body: &Body) -> Self {
        let mut codes = Self::read_to(body, UPSTREAMS);
        let is_number = codes.most_specific.as_deref().is_some_and(is_digits);
        if let Some(known) = codes.known.filter(|_| is_number) {
            codes.most_specific = Some(known.code.to_owned());
        }
        codes
    }

    fn read_to(body: &Body, upstreams: usize) -> Self {
        let mut codes = Self::default();
        if body.is_nothing() {
            return codes;
        }
        for specificity in Specificity::ALL {
            for provider in PROVIDERS {
                for place in provider.places {
                    if place.specificity == specificity {
                        codes.take(body, provider, place.pointer, specificity, upstreams);
                    }
                }
            }
        }
        codes
    }

    /// Takes what stands at one place, as far as nothing more specific said it before.
    fn take(
        &mut self,
        body: &Body,
        provider: &Provider,
        pointer: &'static str,
        specificity: Specificity,
        upstreams: usize,
    ) {
        if specificity == Specificity::Upstream {
            let Some(upstreams) = upstreams.checked_sub(1) else {
                return;
            };
            let inner = Self::read_to(&body.embedded(pointer), upstreams);
            let known = inner.known.map(|known| Known { pointer, ..known });
            self.fill(inner.most_specific, known);
            return;
        }
        let Some(code) = read_code(body, pointer, specificity) else {
            return;
        };
        let known = provider.entry(&code).map(|(code, meaning)| Known {
            code,
            meaning,
            pointer,
        });
        self.fill(Some(code), known);
    }

    fn fill(&mut self, code: Option<String>, known: Option<Known>) {
        self.most_specific = self.most_specific.take().or(code);
        self.known = self.known.take().or(known);
    }
}

fn read_code(body: &Body, pointer: &str, specificity: Specificity) -> Option<String> {
    if specificity == Specificity::Problem {
        return problem_type(body.text(pointer)?).map(str::to_owned);
    }
    Some(body.code(pointer)?.into_owned())
}

/// Returns the name in a problem type: the fragment of the URI, else the last part of its path.
fn problem_type(uri: &str) -> Option<&str> {
    if uri.len() > LONGEST_TYPE || !uri.contains("://") || uri.chars().any(char::is_control) {
        return None;
    }
    let name = match uri.rsplit_once('#') {
        Some((_, fragment)) => fragment,
        None => uri.rsplit('/').next()?,
    };
    (!name.is_empty()).then_some(name)
}

/// How many answers of upstreams are read, one within the other.
const UPSTREAMS: usize = 1;

/// The longest URI that is taken for a problem type, in bytes.
const LONGEST_TYPE: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reason;

    fn read(body: &str) -> Codes {
        Codes::read(&Body::read(body.as_bytes()))
    }

    fn decided(body: &str) -> Option<(Meaning, &'static str)> {
        let known = read(body).known?;
        Some((known.meaning, known.pointer))
    }

    #[test]
    fn the_code_is_read_before_its_class() {
        let body = r#"{"error":{"type":"insufficient_quota","code":"rate_limit_exceeded"}}"#;
        let meaning = Meaning::Passing(Reason::RateLimited);
        let expected = (meaning, "/error/code");
        assert_eq!(decided(body), Some(expected));
    }

    #[test]
    fn where_the_code_is_not_known_its_class_decides_and_the_code_is_still_told() {
        let body = r#"{"error":{"type":"insufficient_quota","code":"brand_new"}}"#;
        let meaning = Meaning::Wall(Reason::OutOfCredit);
        let expected = (meaning, "/error/type");
        assert_eq!(decided(body), Some(expected));
        assert_eq!(read(body).most_specific.as_deref(), Some("brand_new"));
    }

    #[test]
    fn the_cause_in_the_details_is_read_before_the_type() {
        let body = r#"{"error":{"type":"rate_limit_error",
            "details":{"error_code":"enforced_spend_limit_reached"}}}"#;
        let meaning = Meaning::Wall(Reason::UsageCap);
        let pointer = "/error/details/error_code";
        let expected = (meaning, pointer);
        assert_eq!(decided(body), Some(expected));
    }

    #[test]
    fn a_number_yields_to_a_code_that_is_known_and_to_no_other() {
        let body = r#"{"error":{"type":"insufficient_quota","code":401}}"#;
        assert_eq!(
            read(body).most_specific.as_deref(),
            Some("insufficient_quota")
        );
        let body = r#"{"error":{"type":"requests","code":"429"}}"#;
        assert_eq!(read(body).most_specific.as_deref(), Some("429"));
    }

    #[test]
    fn an_upstream_is_read_once_and_no_deeper() {
        let inner = r#"{"error":{"code":"insufficient_quota"}}"#;
        let outer = |raw: &str| {
            serde_json::json!({"error": {"code": 429, "metadata": {"raw": raw}}}).to_string()
        };
        let meaning = Meaning::Wall(Reason::OutOfCredit);
        let pointer = "/error/metadata/raw";
        let expected = (meaning, pointer);
        assert_eq!(decided(&outer(inner)), Some(expected));
        assert_eq!(decided(&outer(&outer(inner))), None);
    }

    #[test]
    fn a_code_that_stands_in_a_message_is_no_code() {
        let body = r#"{"error":{"message":"insufficient_quota","code":"x"}}"#;
        assert_eq!(decided(body), None);
    }

    #[test]
    fn a_problem_type_counts_by_its_fragment() {
        let body = r#"{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded"}"#;
        assert_eq!(read(body).most_specific.as_deref(), Some("quota-exceeded"));
        assert_eq!(read(r#"{"type":"error"}"#).most_specific, None);
    }
}
