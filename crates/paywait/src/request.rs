//! The request of one call: what is known of it, and copies of it for each send.

use std::time::Duration;

use http::Extensions;
use paywait_call::Facts;
use reqwest::{Body, Request, Url};

use crate::{Deadline, scope};

/// The request of one call, as the caller made it.
pub(crate) enum Template {
    /// It can be sent as often as need be.
    Many(Request),
    /// Its body is a stream that can be sent once.
    Once { head: Request, body: Option<Body> },
}

impl Template {
    pub(crate) fn new(mut request: Request) -> Self {
        if has_bytes(&request) {
            return Self::Many(request);
        }
        let body = request.body_mut().take();
        Self::Once {
            head: request,
            body,
        }
    }

    pub(crate) const fn get(&self) -> &Request {
        match self {
            Self::Many(request) | Self::Once { head: request, .. } => request,
        }
    }

    /// Returns a copy to send, or `None` if the body has gone.
    pub(crate) fn copy(&mut self) -> Option<Request> {
        match self {
            Self::Many(request) => request.try_clone(),
            Self::Once { head, body } => {
                let body = body.take()?;
                let mut request = head.try_clone()?;
                *request.body_mut() = Some(body);
                Some(request)
            }
        }
    }

    /// Takes back the body of a send that was turned back before a byte left.
    pub(crate) fn take_back(&mut self, returned: Option<Body>) {
        if let Self::Once { body, .. } = self {
            *body = returned;
        }
    }
}

/// Returns what the machine must know of a request.
pub(crate) fn facts(request: &Request) -> Facts {
    let keyed = request.headers().contains_key("idempotency-key");
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

#[cfg(test)]
mod tests {
    use super::*;

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
