//! When the next send may go.
//!
//! [`Pacer`] is the rule: pure, with `now` as an argument. It keeps one quota window for each
//! origin, as the server's `RateLimit` fields tell it, and books a slot for each send: first come,
//! first served, and never earlier than the window allows. [`QuotaStore`] is where a pacer is kept:
//! [`MemoryStore`] in this process.
//!
//! What is not known is not limited: an origin that tells nothing is not slowed down.

mod key;
mod memory;
mod origin;
mod pacer;
mod seen;
mod store;

pub use key::PaceKey;
pub use memory::MemoryStore;
pub use pacer::{Cost, Pacer, Permit, Slot};
pub use seen::Seen;
pub use store::{Answer, QuotaStore};
