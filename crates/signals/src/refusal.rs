//! One refusal with all that was read of it: what the rules look at and decide with.

use std::borrow::Cow;
use std::time::Duration;

use http::HeaderMap;

use crate::body::Body;
use crate::code::{Codes, Known};
use crate::provider::Meaning;
use crate::{
    Action, Decision, Hint, Policy, Reason, Reply, Signal, Standing, Timestamp, retry_after,
    structured, windows,
};

/// One refusal with all that was read of it.
pub(crate) struct Refusal<'a> {
    pub(crate) status: u16,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: Body,
    pub(crate) codes: Codes,
    /// The wait that the server names.
    pub(crate) hint: Option<Hint>,
    /// What the server says of a retry, and the header that says so.
    pub(crate) should_retry: Option<(bool, &'static str)>,
    pub(crate) standing: &'a Standing,
    policy: Policy,
    now: Timestamp,
}

impl<'a> Refusal<'a> {
    pub(crate) fn read(
        reply: Reply<'a>,
        standing: &'a Standing,
        policy: Policy,
        now: Timestamp,
    ) -> Self {
        let body = Body::read(reply.body);
        let hint = retry_after(reply.headers, now).or_else(|| exhausted(reply.headers, &body, now));
        let asked = || {
            SHOULD_RETRY
                .iter()
                .find_map(|name| asked(reply.headers, name))
        };
        Self {
            status: reply.status.as_u16(),
            headers: reply.headers,
            codes: Codes::read(&body),
            body,
            hint,
            should_retry: policy.obey_should_retry.then(asked).flatten(),
            standing,
            policy,
            now,
        }
    }

    /// Returns the code that decides, if there is one that is known.
    pub(crate) const fn known(&self) -> Option<Known> {
        self.codes.known
    }

    /// Returns the reason and the signal of a code that says: this passes.
    pub(crate) fn passing(&self) -> Option<(Reason, Signal)> {
        let known = self.known()?;
        match known.meaning {
            Meaning::Passing(reason) | Meaning::WallWithoutHint(reason) => {
                Some((reason, known.signal()))
            }
            Meaning::Hold | Meaning::Wall(_) => None,
        }
    }

    /// Returns the header that asks for a retry.
    pub(crate) fn asks_retry(&self) -> Option<Signal> {
        let (_, name) = self.should_retry.filter(|(asked, _)| *asked)?;
        Some(Signal::Header(Cow::Borrowed(name)))
    }

    /// Returns a decision without a time.
    pub(crate) fn decide(&self, action: Action, reason: Reason, signal: Signal) -> Decision {
        Decision {
            action,
            reason,
            signal,
            come_back: None,
            provider_code: self.codes.most_specific.clone(),
            needs_person: action == Action::Stop && reason.needs_person(),
        }
    }

    pub(crate) fn stop(&self, reason: Reason, signal: Signal) -> Decision {
        self.decide(Action::Stop, reason, signal)
    }

    /// Returns the wait that the server names, or `too_long` where it is above the ceiling;
    /// nothing where it names none.
    pub(crate) fn wait(&self, reason: Reason, too_long: Action) -> Option<Decision> {
        let hint = self.hint.as_ref()?;
        let come_back = Some(self.now.saturating_add(hint.wait));
        let (action, reason) = if hint.wait <= self.policy.wait_ceiling {
            (Action::Wait(hint.wait), reason)
        } else {
            (too_long, Reason::WaitTooLong)
        };
        Some(Decision {
            come_back,
            ..self.decide(action, reason, hint.signal.clone())
        })
    }
}

/// Returns the reset of a structured window that is used up; of several the latest, of those that
/// a problem document calls violated if it names one.
fn exhausted(headers: &HeaderMap, body: &Body, now: Timestamp) -> Option<Hint> {
    let violated = body
        .at("/violated-policies")
        .and_then(|names| names.as_array());
    let is_violated = |name: &str| {
        violated.is_some_and(|names| {
            names
                .iter()
                .take(MOST_NAMES)
                .any(|one| one.as_str() == Some(name))
        })
    };
    let resets = || {
        let empty = |window: &crate::Window| window.remaining == Some(0);
        let windows = windows(headers, now).into_iter().filter(empty);
        windows.filter_map(|window| Some((is_violated(&window.name), window.reset?)))
    };
    let named: Option<Duration> = resets().filter(|(named, _)| *named).map(|(_, t)| t).max();
    named
        .or_else(|| resets().map(|(_, t)| t).max())
        .map(|wait| Hint::header(structured::STATE, wait))
}

/// Reads `true` or `false`, in any case; of several lines one `false` is enough.
fn asked(headers: &HeaderMap, name: &'static str) -> Option<(bool, &'static str)> {
    let said = |word: &str| {
        let mut lines = headers.get_all(name).iter();
        lines.any(|line| {
            line.as_bytes()
                .trim_ascii()
                .eq_ignore_ascii_case(word.as_bytes())
        })
    };
    if said("false") {
        return Some((false, name));
    }
    said("true").then_some((true, name))
}

/// The headers by which a server asks for a retry or forbids it.
const SHOULD_RETRY: [&str; 2] = ["x-should-retry", "stripe-should-retry"];

/// How many violated policies are looked at.
const MOST_NAMES: usize = 64;
