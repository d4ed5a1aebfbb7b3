//! The records of a SQLite file, within one transaction.

use std::sync::Arc;

use paywait_signals::Timestamp;
use paywait_x402::{PurchaseKey, Sealed, SignedPayment, Usd};
use rusqlite::{Connection, OptionalExtension as _, Params, params};

use super::failure::Stored as _;
use super::row::{Row, millis, sum};
use crate::shelf::Shelf;
use crate::{Fingerprint, Kept, LedgerError, Record, StoreError};

/// The records of a SQLite file. Whoever makes one has a transaction open on the connection.
#[derive(Debug)]
pub(crate) struct Pages<'a> {
    pub(crate) connection: &'a Connection,
}

impl Shelf for Pages<'_> {
    fn get(&mut self, key: PurchaseKey) -> Result<Option<Record>, LedgerError> {
        let found = self.records(BY_KEY, [key.as_bytes()])?;
        Ok(found.into_iter().next())
    }

    fn put(&mut self, record: Record) -> Result<(), LedgerError> {
        let row = Row::of(&record)?;
        self.run(
            PUT,
            params![
                row.key,
                row.fingerprint,
                row.counts_until,
                row.price,
                row.is_counted,
                row.is_left_behind,
                row.is_open,
                row.fields,
                row.sum(),
            ],
        )?;
        self.put_payments(&row.key, &record.payments)?;
        self.put_kept(&row.key, record.kept.as_deref())
    }

    fn remove(&mut self, key: PurchaseKey) -> Result<(), LedgerError> {
        self.put_payments(key.as_bytes(), &[])?;
        self.put_kept(key.as_bytes(), None)?;
        self.run(REMOVE, [key.as_bytes()])
    }

    fn used(&mut self) -> Result<Usd, LedgerError> {
        let used: String = self
            .connection
            .prepare_cached(USED)
            .and_then(|mut query| query.query_row([], |row| row.get(0)))
            .stored()?;
        Ok(used.parse().map_err(|_| StoreError::Damaged)?)
    }

    fn set_used(&mut self, used: Usd) -> Result<(), LedgerError> {
        self.run(SET_USED, [used.to_string()])
    }

    fn due(&mut self, now: Timestamp) -> Result<Option<Record>, LedgerError> {
        let first = self.records(DUE, [millis(now)])?;
        Ok(first.into_iter().find(|record| record.counts_until <= now))
    }

    fn counted(&mut self) -> Result<Vec<(Timestamp, PurchaseKey, Usd)>, LedgerError> {
        let mut query = self.connection.prepare_cached(COUNTED).stored()?;
        let columns = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let rows = query.query_map([], columns).stored()?;
        let mut counted = Vec::new();
        for row in rows {
            let (until, key, price): (i64, [u8; 32], String) = row.stored()?;
            let until = u64::try_from(until).map_err(|_| StoreError::Damaged)?;
            let price = price.parse().map_err(|_| StoreError::Damaged)?;
            let until = Timestamp::from_millis(until);
            counted.push((until, PurchaseKey::from_bytes(key), price));
        }
        Ok(counted)
    }

    fn left_behind(&mut self, fingerprint: Fingerprint) -> Result<Vec<Record>, LedgerError> {
        self.records(LEFT_BEHIND, [fingerprint.as_bytes()])
    }

    fn open(&mut self) -> Result<Vec<Record>, LedgerError> {
        self.records(OPEN, [])
    }
}

impl Pages<'_> {
    /// Returns the sum of what counts, as the records say.
    pub(crate) fn counts(&mut self) -> Result<Usd, LedgerError> {
        let counted = self.records(ALL_COUNTED, [])?;
        let prices = counted.iter().map(|record| record.stake.price);
        Ok(prices.fold(Usd::ZERO, Usd::saturating_add))
    }

    fn records(&self, query: &str, given: impl Params) -> Result<Vec<Record>, LedgerError> {
        let mut query = self.connection.prepare_cached(query).stored()?;
        let rows = query.query_map(given, columns).stored()?;
        let mut records = Vec::new();
        for row in rows {
            let (row, written): (Row, [u8; 32]) = row.stored()?;
            if row.sum() != written {
                return Err(StoreError::Damaged.into());
            }
            records.push(row.record(self.payments(&row.key)?, self.kept(&row.key)?)?);
        }
        Ok(records)
    }

    fn payments(&self, key: &[u8; 32]) -> Result<Vec<SignedPayment>, LedgerError> {
        let mut query = self.connection.prepare_cached(PAYMENTS).stored()?;
        let rows = query.query_map([key], |row| row.get(0)).stored()?;
        let mut payments = Vec::new();
        for row in rows {
            let sealed = Sealed::from_bytes(row.stored()?);
            payments.push(SignedPayment::unseal(&sealed).map_err(|_| StoreError::Damaged)?);
        }
        Ok(payments)
    }

    fn put_payments(&self, key: &[u8; 32], payments: &[SignedPayment]) -> Result<(), LedgerError> {
        for (place, payment) in payments.iter().enumerate() {
            self.run(
                PUT_PAYMENT,
                params![key, place_of(place), payment.seal().as_bytes()],
            )?;
        }
        self.run(REMOVE_PAYMENTS, params![key, place_of(payments.len())])
    }

    fn kept(&self, key: &[u8; 32]) -> Result<Option<Arc<Kept>>, LedgerError> {
        let mut query = self.connection.prepare_cached(KEPT).stored()?;
        let columns =
            |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
        let found = query.query_row([key], columns).optional().stored()?;
        let Some((status, fields, body, written)) = found else {
            return Ok(None);
        };
        let (fields, body): (String, Vec<u8>) = (fields, body);
        let written: [u8; 32] = written;
        if sum_of_kept(key, status, &fields, &body) != written {
            return Err(StoreError::Damaged.into());
        }
        let fields = serde_json::from_str(&fields).map_err(|_| StoreError::Damaged)?;
        Ok(Some(Arc::new(Kept::new(status, fields, body))))
    }

    fn put_kept(&self, key: &[u8; 32], kept: Option<&Kept>) -> Result<(), LedgerError> {
        let Some(kept) = kept else {
            return self.run(REMOVE_KEPT, [key]);
        };
        let fields = serde_json::to_string(&kept.fields).map_err(|_| StoreError::Damaged)?;
        let sum = sum_of_kept(key, kept.status, &fields, &kept.body);
        self.run(PUT_KEPT, params![key, kept.status, fields, kept.body, sum])
    }

    fn run(&self, statement: &str, given: impl Params) -> Result<(), LedgerError> {
        let mut statement = self.connection.prepare_cached(statement).stored()?;
        statement.execute(given).stored()?;
        Ok(())
    }
}

