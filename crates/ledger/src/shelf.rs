//! What the rules of a ledger need of a store.

use std::sync::Arc;

use paywait_signals::Timestamp;
use paywait_x402::alloy_primitives::{Address, U256};
use paywait_x402::{Asset, PurchaseKey};

use crate::meter::Meter;
use crate::term::Term;
use crate::{Fingerprint, LedgerError, Origin, Record};

/// What the rules of a ledger need of a store, within one transaction.
pub(crate) trait Shelf {
    /// Returns a record.
    fn get(&mut self, key: PurchaseKey) -> Result<Option<Record>, LedgerError>;

    /// Writes a record, new or in place of the one of its key. It is found by what it is posted under.
    fn put(&mut self, record: Record) -> Result<(), LedgerError>;

    /// Takes a record away.
    fn remove(&mut self, key: PurchaseKey) -> Result<(), LedgerError>;

    /// Whether records stay for statements when no limit needs them any more.
    fn keeps_all(&self) -> bool;

    /// Shows each record, in no order.
    fn each(&mut self, see: &mut dyn FnMut(Record)) -> Result<(), LedgerError>;

    /// Returns all that is summed.
    fn meters(&mut self) -> Result<Arc<[Meter]>, LedgerError>;

    /// Has one more thing summed, from nothing.
    fn add_meter(&mut self, meter: &Meter) -> Result<(), LedgerError>;

    /// Returns a sum.
    fn sum(&mut self, meter: &Meter, subject: &str) -> Result<U256, LedgerError>;

    /// Writes a sum.
    fn set_sum(&mut self, meter: &Meter, subject: &str, sum: U256) -> Result<(), LedgerError>;

    /// Returns a record that is posted until `now` at the latest, and under what.
    fn due(&mut self, now: Timestamp) -> Result<Option<(Term, Record)>, LedgerError>;

    /// Returns at most `most` of the records that are posted under `term` and not for ever, with the
    /// moment until which they are, those that end first first.
    fn posted(
        &mut self,
        term: Term,
        most: usize,
    ) -> Result<Vec<(Timestamp, PurchaseKey)>, LedgerError>;

    /// Returns the records of a request that are [left behind](Record::is_left_behind).
    fn left_behind(&mut self, fingerprint: Fingerprint) -> Result<Vec<Record>, LedgerError>;

    /// Returns the records that are [open](Record::is_open).
    fn open(&mut self) -> Result<Vec<Record>, LedgerError>;

    /// Returns whether everything is halted.
    fn is_halted(&mut self) -> Result<bool, LedgerError>;

    /// Writes whether everything is halted.
    fn set_halted(&mut self, halted: bool) -> Result<(), LedgerError>;

    /// Returns the one payee of an origin and token, if one is pinned.
    fn pin(&mut self, origin: &Origin, asset: Asset) -> Result<Option<Address>, LedgerError>;

    /// Pins the payee of an origin and token, or takes the pin away.
    fn set_pin(
        &mut self,
        origin: &Origin,
        asset: Asset,
        payee: Option<Address>,
    ) -> Result<(), LedgerError>;
}
