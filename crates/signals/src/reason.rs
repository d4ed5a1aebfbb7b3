//! Why a decision was taken: the normative one-word names.

use std::fmt;

/// Why a decision was taken. Each decision has exactly one.
///
/// ```
/// use paywait_signals::Reason;
///
/// assert_eq!(Reason::RateLimited.as_str(), "rate_limited");
/// assert_eq!(Reason::Http(418).to_string(), "http_418");
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Reason {
    /// A payable 402 to a request that carried no payment.
    PaymentOffer,
    /// A 402 whose offer cannot be read or has no entry.
    OfferUnreadable,
    /// A 402 that asks for another payment scheme than x402 (MPP, L402, LSAT).
    PaymentSchemeUnsupported,
    /// A 402 with nothing but its status.
    Unfunded,
    /// The payment that the request carried has settled: money moved.
    SettledAlready,
    /// The payment was broadcast and waits for the chain: money is on its way.
    SettlementPending,
    /// Nothing proves that the payment settled or did not: money may have moved.
    SettlementUnknown,
    /// The payment was refused before it moved anything.
    PaymentFailed,
    /// The same refusal came again and again after the wait that it asked for: it is a stored one,
    /// and the same payment will be answered so for ever.
    StoredRefusal,
    /// 409: an identifier or a state conflicts.
    Conflict,
    /// Money is held by calls in flight and comes free when they end.
    InFlightBudget,
    /// The prepaid balance is gone.
    OutOfCredit,
    /// A spending limit that the account's owner set is reached.
    SpendLimit,
    /// A usage cap that the provider set is reached.
    UsageCap,
    /// The account or the way it pays is not in order.
    Billing,
    /// A quota of a day or a month is used up.
    DailyQuota,
    /// The client's own window is used up.
    RateLimited,
    /// The client's traffic grows too fast.
    RampTooFast,
    /// The server is out of capacity.
    Overloaded,
    /// A router has no upstream to serve this.
    NoProvider,
    /// The model is warming up.
    ModelLoading,
    /// The server failed.
    ServerError,
    /// The server, or the one behind it, ran out of time.
    Timeout,
    /// The server calls the client's usage abnormal.
    AbnormalUsage,
    /// The server asks for a retry and says nothing else.
    ServerAskedRetry,
    /// The server forbids a retry.
    VetoedByServer,
    /// 425: the request came too early in the connection.
    TooEarly,
    /// The server names a wait above the ceiling.
    WaitTooLong,
    /// The request is larger than any wait can make room for.
    RequestTooLarge,
    /// The request itself is wrong.
    BadRequest,
    /// The key, or what it may do, is not enough.
    Auth,
    /// What was asked for does not exist.
    NotFound,
    /// A content filter refused the request.
    Moderation,
    /// Any other status.
    Http(u16),
}

impl Reason {
    /// Returns the normative name; `http` for [`Reason::Http`], whose `Display` adds the status.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PaymentOffer => "payment_offer",
            Self::OfferUnreadable => "offer_unreadable",
            Self::PaymentSchemeUnsupported => "payment_scheme_unsupported",
            Self::Unfunded => "unfunded",
            Self::SettledAlready => "settled_already",
            Self::SettlementPending => "settlement_pending",
            Self::SettlementUnknown => "settlement_unknown",
            Self::PaymentFailed => "payment_failed",
            Self::StoredRefusal => "stored_refusal",
            Self::Conflict => "conflict",
            Self::InFlightBudget => "in_flight_budget",
            Self::OutOfCredit => "out_of_credit",
            Self::SpendLimit => "spend_limit",
            Self::UsageCap => "usage_cap",
            Self::Billing => "billing",
            Self::DailyQuota => "daily_quota",
            Self::RateLimited => "rate_limited",
            Self::RampTooFast => "ramp_too_fast",
            Self::Overloaded => "overloaded",
            Self::NoProvider => "no_provider",
            Self::ModelLoading => "model_loading",
            Self::ServerError => "server_error",
            Self::Timeout => "timeout",
            Self::AbnormalUsage => "abnormal_usage",
            Self::ServerAskedRetry => "server_asked_retry",
            Self::VetoedByServer => "vetoed_by_server",
            Self::TooEarly => "too_early",
            Self::WaitTooLong => "wait_too_long",
            Self::RequestTooLarge => "request_too_large",
            Self::BadRequest => "bad_request",
            Self::Auth => "auth",
            Self::NotFound => "not_found",
            Self::Moderation => "moderation",
            Self::Http(_) => "http",
        }
    }

    /// Returns whether a stop for this reason holds until a person acts.
    pub(crate) const fn needs_person(self) -> bool {
        matches!(
            self,
            Self::OutOfCredit
                | Self::SpendLimit
                | Self::UsageCap
                | Self::Billing
                | Self::DailyQuota
                | Self::Auth
                | Self::AbnormalUsage
                | Self::Unfunded
                | Self::PaymentSchemeUnsupported
                | Self::SettledAlready
        )
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())?;
        if let Self::Http(status) = self {
            write!(f, "_{status}")?;
        }
        Ok(())
    }
}
