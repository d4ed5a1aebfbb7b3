//! What the machine of a call asks its driver to do.

use http::HeaderMap;
use paywait_signals::Timestamp;
#[cfg(feature = "pay")]
use {
    paywait_x402::{Asset, Quote, SignedPayment, Terms},
    std::sync::Arc,
};

use crate::End;
use crate::buyer::Showing;

/// One thing to do. The machine goes on when it is told how that went.
#[derive(Debug)]
#[non_exhaustive]
#[must_use = "the call stands still until its action is done"]
pub enum Action {
    /// Ask for a slot for one send, and answer with [`Call::handle_admitted`](crate::Call::handle_admitted).
    Admit,
    /// Ask the ledger for a purchase of the caller's key; answer with
    /// [`Call::handle_recalled`](crate::Call::handle_recalled).
    #[cfg(feature = "pay")]
    Recall,
    /// Ask what the payer has of these tokens; answer with
    /// [`Call::handle_balances`](crate::Call::handle_balances). Nothing is held meanwhile.
    #[cfg(feature = "pay")]
    Balances(Vec<Asset>),
    /// Ask whoever approves whether this may be signed; answer with
    /// [`Call::handle_approved`](crate::Call::handle_approved). Nothing is held meanwhile.
    #[cfg(feature = "pay")]
    Approve(Box<Quote>),
    /// Write the intent to sign these terms into the ledger and reserve their price; answer with
    /// [`Call::handle_intended`](crate::Call::handle_intended).
    #[cfg(feature = "pay")]
    Intend(Arc<Terms>),
    /// Have these terms signed; answer with [`Call::handle_signed`](crate::Call::handle_signed).
    #[cfg(feature = "pay")]
    Sign(Arc<Terms>),
    /// Write the signed bytes into the ledger; answer with
    /// [`Call::handle_persisted`](crate::Call::handle_persisted).
    #[cfg(feature = "pay")]
    Persist(SignedPayment),
    /// Send the request; answer with [`Call::handle_reply`](crate::Call::handle_reply),
    /// [`Call::handle_failure`](crate::Call::handle_failure) or
    /// [`Call::handle_turned_back`](crate::Call::handle_turned_back).
    Send(Outgoing),
    /// Sleep until this moment, then ask for the next action.
    Sleep(Timestamp),
    /// The call is over.
    Finish(End),
}

/// What goes with one send.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outgoing {
    /// When to cut the send short: the deadline that the caller set.
    pub cut_at: Option<Timestamp>,
    /// The payment to show, already in the ledger.
    pub(crate) payment: Option<Showing>,
}

impl Outgoing {
    /// Puts what goes with this send into the headers of the request that is about to leave.
    pub fn write(self, headers: &mut HeaderMap) {
        if let Some(payment) = self.payment {
            payment.write(headers);
        }
    }
}
