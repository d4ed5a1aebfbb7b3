//! How a call ends.

use std::fmt;

use paywait_signals::{Reason, Timestamp};

/// How a call ended.
///
/// Whether the caller holds a response beside it depends on whether one came.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum End {
    /// No layer of ours saw the response.
    Unseen,
    /// The request was answered with what it asked for.
    Served,
    /// The answer was a refusal that trying again does not mend, or there is no loop to try.
    Stopped(Reason),
    /// All attempts were used up; this was the reason of the last refusal.
    Exhausted(Reason),
    /// Going on now is of no use: the wait that was asked for does not fit. Come back then.
    Deferred(Timestamp),
    /// No answer came, and nothing had been paid.
    Unanswered,
    /// The price may not be paid; why is in words. Nothing was signed.
    NotPaid(NotPaid),
    /// Money moved and the resource did not come. Nothing more is signed in this purchase.
    PaidNotDelivered,
    /// Bytes that can be cashed are out and nothing says whether they were.
    OutcomeUnknown,
    /// Another caller holds the purchase of this key right now.
    InFlight,
    /// The key has been spent, and its payment cannot be shown any more: it settled and was
    /// forgotten but for its key, was ended by hand, or another payment used its nonce. Nothing was
    /// signed in this call; buying again takes another name.
    KeySpent,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unseen => f.write_str("no layer of paywait saw this response"),
            Self::Served => f.write_str("served"),
            Self::Stopped(reason) => write!(f, "stopped: {reason}"),
            Self::Exhausted(reason) => write!(f, "gave up: {reason}"),
            Self::Deferred(come_back) => write!(f, "come back at {come_back}"),
            Self::Unanswered => f.write_str("no answer"),
            Self::NotPaid(why) => write!(f, "not paid: {why}"),
            Self::PaidNotDelivered => f.write_str("paid, not delivered"),
            Self::OutcomeUnknown => f.write_str("outcome unknown"),
            Self::InFlight => f.write_str("in flight elsewhere"),
            Self::KeySpent => f.write_str("key already spent"),
        }
    }
}

/// Why a price was not paid. Nothing was signed in this call; or what was signed did not leave, or was
/// refused before it moved anything.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum NotPaid {
    /// No layer with a wallet is there.
    NoWallet,
    /// The body cannot be sent a second time, so a payment could not go with it.
    Once,
    /// The URL is not https and not a loopback address.
    Insecure,
    /// The client follows redirects: a payment would be handed to wherever the seller points.
    Redirected,
    /// The policy refuses every entry of the offer.
    #[cfg(feature = "pay")]
    Policy(paywait_x402::Refusal),
    /// The offer asks for something that this client cannot give.
    #[cfg(feature = "pay")]
    Terms(paywait_x402::TermsError),
    /// A limit would be passed; room comes back at the moment given, where time brings it.
    Limit {
        /// Which limit, what was asked and what is left, in one sentence.
        what: String,
        /// When there is room again; none if a person must act.
        come_back: Option<Timestamp>,
    },
    /// The key names a purchase of another request.
    OtherRequest,
    /// What was signed is too old to be shown.
    Expired,
    /// The signer did not sign.
    Signer(String),
    /// The ledger could not write, so nothing may leave.
    Ledger(String),
}

impl fmt::Display for NotPaid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoWallet => f.write_str("no wallet is attached"),
            Self::Once => f.write_str("the request body cannot be sent a second time"),
            Self::Redirected => f.write_str(
                "the client follows redirects, and a payment would follow them too (use paywait::client_builder)",
            ),
            Self::Insecure => f.write_str("the URL is neither https nor a loopback address"),
            #[cfg(feature = "pay")]
            Self::Policy(refusal) => write!(f, "{refusal}"),
            #[cfg(feature = "pay")]
            Self::Terms(error) => write!(f, "{error}"),
            Self::Limit {
                what,
                come_back: Some(at),
            } => write!(f, "{what}; room at {at}"),
            Self::Limit {
                what,
                come_back: None,
            } => f.write_str(what),
            Self::OtherRequest => f.write_str("this key was used for another request"),
            Self::Expired => f.write_str("what was signed is too old to be shown"),
            Self::Signer(error) => write!(f, "the signer failed: {error}"),
            Self::Ledger(error) => write!(f, "the ledger failed: {error}"),
        }
    }
}
