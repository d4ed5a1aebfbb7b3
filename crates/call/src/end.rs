//! How a call ends.

use std::fmt;

use paywait_signals::{Reason, Timestamp};
#[cfg(feature = "pay")]
use paywait_x402::alloy_primitives::Address;

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
    /// It costs more than may be paid without a yes, and there was none. Nothing was held for it.
    #[cfg(feature = "pay")]
    NotApproved {
        /// What was asked about.
        asked: Box<paywait_x402::Quote>,
        /// Why there was no yes.
        why: crate::NotApproved,
    },
    /// A limit would be passed; room comes back at the moment given, where time brings it.
    Limit {
        /// Which limit, what was asked and what is left, in one sentence.
        what: String,
        /// When there is room again; none if a person must act.
        come_back: Option<Timestamp>,
        /// When the oldest of the holds can die without which there would be room; none if what is
        /// spent leaves no room. A loop waits for them, as long as the call may take.
        held_until: Option<Timestamp>,
    },
    /// The ledger is halted: nothing is paid until a person resumes it.
    Halted,
    /// Another payee is asked for than the one that this origin was paid as before.
    #[cfg(feature = "pay")]
    OtherPayee {
        /// Who is to be paid now.
        asked: Address,
        /// Who was paid first.
        pinned: Address,
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
            #[cfg(feature = "pay")]
            Self::NotApproved { asked, why } => {
                write!(
                    f,
                    "approval: asked {asked}, and {why} (setting: approve_above)"
                )
            }
            Self::Limit {
                what,
                come_back: Some(at),
                ..
            } => write!(f, "{what}; room at {at}"),
            Self::Limit {
                what,
                come_back: None,
                ..
            } => f.write_str(what),
            Self::Halted => f.write_str("the ledger is halted (setting: halt)"),
            #[cfg(feature = "pay")]
            Self::OtherPayee { asked, pinned } => write!(
                f,
                "payee: asked {asked}, allowed {pinned}, who was paid first (setting: pin_payees)"
            ),
            Self::OtherRequest => f.write_str("this key was used for another request"),
            Self::Expired => f.write_str("what was signed is too old to be shown"),
            Self::Signer(error) => write!(f, "the signer failed: {error}"),
            Self::Ledger(error) => write!(f, "the ledger failed: {error}"),
        }
    }
}
