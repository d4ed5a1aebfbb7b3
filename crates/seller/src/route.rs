//! One thing that the shop sells: its path, its price, and how it behaves.

use std::collections::VecDeque;

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use paywait_signals::Timestamp;
use serde_json::{Map, Value, json};

use crate::limiter::Place;
use crate::payment::{Accepted, PAYMENT_IDENTIFIER};
use crate::step::Step;
use crate::terms::contains;
use crate::{Canned, Limiter, Terms};

/// What a route does with payment identifiers.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Identifier {
    /// It does not advertise the extension and looks at no identifier.
    #[default]
    Ignored,
    /// It advertises the extension, and replays the stored reply to a payment shown again.
    Optional,
    /// As `Optional`, and a payment without an identifier is answered 400.
    Required,
}

/// One thing that the shop sells. Without a setting it is a model seller.
///
/// ```
/// use std::time::Duration;
/// use alloy_primitives::Address;
/// use http::StatusCode;
/// use paywait_seller::{Canned, Flow, Identifier, Limiter, Route, Step, Terms};
///
/// let route = Route::new("/report", Terms::usdc(10_000, Address::repeat_byte(0x22)).flow(Flow::Upfront))
///     .identifier(Identifier::Optional)
///     .handler(Canned::json(StatusCode::OK, r#"{"rows":[]}"#))
///     .limiter(Limiter::new(5, Duration::from_secs(1)))
///     .paid_script([Step::settled(Canned::new(StatusCode::INTERNAL_SERVER_ERROR))]);
/// assert_eq!(route.path(), "/report");
/// ```
#[derive(Clone, Debug)]
pub struct Route {
    path: String,
    terms: Vec<Terms>,
    decoys: Vec<Value>,
    extensions: Map<String, Value>,
    identifier: Identifier,
    store_errors: bool,
    handler: Canned,
    limiter: Option<Limiter>,
    script: VecDeque<Step>,
    paid_script: VecDeque<Step>,
}

impl Route {
    /// Returns a route at `path` that costs `terms` and answers 200 with a line of JSON.
    pub fn new(path: impl Into<String>, terms: Terms) -> Self {
        Self {
            terms: vec![terms],
            ..Self::free(path)
        }
    }

    /// Returns a route at `path` that costs nothing and has no paywall.
    pub fn free(path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            terms: Vec::new(),
            decoys: Vec::new(),
            extensions: Map::new(),
            identifier: Identifier::Ignored,
            store_errors: false,
            handler: Canned::json(StatusCode::OK, r#"{"ok":true}"#),
            limiter: None,
            script: VecDeque::new(),
            paid_script: VecDeque::new(),
        }
    }

    /// Adds another way to pay, after those that are there.
    #[must_use]
    pub fn or(mut self, terms: Terms) -> Self {
        self.terms.push(terms);
        self
    }

    /// Adds an entry of `accepts` before all others that this seller cannot settle: another
    /// scheme, another chain family, nonsense.
    #[must_use]
    pub fn decoy(mut self, entry: Value) -> Self {
        self.decoys.push(entry);
        self
    }

    /// Advertises an extension. A buyer that echoes it must echo every field of its `info`.
    #[must_use]
    pub fn extension(mut self, name: impl Into<String>, value: Value) -> Self {
        self.extensions.insert(name.into(), value);
        self
    }

    /// Sets what it does with payment identifiers.
    #[must_use]
    pub fn identifier(mut self, identifier: Identifier) -> Self {
        self.identifier = identifier;
        match identifier {
            Identifier::Ignored => self.extensions.remove(PAYMENT_IDENTIFIER),
            Identifier::Optional | Identifier::Required => self.extensions.insert(
                PAYMENT_IDENTIFIER.to_owned(),
                identifier_extension(identifier == Identifier::Required),
            ),
        };
        self
    }

    /// Sets whether it stores refusals under the identifier too, so that a buyer who shows his
    /// payment again gets the same 429 or 500 for ever. A sin; default: no.
    #[must_use]
    pub const fn store_errors(mut self, stored: bool) -> Self {
        self.store_errors = stored;
        self
    }

    /// Sets what the handler answers.
    #[must_use]
    pub fn handler(mut self, reply: Canned) -> Self {
        self.handler = reply;
        self
    }

    /// Sets how many requests are let in.
    #[must_use]
    pub fn limiter(mut self, limiter: Limiter) -> Self {
        self.limiter = Some(limiter);
        self
    }

    /// Adds steps, one for each request to come.
    #[must_use]
    pub fn script(mut self, steps: impl IntoIterator<Item = Step>) -> Self {
        self.script.extend(steps);
        self
    }

