//! One record per purchase, and limits as sums over records.
//!
//! A ledger is written *before* money is put at risk: the intent and its hold before the
//! signature, the signed bytes before the first of them leaves. What it holds is never taken back
//! by what a seller says; a hold ends by a receipt, or it stays counted as spent.
//!
//! [`MemoryLedger`] keeps the records of one process. A restart forgets them.

mod books;
mod intent;
mod ledger;
mod limits;
mod memory;

pub use intent::{Fingerprint, Intent};
pub use ledger::{Durable, Epoch, Ledger, LedgerError, Taken};
pub use limits::{Limits, PerCall};
pub use memory::MemoryLedger;
