//! What to do about one refusal, why, and which signal said so.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use crate::{Reason, Timestamp};

/// What to do about one refusal.
#[non_exhaustive]
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Decision {
    /// What to do.
    pub action: Action,
    /// Why, in one word.
    pub reason: Reason,
    /// What in the reply said so.
    pub signal: Signal,
    /// When to come back, where the reply says it: the floor of a wait, or of a stop that time ends.
    pub come_back: Option<Timestamp>,
    /// The most specific machine-readable code that the reply holds, as the provider spells it.
    pub provider_code: Option<String>,
    /// Whether a person must act (an account, a wallet, a console) before this can succeed.
    pub needs_person: bool,
}

impl Decision {
    /// Returns a decision that nothing but its reason speaks for: no time to come back, no code,
    /// and no person needed.
    pub const fn new(action: Action, reason: Reason, signal: Signal) -> Self {
        Self {
            action,
            reason,
            signal,
            come_back: None,
            provider_code: None,
            needs_person: false,
        }
    }
}

/// The five things that can be done about a refusal.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Action {
    /// Pay the offer that came with the reply.
    Pay,
    /// Wait at least this long, then send again. A floor: jitter comes on top, never off.
    Wait(Duration),
    /// Send again after a wait of the client's own choosing.
    Backoff,
    /// Another upstream may serve this now; this one will not.
    Failover,
    /// Do not send again.
    Stop,
}

/// The header, body field or status that decided.
#[non_exhaustive]
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Signal {
    /// The status code alone.
    Status,
    /// A header, by its lower-case name.
    Header(Cow<'static, str>),
    /// A field of the JSON body, as an RFC 6901 pointer.
    Body(Cow<'static, str>),
    /// The text of the body.
    Text,
    /// The state of the payment that the request carried, or the offer that came.
    Payment,
    /// No answer came: the transport failed.
    Transport,
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status => f.write_str("status"),
            Self::Header(name) => f.write_str(name),
            Self::Body(pointer) => f.write_str(pointer),
            Self::Text => f.write_str("body text"),
            Self::Payment => f.write_str("payment"),
            Self::Transport => f.write_str("transport"),
        }
    }
}
