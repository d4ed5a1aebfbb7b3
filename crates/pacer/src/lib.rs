//! When the next send may go.
//!
//! A server that reports its quota says how many requests are left and until when. A [`Pacer`]
//! keeps one such window an origin and answers one question before each send: at which time may it
//! go? It **books** a [`Slot`] at that time, first come first served; at that time the slot becomes
//! the [`Permit`] for one send; the reply settles the permit and tells what is left.
//!
//! The pacer is pure: the time is an argument and nothing sleeps. Layers reach it through a
//! [`QuotaStore`], in memory ([`MemoryStore`]) or shared by a fleet.
//!
//! ```
//! use std::time::Duration;
//! use paywait_pacer::{Cost, PaceKey, Pacer, Seen};
//! use paywait_signals::Timestamp;
//!
//! let mut pacer = Pacer::default();
//! let key = PaceKey::origin("https", "api.example", 443);
//! let now = Timestamp::from_secs(100);
//!
//! let slot = pacer.admit(&key, Cost::default(), now);
//! assert_eq!(slot.at(), now); // nothing is known yet
//! let permit = pacer.confirm(slot, now).expect("its time has come");
//!
//! // the reply says: one left, for the next 60 seconds
//! let mut seen = Seen::default();
//! seen.remaining = Some(1);
//! seen.reset_in = Some(Duration::from_secs(60));
//! pacer.observe(&key, Some(permit), &seen, now);
//!
//! let first = pacer.admit(&key, Cost::default(), now);
//! let second = pacer.admit(&key, Cost::default(), now);
//! assert_eq!(first.at(), now);
//! assert_eq!(second.at(), Timestamp::from_secs(160));
//! ```

mod cost;
mod key;
mod lane;
mod memory;
mod pacer;
mod permit;
mod seen;
mod slot;
mod store;
mod tally;
mod window;

pub use cost::Cost;
pub use key::PaceKey;
pub use memory::MemoryStore;
pub use pacer::Pacer;
pub use permit::Permit;
pub use seen::Seen;
pub use slot::Slot;
pub use store::{QuotaStore, StoreFuture};