    /// Adds steps, one for each request to come that carries a payment and for which
    /// [`script`](Self::script) has no step left.
    #[must_use]
    pub fn paid_script(mut self, steps: impl IntoIterator<Item = Step>) -> Self {
        self.paid_script.extend(steps);
        self
    }

    /// Returns the path.
    pub fn path(&self) -> &str {
        &self.path
    }

    pub(crate) const fn is_free(&self) -> bool {
        self.terms.is_empty()
    }

    pub(crate) const fn payment_identifier(&self) -> Identifier {
        self.identifier
    }

    pub(crate) const fn stores_errors(&self) -> bool {
        self.store_errors
    }

    pub(crate) fn handle(&self) -> Response<Bytes> {
        self.handler.response()
    }

    pub(crate) fn next_step(&mut self, paid: bool) -> Step {
        let mut step = self.script.pop_front();
        if step.is_none() && paid {
            step = self.paid_script.pop_front();
        }
        let step = step.unwrap_or_else(Step::normal);
        if let (Some(price), Some(terms)) = (step.price, self.terms.first_mut()) {
            terms.reprice(price);
        }
        step
    }

    pub(crate) fn throttle(
        &mut self,
        place: Place,
        paid: bool,
        now: Timestamp,
    ) -> Option<Response<Bytes>> {
        self.limiter.as_mut()?.take(place, paid, now)
    }

    pub(crate) fn tell_limits(&self, headers: &mut HeaderMap, paid: bool, now: Timestamp) {
        if let Some(limiter) = &self.limiter {
            limiter.tell(headers, paid, now);
        }
    }

    pub(crate) fn sells_in_v1(&self) -> bool {
        self.terms.iter().any(Terms::is_v1)
    }

    pub(crate) fn sells_in_v1_alone(&self) -> bool {
        self.sells_in_v1() && self.terms.iter().all(Terms::is_v1)
    }

    /// Returns the terms that a buyer says to pay by.
    pub(crate) fn accepted_terms(&self, accepted: &Accepted) -> Option<&Terms> {
        self.terms.iter().find(|terms| match accepted {
            Accepted::Entry(entry) => !terms.is_v1() && terms.is_echoed_by(entry),
            Accepted::Network { scheme, network } => {
                terms.is_v1() && scheme == "exact" && *network == terms.network()
            }
        })
    }

    /// Returns whether every advertised extension that was echoed kept the `info` it was given.
    pub(crate) fn is_extension_echo(&self, echoed: &Map<String, Value>) -> bool {
        self.extensions.iter().all(|(name, advertised)| {
            match (echoed.get(name), advertised.get("info")) {
                (None, _) | (_, None) => true,
                (Some(echo), Some(info)) => {
                    echo.get("info").is_some_and(|echo| contains(echo, info))
                }
            }
        })
    }

    /// Returns the whole `PaymentRequired` of version 2, where the route sells in it; `resource` is
    /// the address that was asked for.
    pub(crate) fn offer(&self, error: &str, resource: &str) -> Option<Value> {
        let terms: Vec<_> = self.terms.iter().filter(|terms| !terms.is_v1()).collect();
        if terms.is_empty() {
            return None;
        }
        let entries = terms.into_iter().map(Terms::entry);
        let accepts: Vec<_> = self.decoys.iter().cloned().chain(entries).collect();
        let mut offer = json!({
            "x402Version": 2,
            "error": error,
            "resource": { "url": resource, "mimeType": "application/json" },
            "accepts": accepts,
        });
        if let (false, Some(offer)) = (self.extensions.is_empty(), offer.as_object_mut()) {
            offer.insert(
                "extensions".to_owned(),
                Value::Object(self.extensions.clone()),
            );
        }
        Some(offer)
    }

    /// Returns the whole offer of version 1, where the route sells in it.
    pub(crate) fn offer_v1(&self, error: &str, resource: &str) -> Option<Value> {
        let terms = self.terms.iter().filter(|terms| terms.is_v1());
        let entries: Vec<_> = terms.map(|terms| terms.entry_v1(resource)).collect();
        if entries.is_empty() {
            return None;
        }
        let accepts: Vec<_> = self.decoys.iter().cloned().chain(entries).collect();
        Some(json!({ "x402Version": 1, "error": error, "accepts": accepts }))
    }
}

fn identifier_extension(required: bool) -> Value {
    json!({
        "info": { "required": required },
        "schema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "required": { "type": "boolean" },
                "id": {
                    "type": "string",
                    "minLength": 16,
                    "maxLength": 128,
                    "pattern": "^[a-zA-Z0-9_-]+$",
                },
            },
            "required": ["required"],
        },
    })
}
