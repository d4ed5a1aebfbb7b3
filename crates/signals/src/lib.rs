//! What did the server say, and what to do about it.

mod classify;
mod decision;
mod policy;
mod reason;
mod reply;
mod retry_after;
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
pub use standing::{FailureClass, OfferStanding, ReceiptStanding, Standing};
pub use structured::windows;
pub use timestamp::Timestamp;
pub use window::{Unit, Window};
