//! What did the server say, and what to do about it.

mod decision;
mod reason;
mod reply;
mod standing;
mod timestamp;

pub use decision::{Action, Decision, Signal};
pub use reason::Reason;
pub use reply::Reply;
pub use standing::{FailureClass, OfferStanding, ReceiptStanding, Standing};
pub use timestamp::Timestamp;
