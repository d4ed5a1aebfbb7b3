//! One scripted answer: what a route does with one request in place of its ordinary road.

use std::time::Duration;

use alloy_primitives::U256;
use http::StatusCode;

use crate::{Canned, Fault};

/// One scripted answer, used up by one request.
///
/// A route has two scripts: [`Route::script`](crate::Route::script) gives a step to every request,
/// [`Route::paid_script`](crate::Route::paid_script) one to every request with a readable payment.
/// A step that speaks of a payment does nothing to a request without one, and to a payment that
/// is refused.
///
/// What a facilitator does to the reference server, in steps:
///
/// | the facilitator | step |
/// |---|---|
/// | is down when asked to verify | `Step::refused("fetch failed")` |
/// | is too slow to verify | `Step::reply` of a 502 |
/// | refuses to settle | `Step::settle_failed("insufficient_funds")` |
/// | settles, and its answer is lost | `Step::settle_failed_but_moved("fetch failed")` |
/// | settles, and is too slow | `Step::settled_silently` of a 502 |
/// | broadcasts and waits in vain | `Step::pending` |
///
/// ```
/// use std::time::Duration;
/// use http::StatusCode;
/// use paywait_seller::{Canned, Step};
///
/// let settles_then_fails = Step::settled(Canned::new(StatusCode::INTERNAL_SERVER_ERROR));
/// let settles_and_dies = Step::normal().reset();
/// let settles_and_is_late = Step::normal().late(Duration::from_secs(30));
/// let dies_unseen = Step::unseen().reset();
/// # let _ = (settles_then_fails, settles_and_dies, settles_and_is_late, dies_unseen);
/// ```
#[derive(Clone, Debug)]
pub struct Step {
    pub(crate) act: Act,
    pub(crate) fault: Option<Fault>,
    pub(crate) price: Option<U256>,
}

/// What a step does at its place on the road.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// The ordinary road.
    Normal,
    /// Before anything looks at the payment.
    Unseen(Canned),
    /// The payment is looked at, and its ordinary road is left.
    Paid(PaidAct),
}

/// What a step does with a payment that would have been served.
#[derive(Clone, Debug)]
pub(crate) enum PaidAct {
    /// The payment is accepted and not settled.
    Verified(Canned),
    /// The payment is settled.
    Settled { reply: Canned, receipt: bool },
    /// The payment is broadcast and not confirmed; `None`: it will never be mined.
    Pending { mined_after: Option<Duration> },
    /// 402 with a receipt that says no.
    Failed { reason: String, moved: bool },
    /// 402 with a fresh offer whose `error` is this.
    Refused { reason: String, moved: bool },
}

impl Step {
    const fn new(act: Act) -> Self {
        Self {
            act,
            fault: None,
            price: None,
        }
    }

    /// The ordinary road.
    pub const fn normal() -> Self {
        Self::new(Act::Normal)
    }

    /// Answers `reply` before anything looks at the payment: 429, 503, a redirect.
    pub const fn reply(reply: Canned) -> Self {
        Self::new(Act::Unseen(reply))
    }

    /// Looks at nothing and has nothing to say (503): to be joined with a fault, as in
    /// `Step::unseen().reset()`.
    pub fn unseen() -> Self {
        Self::reply(Canned::new(StatusCode::SERVICE_UNAVAILABLE))
    }

    /// Answers 402 with the body `{}` and no x402 header, before anything looks at the payment:
    /// the reference server's last resort.
    pub fn bare_402() -> Self {
        Self::reply(Canned::json(StatusCode::PAYMENT_REQUIRED, "{}"))
    }

    /// Accepts the payment, does not settle it, and answers `reply`. The authorization stays
    /// good for the seller.
    pub const fn verified(reply: Canned) -> Self {
        Self::new(Act::Paid(PaidAct::Verified(reply)))
    }

    /// Settles the payment, then answers `reply` with a receipt, whatever its status.
    pub const fn settled(reply: Canned) -> Self {
        Self::new(Act::Paid(PaidAct::Settled {
            reply,
            receipt: true,
        }))
    }

    /// Settles the payment, then answers `reply` without a receipt.
    pub const fn settled_silently(reply: Canned) -> Self {
        Self::new(Act::Paid(PaidAct::Settled {
            reply,
            receipt: false,
        }))
    }

    /// Broadcasts the payment and answers 402 with `settlement_pending` and a transaction. It is
    /// mined `mined_after` later, or when the same bytes come to be settled again.
    pub const fn pending(mined_after: Duration) -> Self {
        Self::new(Act::Paid(PaidAct::Pending {
            mined_after: Some(mined_after),
        }))
    }

    /// Answers like [`pending`](Self::pending), and the transaction is never mined.
    pub const fn pending_and_lost() -> Self {
        Self::new(Act::Paid(PaidAct::Pending { mined_after: None }))
    }

    /// Answers 402 with a receipt that says `success:false`, `reason` and no transaction. No
    /// money moves.
    pub fn settle_failed(reason: impl Into<String>) -> Self {
        Self::new(Act::Paid(PaidAct::Failed {
            reason: reason.into(),
            moved: false,
        }))
    }

    /// Answers like [`settle_failed`](Self::settle_failed) although money moved: a facilitator
    /// whose answer was lost (`fetch failed`).
    pub fn settle_failed_but_moved(reason: impl Into<String>) -> Self {
        Self::new(Act::Paid(PaidAct::Failed {
            reason: reason.into(),
            moved: true,
        }))
    }

    /// Accepts the payment, and answers 402 with the offer and `reason` as its `error` all the
    /// same. No money moves.
    pub fn refused(reason: impl Into<String>) -> Self {
        Self::new(Act::Paid(PaidAct::Refused {
            reason: reason.into(),
            moved: false,
        }))
    }

    /// Answers like [`refused`](Self::refused) and takes the money: a dishonest seller.
    pub fn refused_but_moved(reason: impl Into<String>) -> Self {
        Self::new(Act::Paid(PaidAct::Refused {
            reason: reason.into(),
            moved: true,
        }))
    }

    /// Sets the price of the route's first terms, in atomic units, from this request on.
    #[must_use]
    pub const fn price(mut self, amount: U256) -> Self {
        self.price = Some(amount);
        self
    }

    /// Spoils the answer on the wire.
    #[must_use]
    pub const fn fault(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// Resets the connection in place of answering.
    #[must_use]
    pub const fn reset(self) -> Self {
        self.fault(Fault::Reset)
    }

    /// Says nothing for `silence`, then closes the connection.
    #[must_use]
    pub const fn stall(self, silence: Duration) -> Self {
        self.fault(Fault::Stall(silence))
    }

    /// Sends the answer `delay` later.
    #[must_use]
    pub const fn late(self, delay: Duration) -> Self {
        self.fault(Fault::Late(delay))
    }

    /// Sends half of the body, then closes the connection.
    #[must_use]
    pub const fn half_body(self) -> Self {
        self.fault(Fault::HalfBody)
    }

    /// Sends the body event by event with a gap before each.
    #[must_use]
    pub const fn slow_events(self, gap: Duration) -> Self {
        self.fault(Fault::SlowEvents(gap))
    }
}
