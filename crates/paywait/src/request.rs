//! The request of one call: what is known of it, and copies of it for each send.

use std::time::Duration;

use http::{Extensions, HeaderName};
use paywait_call::Facts;
use reqwest::{Body, Request, Url};

use crate::{Deadline, scope};

/// The request of one call, as the caller made it, less a body that is a stream.
pub(crate) struct Template {
    request: Request,
    sends_once: bool,
}

impl Template {
    /// Takes a request apart: what can be copied, and the body that cannot.
    pub(crate) fn new(mut request: Request) -> (Self, Option<Body>) {
        let sends_once = !has_bytes(&request);
        let stream = sends_once.then(|| request.body_mut().take()).flatten();
        let template = Self {
            request,
            sends_once,
        };
        (template, stream)
    }

    pub(crate) const fn get(&self) -> &Request {
        &self.request
    }

    /// Returns a copy to send, with the stream that is its body; `None` if that has gone.
    pub(crate) fn copy(&self, stream: &mut Option<Body>) -> Option<Request> {
        let mut copy = self.request.try_clone()?;
        if self.sends_once {
            *copy.body_mut() = Some(stream.take()?);
        }
        Some(copy)
    }
}

/// Returns what the machine must know of a request.
pub(crate) fn facts(request: &Request) -> Facts {
    let keyed = request.headers().contains_key(IDEMPOTENCY_KEY);
    let mut facts = Facts::of(request.method(), keyed);
    if !has_bytes(request) {
        facts = facts.once();
    }
    if !is_payable(request.url()) {
        facts = facts.not_payable();
    }
    facts
}

/// Whether the body can be copied: it has none, or it is bytes.
fn has_bytes(request: &Request) -> bool {
    request.body().is_none_or(|body| body.as_bytes().is_some())
}

/// Returns the deadlines that hold for a call: the request's own, and the scope's.
pub(crate) fn deadlines(extensions: &Extensions) -> impl Iterator<Item = Duration> {
    let own = extensions.get::<Deadline>().copied();
    own.into_iter()
        .chain(scope::ambient::<Deadline>())
        .map(|Deadline(after)| after)
}

/// An offer is not signed by anybody: over plain http whoever sits between can put his own there.
fn is_payable(url: &Url) -> bool {
    match url.host() {
        _ if url.scheme() == "https" => true,
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        Some(url::Host::Domain(domain)) => domain == "localhost",
        None => false,
    }
}

/// Whether two addresses have one origin (RFC 6454): scheme, host and port.
pub(crate) fn same_origin(one: &Url, other: &Url) -> bool {
    matches!(one.scheme(), "http" | "https")
        && one.scheme() == other.scheme()
        && one.host() == other.host()
        && one.port_or_known_default() == other.port_or_known_default()
}

/// Whether two addresses are of one place: origin and path. What follows them a layer may add.
pub(crate) fn same_place(one: &Url, other: &Url) -> bool {
    same_origin(one, other) && one.path() == other.path()
}

/// It makes any method safe to send again (draft-ietf-httpapi-idempotency-key-header).
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let same = |one: &str, other: &str| {
            let (one, other) = (one.parse::<Url>().unwrap(), other.parse::<Url>().unwrap());
            let same = same_origin(&one, &other);
            assert_eq!(same, one.origin() == other.origin(), "{one} {other}");
            same
        };
        assert!(same("https://a.example/x?y", "HTTPS://A.example:443/z"));
        assert!(same("http://u:p@127.0.0.1:80", "http://127.1/"));
        assert!(!same("https://a.example/", "http://a.example/"));
        assert!(!same("http://a.example/", "http://a.example:443/"));
        assert!(!same("https://a.example/", "https://a.example:8443/"));
        assert!(!same("https://a.example/", "https://b.a.example/"));
        assert!(!same("https://a.example/", "https://a.example./"));
        assert!(!same("https://[::1]/", "https://[::2]/"));
        assert!(!same("file:///a", "file:///a"));
        assert!(!same("data:text/plain,402", "data:text/plain,402"));
    }

    #[test]
    fn what_only_looks_like_https_or_loopback_is_not_payable() {
        for url in [
            "http://seller.example/",
            "http://localhost./",
            "http://localhost.seller.example/",
            "http://localhost@seller.example/",
            "http://127.0.0.1@seller.example/",
            "http://127.0.0.1.nip.io/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:8.8.8.8]/",
            "http://[::2]/",
            "http://0.0.0.0/",
            "http://[::]/",
            "http://8.8.8.8/",
            "http://2130706434.example/",
            "ws://seller.example/",
            "https+unix://%2Fsocket/",
            "data:text/plain,402",
            "file:///localhost",
        ] {
            assert!(!is_payable(&url.parse().unwrap()), "{url}");
        }
    }

    #[test]
    fn https_and_loopback_in_any_spelling_are_payable() {
        for url in [
            "https://seller.example/",
            "HTTPS://seller.example:8443/",
            "http://LOCALHOST:3000/",
            "http://127.0.0.1:3000/",
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://[::1]/",
            "http://[0:0::1]/",
        ] {
            assert!(is_payable(&url.parse().unwrap()), "{url}");
        }
    }
}
