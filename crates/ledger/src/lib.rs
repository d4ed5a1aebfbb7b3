//! One record per purchase, and limits as sums over records.
//!
//! A ledger is written *before* money is put at risk: the intent and its hold before the
//! signature, the signed bytes before the first of them leaves. What it holds is never taken back
//! by what a seller says; a hold ends by a receipt, or it stays counted as spent.
//!
//! [`MemoryLedger`] keeps the records of one process. A restart forgets them. `SqliteLedger`
//! (feature `sqlite`) keeps them in a file that the processes of one machine share.

mod books;
mod bounds;
mod fingerprint;
mod intent;
mod label;
mod ledger;
mod limit;
mod limits;
mod line;
mod memory;
mod meter;
mod note;
mod origin;
mod over_limit;
mod owner;
mod period;
mod pin;
mod quantity;
mod reconcile;
mod record;
mod resolution;
mod shelf;
#[cfg(feature = "sqlite")]
mod sqlite;
mod stake;
mod statement;
mod store_error;
mod sums;
mod table;
mod tenure;
mod term;

pub use fingerprint::Fingerprint;
pub use intent::Intent;
pub use label::{Label, LabelError};
pub use ledger::{Durable, Ledger, LedgerError, Standing, Taken};
pub use limit::{Limit, Reach};
pub use limits::{Limits, PerCall};
pub use line::{Line, Outcome};
pub use memory::MemoryLedger;
pub use note::{Kept, Note};
pub use origin::{NoOrigin, Origin};
pub use over_limit::OverLimit;
pub use owner::Owner;
pub use period::Period;
pub use pin::Pin;
pub use quantity::Quantity;
pub use reconcile::{Reconciled, reconcile};
pub use record::Record;
pub use resolution::Resolution;
#[cfg(feature = "sqlite")]
pub use sqlite::{OpenError, SqliteLedger, SqliteOptions};
pub use stake::{OnDeath, Stake};
pub use statement::{By, Statement, Total};
pub use store_error::StoreError;
pub use table::{Table, printable};
