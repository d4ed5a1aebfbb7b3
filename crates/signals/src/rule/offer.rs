//! A 402 with a price is an offer, whatever else it says.

use crate::refusal::Refusal;
use crate::{Action, Decision, OfferStanding, Reason, Signal};

/// Pays what can be paid, and stops where the offer cannot be read.
pub(super) fn decide(refusal: &Refusal<'_>) -> Option<Decision> {
    if refusal.status != 402 || refusal.standing.paid {
        return None;
    }
    match refusal.standing.offer {
        OfferStanding::None => None,
        OfferStanding::Payable => {
            Some(refusal.decide(Action::Pay, Reason::PaymentOffer, Signal::Payment))
        }
        OfferStanding::Unreadable => Some(refusal.stop(Reason::OfferUnreadable, Signal::Payment)),
    }
}