fn columns(row: &rusqlite::Row<'_>) -> rusqlite::Result<(Row, [u8; 32])> {
    let columns = Row {
        key: row.get(0)?,
        fingerprint: row.get(1)?,
        counts_until: row.get(2)?,
        price: row.get(3)?,
        is_counted: row.get(4)?,
        is_left_behind: row.get(5)?,
        is_open: row.get(6)?,
        fields: row.get(7)?,
    };
    Ok((columns, row.get(8)?))
}

fn sum_of_kept(key: &[u8; 32], status: u16, fields: &str, body: &[u8]) -> [u8; 32] {
    let status = status.to_be_bytes();
    sum([key, status.as_slice(), fields.as_bytes(), body])
}

fn place_of(place: usize) -> i64 {
    i64::try_from(place).unwrap_or(i64::MAX)
}

/// The tables of an empty ledger. A payment and a kept response stand beside the row of their
/// purchase, since they are written once and the row often.
pub(crate) const TABLES: &str = "
CREATE TABLE purchase (
  key BLOB NOT NULL PRIMARY KEY,
  fingerprint BLOB NOT NULL,
  counts_until INTEGER NOT NULL,
  price TEXT NOT NULL,
  is_counted INTEGER NOT NULL,
  is_left_behind INTEGER NOT NULL,
  is_open INTEGER NOT NULL,
  fields TEXT NOT NULL,
  sum BLOB NOT NULL
) STRICT;
CREATE INDEX counted ON purchase (counts_until, key, price) WHERE is_counted;
CREATE INDEX left_behind ON purchase (fingerprint, key) WHERE is_left_behind;
CREATE INDEX open ON purchase (key) WHERE is_open;
CREATE TABLE payment (
  key BLOB NOT NULL,
  place INTEGER NOT NULL,
  sealed BLOB NOT NULL,
  PRIMARY KEY (key, place)
) STRICT;
CREATE TABLE kept (
  key BLOB NOT NULL PRIMARY KEY,
  status INTEGER NOT NULL,
  fields TEXT NOT NULL,
  body BLOB NOT NULL,
  sum BLOB NOT NULL
) STRICT;
CREATE TABLE total (
  one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
  used TEXT NOT NULL
) STRICT;
INSERT INTO total VALUES (1, '0');
";

/// Begins each query for whole records.
macro_rules! purchases {
    ($rest:literal) => {
        concat!(
            "SELECT key, fingerprint, counts_until, price, is_counted, is_left_behind, is_open, ",
            "fields, sum FROM purchase ",
            $rest
        )
    };
}

const BY_KEY: &str = purchases!("WHERE key = ?");
const DUE: &str =
    purchases!("WHERE is_counted AND counts_until <= ? ORDER BY counts_until, key LIMIT 1");
const ALL_COUNTED: &str = purchases!("WHERE is_counted");
const LEFT_BEHIND: &str = purchases!("WHERE is_left_behind AND fingerprint = ? ORDER BY key");
const OPEN: &str = purchases!("WHERE is_open ORDER BY key");
const PUT: &str = "INSERT INTO purchase VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) \
    ON CONFLICT (key) DO UPDATE SET fingerprint = excluded.fingerprint, \
    counts_until = excluded.counts_until, price = excluded.price, \
    is_counted = excluded.is_counted, is_left_behind = excluded.is_left_behind, \
    is_open = excluded.is_open, fields = excluded.fields, sum = excluded.sum";
const REMOVE: &str = "DELETE FROM purchase WHERE key = ?";
const COUNTED: &str =
    "SELECT counts_until, key, price FROM purchase WHERE is_counted ORDER BY counts_until, key";
const USED: &str = "SELECT used FROM total WHERE one = 1";
const SET_USED: &str = "UPDATE total SET used = ? WHERE one = 1";
const PAYMENTS: &str = "SELECT sealed FROM payment WHERE key = ? ORDER BY place";
const PUT_PAYMENT: &str = "INSERT INTO payment VALUES (?, ?, ?) ON CONFLICT (key, place) \
    DO UPDATE SET sealed = excluded.sealed WHERE sealed <> excluded.sealed";
const REMOVE_PAYMENTS: &str = "DELETE FROM payment WHERE key = ? AND place >= ?";
const KEPT: &str = "SELECT status, fields, body, sum FROM kept WHERE key = ?";
const PUT_KEPT: &str = "INSERT INTO kept VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) \
    DO UPDATE SET status = excluded.status, fields = excluded.fields, body = excluded.body, \
    sum = excluded.sum WHERE sum <> excluded.sum";
const REMOVE_KEPT: &str = "DELETE FROM kept WHERE key = ?";
