//! What the rules of a ledger need of a store.

use paywait_signals::Timestamp;
use paywait_x402::{PurchaseKey, Usd};

use crate::{Fingerprint, LedgerError, Record};

/// What the rules of a ledger need of a store, within one transaction.
pub(crate) trait Shelf {
    /// Returns a record.
    fn get(&mut self, key: PurchaseKey) -> Result<Option<Record>, LedgerError>;

    /// Writes a record, new or in place of the one of its key.
    fn put(&mut self, record: Record) -> Result<(), LedgerError>;

    /// Takes a record away.
    fn remove(&mut self, key: PurchaseKey) -> Result<(), LedgerError>;

    /// Returns the sum of the prices of all records that count.
    fn used(&mut self) -> Result<Usd, LedgerError>;

    /// Writes that sum.
    fn set_used(&mut self, used: Usd) -> Result<(), LedgerError>;

    /// Returns a record that counts, and does so until `now` at the latest.
    fn due(&mut self, now: Timestamp) -> Result<Option<Record>, LedgerError>;

    /// Returns the records that count: until when, which, and how much, those that end first first.
    fn counted(&mut self) -> Result<Vec<(Timestamp, PurchaseKey, Usd)>, LedgerError>;

    /// Returns the records of a request that are [left behind](Record::is_left_behind).
    fn left_behind(&mut self, fingerprint: Fingerprint) -> Result<Vec<Record>, LedgerError>;

    /// Returns the records that are [open](Record::is_open).
    fn open(&mut self) -> Result<Vec<Record>, LedgerError>;
}
