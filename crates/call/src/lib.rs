//! The machine of one call: it is told what happened and says what to do next.
//!
//! Pure. It reads no clock, opens no socket and writes no file; a driver does what it asks and
//! tells it how that went. So the same code that decides in production is driven through
//! thousands of schedules in a test.
//!
//! # The order of things
//!
//! 1. Ask [`Call::next`] for an [`Action`].
//! 2. Do it.
//! 3. Tell the call by the `handle_` method that the action names; go to 1.
//!
//! What is asked of people and of services outside is asked before anything is admitted or held.
//! Admission comes before signing, so that a signature does not age in a queue. The intent is
//! written before the signature, and the signed bytes before the first of them leaves: a
//! [`Action::Send`] with a payment is handed out only after the `Persist` of that
//! payment was confirmed.
//!
//! # Features
//!
//! `pay` adds the paying side. Without it a call waits and stops, and never pays.

mod action;
mod answered;
#[cfg(feature = "pay")]
mod buyer;
#[cfg(not(feature = "pay"))]
#[path = "no_buyer.rs"]
mod buyer;
#[cfg(feature = "pay")]
mod buying;
mod call;
mod course;
mod end;
#[cfg(feature = "pay")]
mod errand;
mod facts;
#[cfg(feature = "pay")]
mod means;
mod patience;
#[cfg(feature = "pay")]
mod question;
mod repeats;
mod report;

pub use action::{Action, Outgoing};
pub use answered::Answered;
#[cfg(feature = "pay")]
pub use buying::{Intended, Recalled};
pub use call::Call;
pub use end::{End, NotPaid};
pub use facts::{Facts, Failure, FailureKind};
#[cfg(feature = "pay")]
pub use means::Means;
pub use patience::Patience;
#[cfg(feature = "pay")]
pub use question::NotApproved;
#[cfg(feature = "pay")]
pub use report::Paid;
pub use report::{Answer, Report, Sent};
