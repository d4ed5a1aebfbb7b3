//! What is known of the request before it is sent, and what must be known of a send that failed.

use http::Method;

/// What is known of the request before it is sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Facts {
    /// Whether the request can be sent a second time: its body has bytes that can be copied.
    pub replayable: bool,
    /// Whether sending it twice does no more than sending it once.
    pub idempotent: bool,
    /// Whether its URL is one to pay at: https, or a loopback address.
    pub payable: bool,
    /// Whether the client below is known to follow redirects.
    pub follows_redirects: bool,
}

impl Facts {
    /// Returns the facts of a request with `method`.
    ///
    /// `idempotency_key` says whether it carries an `Idempotency-Key`, which makes any method
    /// safe to send again.
    ///
    /// ```
    /// use http::Method;
    /// use paywait_call::Facts;
    /// assert!(Facts::of(&Method::GET, false).idempotent);
    /// assert!(!Facts::of(&Method::POST, false).idempotent);
    /// assert!(Facts::of(&Method::POST, true).idempotent);
    /// ```
    pub fn of(method: &Method, idempotency_key: bool) -> Self {
        Self {
            replayable: true,
            idempotent: method.is_idempotent() || idempotency_key,
            payable: true,
            follows_redirects: false,
        }
    }

    /// Says that the body cannot be sent again.
    #[must_use]
    pub const fn once(mut self) -> Self {
        self.replayable = false;
        self
    }

    /// Says that nothing may be paid at this URL.
    #[must_use]
    pub const fn not_payable(mut self) -> Self {
        self.payable = false;
        self
    }
}

/// How a send failed that got no answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Failure {
    /// What failed.
    pub kind: FailureKind,
    /// Whether a byte of the request may have left. Only a proof says no.
    pub may_have_left: bool,
}

impl Failure {
    /// Returns a failure after which a byte of the request may have left.
    pub const fn lost(kind: FailureKind) -> Self {
        Self {
            kind,
            may_have_left: true,
        }
    }

    /// Returns a failure before any byte of the request left.
    pub const fn unsent(kind: FailureKind) -> Self {
        Self {
            kind,
            may_have_left: false,
        }
    }
}

/// What failed when no answer came.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum FailureKind {
    /// No connection came about.
    Connect,
    /// Time ran out.
    Timeout,
    /// The connection broke, or what came was not HTTP.
    Broken,
    /// Another middleware failed, or the request could not be built: trying again helps nothing.
    Final,
}

impl FailureKind {
    /// Returns the kind in words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Connect => "no connection",
            Self::Timeout => "timeout",
            Self::Broken => "connection broken",
            Self::Final => "failed before or beside the wire",
        }
    }
}
