//! What a payment means for one reply: told by whoever paid, never read from headers here.

/// What a payment means for one reply.
///
/// The classifier knows no payment headers. Whoever sent the request says whether it carried a
/// payment, what offer and receipt came back, and whether the same signed bytes can be shown
/// again at no cost.
#[non_exhaustive]
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Standing {
    /// Whether the request that was refused carried a payment.
    pub paid: bool,
    /// The way to pay that came with the reply.
    pub offer: OfferStanding,
    /// What the reply says of the payment that the request carried.
    pub receipt: ReceiptStanding,
    /// Whether the same signed bytes may be shown again after this reply, at no further cost.
    pub may_show_again: bool,
}

impl Standing {
    /// Returns the standing of a reply to a request without a payment and with no way to pay.
    pub fn unpaid() -> Self {
        Self::default()
    }

    /// Returns the standing of a reply to an unpaid request that came with `offer`.
    pub fn offered(offer: OfferStanding) -> Self {
        Self {
            offer,
            ..Self::default()
        }
    }

    /// Returns the standing of a reply to a request that carried a payment.
    pub fn paid(receipt: ReceiptStanding, may_show_again: bool) -> Self {
        Self {
            paid: true,
            receipt,
            may_show_again,
            ..Self::default()
        }
    }
}

/// The way to pay that came with a reply.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum OfferStanding {
    /// None came.
    #[default]
    None,
    /// One came that can be read and has at least one entry to pay.
    Payable,
    /// One came that cannot be read, or that has no entry.
    Unreadable,
}

/// What a reply says of the payment that its request carried.
#[non_exhaustive]
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum ReceiptStanding {
    /// Nothing: no receipt came.
    #[default]
    None,
    /// A receipt came that cannot be read. Money may have moved.
    Unreadable,
    /// The payment settled.
    Settled,
    /// The payment was broadcast and waits for the chain. Money is on its way.
    Pending,
    /// The seller says that this send did not settle.
    Failed {
        /// What that statement is worth.
        class: FailureClass,
        /// The reason as the seller gave it: a code, or free text. Bounded by the reader.
        reason: String,
    },
}

/// What a seller's statement that a payment failed is worth.
///
/// A statement speaks of its own send only: the authorization itself stays valid until it
/// expires.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FailureClass {
    /// A known code that is given before anything is broadcast: this send moved nothing.
    BeforeBroadcast,
    /// A known code that says the nonce was used: some send of this payment settled.
    AlreadyUsed,
    /// A transaction hash, a code that is not known, or free text: money may have moved.
    Unknown,
}
