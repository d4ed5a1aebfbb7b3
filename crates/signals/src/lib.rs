//! What did the server say, and what to do about it.

mod body;
mod classify;
mod code;
mod decision;
mod moment;
mod policy;
mod provider;
mod reason;
mod refusal;
mod reply;
mod retry_after;
mod rule;
mod skew;
mod standing;
mod structured;
mod timestamp;
mod window;

pub use classify::classify;
pub use decision::{Action, Decision, Signal};
pub use policy::Policy;
pub use reason::Reason;
pub use reply::Reply;
pub use retry_after::{Hint, retry_after};
pub use skew::clock_ahead;
pub use standing::{FailureClass, OfferStanding, ReceiptStanding, Standing};
pub use timestamp::Timestamp;
pub use window::{Unit, Window, windows};
