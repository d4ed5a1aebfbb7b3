//! How the caller names purchases.

use http::Extensions;
use paywait_ledger::Fingerprint;
use paywait_x402::PurchaseKey;
use reqwest::Request;

use crate::scope;

/// A caller's name for one purchase, put on a request.
///
/// The same name on the same request shows the same payment again instead of buying again, in
/// this call, the next one, or another task. On another request it is refused.
///
/// ```
/// # async fn example(client: reqwest_middleware::ClientWithMiddleware) -> reqwest_middleware::Result<()> {
/// use paywait::PurchaseName;
///
/// let reply = client
///     .get("https://seller.example/report")
///     .with_extension(PurchaseName::new("order-17"))
///     .send()
///     .await?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PurchaseName {
    name: String,
    request: Option<String>,
}

impl PurchaseName {
    /// Returns a name for one purchase.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            request: None,
        }
    }

    /// Says in the caller's words which request the name belongs to, in place of its method, URL and
    /// body: for requests that differ each time in what does not matter, such as a time of day.
    #[must_use]
    pub fn for_request(mut self, request: impl Into<String>) -> Self {
        self.request = Some(request.into());
        self
    }

    /// Returns the request that it belongs to.
    fn fingerprint(&self, request: &Request) -> Fingerprint {
        match &self.request {
            // no method is empty
            Some(words) => Fingerprint::of("", words, &[]),
            None => fingerprint(request).unwrap_or_else(|| bare(request)),
        }
    }
}

/// A name for all purchases made in a [`Scope`](crate::Scope).
///
/// It is a namespace: each distinct request (method, URL, body) in it is one purchase, made once.
/// A repeat that is wanted takes another [`ordinal`](Self::ordinal).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Namespace {
    name: String,
    ordinal: u64,
}

impl Namespace {
    /// Returns a namespace for purchases.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ordinal: 0,
        }
    }

    /// Tells wanted repeats of one request apart.
    #[must_use]
    pub const fn ordinal(mut self, ordinal: u64) -> Self {
        self.ordinal = ordinal;
        self
    }
}

/// A purchase that may stand in the ledger already: its key, and the request that it belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named {
    pub(crate) key: PurchaseKey,
    pub(crate) fingerprint: Fingerprint,
}

/// Left in the extensions of a call before anybody signs for it, so that a loop outside that comes
/// back with them shows the same bytes, however the call ended, dropped or not. A refused
/// authorization lives on, so it counts too.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unresolved(Vec<Named>);

impl Unresolved {
    /// Leaves word of a purchase; the newest of one request counts.
    pub(crate) fn leave(extensions: &mut Extensions, named: Named) {
        let Self(left) = extensions.get_or_insert_default::<Self>();
        left.retain(|other| other.fingerprint != named.fingerprint);
        left.truncate(MOST_LEFT.saturating_sub(1));
        left.insert(0, named);
    }

    /// Takes the word of a request back: it was served, and whoever comes back asks for another.
    pub(crate) fn take_back(extensions: &mut Extensions, fingerprint: Fingerprint) {
        if let Some(Self(left)) = extensions.get_mut::<Self>() {
            left.retain(|other| other.fingerprint != fingerprint);
        }
    }

    fn find(&self, fingerprint: Fingerprint) -> Option<Named> {
        let left = self.0.iter();
        left.copied().find(|named| named.fingerprint == fingerprint)
    }
}

impl Named {
    /// Returns what names the purchase of a request: its own extension, else what an earlier turn
    /// of a loop outside left, else the scope.
    ///
    /// A body without bytes to digest names nothing, unless the caller gives the name itself.
    pub(crate) fn of(request: &Request, extensions: &Extensions) -> Option<Self> {
        if let Some(name) = extensions.get::<PurchaseName>() {
            return Some(Self {
                key: PurchaseKey::named(&name.name),
                fingerprint: name.fingerprint(request),
            });
        }
        let left = extensions.get::<Unresolved>();
        let namespace = scope::ambient::<Namespace>();
        if left.is_none() && namespace.is_none() {
            return None;
        }
        let fingerprint = fingerprint(request)?;
        if let Some(left) = left.and_then(|left| left.find(fingerprint)) {
            return Some(left);
        }
        let namespace = namespace?;
        let key =
            PurchaseKey::in_namespace(&namespace.name, fingerprint.as_bytes(), namespace.ordinal);
        Some(Self { key, fingerprint })
    }
}

/// Returns the fingerprint of a request, if its body has bytes.
pub(crate) fn fingerprint(request: &Request) -> Option<Fingerprint> {
    let body = match request.body() {
        Some(body) => body.as_bytes()?,
        None => &[],
    };
    Some(Fingerprint::of(
        request.method().as_str(),
        request.url().as_str(),
        body,
    ))
}

/// Returns how the caller calls a purchase: by its own name, or the scope's.
pub(crate) fn words(extensions: &Extensions) -> Option<String> {
    let own = extensions.get::<PurchaseName>();
    let own = own.map(|own| own.name.clone());
    own.or_else(|| scope::ambient::<Namespace>().map(|namespace| namespace.name))
}

fn bare(request: &Request) -> Fingerprint {
    Fingerprint::of(request.method().as_str(), request.url().as_str(), &[])
}

/// One request has one place here; a loop outside that makes more of them than this is none.
const MOST_LEFT: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn left(place: u64) -> Named {
        let url = format!("https://seller.example/{place}");
        Named {
            key: PurchaseKey::named(&url),
            fingerprint: Fingerprint::of("GET", &url, b""),
        }
    }

    #[test]
    fn of_what_was_left_open_the_last_sixty_four_are_remembered() {
        let mut extensions = Extensions::new();
        for place in 0..65 {
            Unresolved::leave(&mut extensions, left(place));
        }
        // left again, it is not remembered twice
        Unresolved::leave(&mut extensions, left(64));
        let all = extensions.get::<Unresolved>().unwrap();
        assert_eq!(all.0.len(), MOST_LEFT);
        let found = |place| all.find(left(place).fingerprint).is_some();
        assert_eq!((found(0), found(1), found(64)), (false, true, true));
    }
}
