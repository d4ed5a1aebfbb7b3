//! The records of a SQLite file, within one transaction.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use paywait_signals::Timestamp;
use paywait_x402::alloy_primitives::{Address, U256};
use paywait_x402::{Asset, PurchaseKey, Sealed, SignedPayment};
use rusqlite::{Connection, OptionalExtension as _, Params, params};

use super::failure::Stored as _;
use super::row::{Row, millis, sum};
use crate::meter::Meter;
use crate::shelf::Shelf;
use crate::sums::{Shares, add_up};
use crate::term::Term;
use crate::{Fingerprint, Kept, LedgerError, Origin, Pin, Record, StoreError};

/// The records of a SQLite file. Whoever makes one has a transaction open on the connection.
#[derive(Debug)]
pub(crate) struct Pages<'a> {
    connection: &'a Connection,
    /// As they are in this transaction, once they were read.
    meters: Option<Arc<[Meter]>>,
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
                row.is_left_behind,
                row.is_open,
                row.fields,
                row.sum(),
            ],
        )?;
        self.put_postings(&row.key, &record.posted)?;
        self.put_payments(&row.key, &record.payments)?;
        self.put_kept(&row.key, record.kept.as_deref())
    }

    fn remove(&mut self, key: PurchaseKey) -> Result<(), LedgerError> {
        self.put_postings(key.as_bytes(), &BTreeMap::new())?;
        self.put_payments(key.as_bytes(), &[])?;
        self.put_kept(key.as_bytes(), None)?;
        self.run(REMOVE, [key.as_bytes()])
    }

    fn keeps_all(&self) -> bool {
        true
    }

    fn each(&mut self, see: &mut dyn FnMut(Record)) -> Result<(), LedgerError> {
        self.visit(ALL, [], see)
    }

    fn meters(&mut self) -> Result<Arc<[Meter]>, LedgerError> {
        if let Some(meters) = &self.meters {
            return Ok(Arc::clone(meters));
        }
        let meters: Vec<Meter> = self.texts(METERS)?;
        let meters: Arc<[Meter]> = meters.into();
        self.meters = Some(Arc::clone(&meters));
        Ok(meters)
    }

    fn add_meter(&mut self, meter: &Meter) -> Result<(), LedgerError> {
        self.meters = None;
        self.run(ADD_METER, [meter.to_string()])
    }

    fn sum(&mut self, meter: &Meter, subject: &str) -> Result<U256, LedgerError> {
        let mut query = self.connection.prepare_cached(SUM).stored()?;
        let found = query.query_row([meter.to_string().as_str(), subject], |row| row.get(0));
        let found: Option<String> = found.optional().stored()?;
        found.map_or(Ok(U256::ZERO), |sum| Ok(number(&sum)?))
    }

    fn set_sum(&mut self, meter: &Meter, subject: &str, sum: U256) -> Result<(), LedgerError> {
        let meter = meter.to_string();
        if sum.is_zero() {
            self.run(REMOVE_SUM, [meter.as_str(), subject])
        } else {
            self.run(SET_SUM, [&meter, subject, &sum.to_string()])
        }
    }

    fn due(&mut self, now: Timestamp) -> Result<Option<(Term, Record)>, LedgerError> {
        let mut query = self.connection.prepare_cached(DUE).stored()?;
        let columns = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let found = query
            .query_row([millis(now)], columns)
            .optional()
            .stored()?;
        let Some((term, key)) = found else {
            return Ok(None);
        };
        let (term, key): (String, [u8; 32]) = (term, key);
        let term = term.parse().map_err(|()| StoreError::Damaged)?;
        let record = self.get(PurchaseKey::from_bytes(key))?;
        let record = record.ok_or(StoreError::Damaged)?;
        // what lists it is not what says that it counts no more
        let until = record.posted.get(&term).ok_or(StoreError::Damaged)?;
        match *until <= now {
            true => Ok(Some((term, record))),
            false if millis(*until) == i64::MAX => Ok(None),
            false => Err(StoreError::Damaged.into()),
        }
    }

    fn posted(
        &mut self,
        term: Term,
        most: usize,
    ) -> Result<Vec<(Timestamp, PurchaseKey)>, LedgerError> {
        let mut query = self.connection.prepare_cached(POSTED).stored()?;
        let columns = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let rows = query.query_map(params![term.to_string(), place_of(most)], columns);
        let mut posted = Vec::new();
        for row in rows.stored()? {
            let (until, key): (i64, [u8; 32]) = row.stored()?;
            let until = u64::try_from(until).map_err(|_| StoreError::Damaged)?;
            posted.push((Timestamp::from_millis(until), PurchaseKey::from_bytes(key)));
        }
        Ok(posted)
    }

    fn left_behind(&mut self, fingerprint: Fingerprint) -> Result<Vec<Record>, LedgerError> {
        self.records(LEFT_BEHIND, [fingerprint.as_bytes()])
    }

    fn open(&mut self) -> Result<Vec<Record>, LedgerError> {
        self.records(OPEN, [])
    }

    fn is_halted(&mut self) -> Result<bool, LedgerError> {
        let mut query = self.connection.prepare_cached(HALTED).stored()?;
        Ok(query.query_row([], |row| row.get(0)).stored()?)
    }

    fn set_halted(&mut self, halted: bool) -> Result<(), LedgerError> {
        self.run(SET_HALTED, [halted])
    }

    fn pin(&mut self, origin: &Origin, asset: Asset) -> Result<Option<Address>, LedgerError> {
        let mut query = self.connection.prepare_cached(PIN).stored()?;
        let of = [origin.as_str(), &asset.to_string()];
        let found = query.query_row(of, |row| row.get(0)).optional().stored()?;
        let found: Option<[u8; 20]> = found;
        Ok(found.map(Address::from))
    }

    fn set_pin(
        &mut self,
        origin: &Origin,
        asset: Asset,
        payee: Option<Address>,
    ) -> Result<(), LedgerError> {
        let (origin, asset) = (origin.as_str(), asset.to_string());
        match payee {
            Some(payee) => self.run(SET_PIN, params![origin, asset, payee.into_array()]),
            None => self.run(REMOVE_PIN, [origin, &asset]),
        }
    }
}

impl<'a> Pages<'a> {
    pub(crate) const fn new(connection: &'a Connection) -> Self {
        let meters = None;
        Self { connection, meters }
    }

    /// Returns the sums as the records say them.
    pub(crate) fn counted(&mut self) -> Result<Shares, LedgerError> {
        let meters = self.meters()?;
        let mut sums = Shares::new();
        self.visit(ALL, [], &mut |record| add_up(&mut sums, &meters, &record))?;
        sums.retain(|_, sum| !sum.is_zero());
        Ok(sums)
    }

    /// Returns the sums as they are written.
    pub(crate) fn sums(&mut self) -> Result<Shares, LedgerError> {
        let mut query = self.connection.prepare_cached(SUMS).stored()?;
        let columns = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let mut sums = Shares::new();
        for row in query.query_map([], columns).stored()? {
            let (meter, subject, sum): (String, String, String) = row.stored()?;
            let meter = meter.parse().map_err(|()| StoreError::Damaged)?;
            sums.insert((meter, subject), number(&sum)?);
        }
        Ok(sums)
    }

    /// Writes all sums anew.
    pub(crate) fn set_sums(&mut self, sums: &Shares) -> Result<(), LedgerError> {
        self.run(REMOVE_SUMS, [])?;
        for ((meter, subject), sum) in sums {
            self.set_sum(meter, subject, *sum)?;
        }
        Ok(())
    }

    /// Returns all pins.
    pub(crate) fn pins(&mut self) -> Result<Vec<Pin>, LedgerError> {
        let mut query = self.connection.prepare_cached(PINS).stored()?;
        let columns = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let mut pins = Vec::new();
        for row in query.query_map([], columns).stored()? {
            let (origin, asset, payee): (String, String, [u8; 20]) = row.stored()?;
            pins.push(Pin {
                origin: origin.parse().map_err(|_| StoreError::Damaged)?,
                asset: asset.parse().map_err(|_| StoreError::Damaged)?,
                payee: payee.into(),
            });
        }
        Ok(pins)
    }

    fn records(&self, query: &str, given: impl Params) -> Result<Vec<Record>, LedgerError> {
        let mut records = Vec::new();
        self.visit(query, given, &mut |record| records.push(record))?;
        Ok(records)
    }

    fn visit(
        &self,
        query: &str,
        given: impl Params,
        see: &mut dyn FnMut(Record),
    ) -> Result<(), LedgerError> {
        let mut query = self.connection.prepare_cached(query).stored()?;
        for row in query.query_map(given, columns).stored()? {
            let (row, written): (Row, [u8; 32]) = row.stored()?;
            if row.sum() != written {
                return Err(StoreError::Damaged.into());
            }
            let fields = row.fields()?;
            let payments = match fields.payments {
                0 => Vec::new(),
                _ => self.payments(&row.key)?,
            };
            let kept = match fields.has_kept {
                true => self.kept(&row.key)?,
                false => None,
            };
            see(row.record(fields, payments, kept)?);
        }
        Ok(())
    }

    fn texts<T: FromStr>(&self, query: &str) -> Result<Vec<T>, LedgerError> {
        let mut query = self.connection.prepare_cached(query).stored()?;
        let mut read = Vec::new();
        for row in query.query_map([], |row| row.get(0)).stored()? {
            let text: String = row.stored()?;
            read.push(text.parse().map_err(|_| StoreError::Damaged)?);
        }
        Ok(read)
    }

    /// Writes what a record is posted under. What it is posted under for ever is never due.
    fn put_postings(
        &self,
        key: &[u8; 32],
        posted: &BTreeMap<Term, Timestamp>,
    ) -> Result<(), LedgerError> {
        let due = posted.iter().filter(|(_, until)| **until < Timestamp::MAX);
        let due = due.map(|(term, until)| (term.to_string(), millis(*until)));
        let mut new: BTreeMap<String, i64> = due.collect();
        let mut query = self.connection.prepare_cached(POSTINGS).stored()?;
        let columns = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        for row in query.query_map([key], columns).stored()? {
            let (term, until): (String, i64) = row.stored()?;
            if new.get(&term) == Some(&until) {
                new.remove(&term);
            } else if !new.contains_key(&term) {
                self.run(REMOVE_POSTING, params![key, term])?;
            }
        }
        for (term, until) in new {
            self.run(PUT_POSTING, params![key, term, until])?;
        }
        Ok(())
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
        is_left_behind: row.get(2)?,
        is_open: row.get(3)?,
        fields: row.get(4)?,
    };
    Ok((columns, row.get(5)?))
}

fn number(text: &str) -> Result<U256, StoreError> {
    U256::from_str_radix(text, 10).map_err(|_| StoreError::Damaged)
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
  is_left_behind INTEGER NOT NULL,
  is_open INTEGER NOT NULL,
  fields TEXT NOT NULL,
  sum BLOB NOT NULL
) STRICT;
CREATE INDEX left_behind ON purchase (fingerprint, key) WHERE is_left_behind;
CREATE INDEX open ON purchase (key) WHERE is_open;
CREATE TABLE payment (
  key BLOB NOT NULL REFERENCES purchase (key),
  place INTEGER NOT NULL,
  sealed BLOB NOT NULL,
  PRIMARY KEY (key, place)
) STRICT;
CREATE TABLE kept (
  key BLOB NOT NULL PRIMARY KEY REFERENCES purchase (key),
  status INTEGER NOT NULL,
  fields TEXT NOT NULL,
  body BLOB NOT NULL,
  sum BLOB NOT NULL
) STRICT;
CREATE TABLE posting (
  key BLOB NOT NULL REFERENCES purchase (key),
  term TEXT NOT NULL,
  until INTEGER NOT NULL,
  PRIMARY KEY (key, term)
) STRICT, WITHOUT ROWID;
CREATE INDEX due ON posting (until, term, key);
CREATE INDEX posted ON posting (term, until, key);
CREATE TABLE meter (
  meter TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;
CREATE TABLE total (
  meter TEXT NOT NULL,
  subject TEXT NOT NULL,
  sum TEXT NOT NULL,
  PRIMARY KEY (meter, subject)
) STRICT, WITHOUT ROWID;
CREATE TABLE pin (
  origin TEXT NOT NULL,
  asset TEXT NOT NULL,
  payee BLOB NOT NULL,
  PRIMARY KEY (origin, asset)
) STRICT, WITHOUT ROWID;
CREATE TABLE switch (
  one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
  halted INTEGER NOT NULL
) STRICT;
INSERT INTO switch VALUES (1, 0);
";

/// Begins each query for whole records.
macro_rules! purchases {
    ($rest:literal) => {
        concat!(
            "SELECT key, fingerprint, is_left_behind, is_open, fields, sum FROM purchase ",
            $rest
        )
    };
}

const BY_KEY: &str = purchases!("WHERE key = ?");
const ALL: &str = purchases!("ORDER BY key");
const LEFT_BEHIND: &str = purchases!("WHERE is_left_behind AND fingerprint = ? ORDER BY key");
const OPEN: &str = purchases!("WHERE is_open ORDER BY key");
const PUT: &str = "INSERT INTO purchase VALUES (?, ?, ?, ?, ?, ?) \
    ON CONFLICT (key) DO UPDATE SET fingerprint = excluded.fingerprint, \
    is_left_behind = excluded.is_left_behind, \
    is_open = excluded.is_open, fields = excluded.fields, sum = excluded.sum";
const REMOVE: &str = "DELETE FROM purchase WHERE key = ?";
const DUE: &str = "SELECT term, key FROM posting WHERE until <= ? ORDER BY until, term LIMIT 1";
const POSTED: &str = "SELECT until, key FROM posting WHERE term = ? ORDER BY until, key LIMIT ?";
const POSTINGS: &str = "SELECT term, until FROM posting WHERE key = ?";
const PUT_POSTING: &str = "INSERT INTO posting VALUES (?, ?, ?) \
    ON CONFLICT (key, term) DO UPDATE SET until = excluded.until";
const REMOVE_POSTING: &str = "DELETE FROM posting WHERE key = ? AND term = ?";
const METERS: &str = "SELECT meter FROM meter ORDER BY meter";
const ADD_METER: &str = "INSERT INTO meter VALUES (?)";
const SUM: &str = "SELECT sum FROM total WHERE meter = ? AND subject = ?";
const SET_SUM: &str = "INSERT INTO total VALUES (?, ?, ?) \
    ON CONFLICT (meter, subject) DO UPDATE SET sum = excluded.sum";
const REMOVE_SUM: &str = "DELETE FROM total WHERE meter = ? AND subject = ?";
const SUMS: &str = "SELECT meter, subject, sum FROM total";
const REMOVE_SUMS: &str = "DELETE FROM total";
const PIN: &str = "SELECT payee FROM pin WHERE origin = ? AND asset = ?";
const PINS: &str = "SELECT origin, asset, payee FROM pin ORDER BY origin, asset";
const SET_PIN: &str = "INSERT INTO pin VALUES (?, ?, ?) \
    ON CONFLICT (origin, asset) DO UPDATE SET payee = excluded.payee";
const REMOVE_PIN: &str = "DELETE FROM pin WHERE origin = ? AND asset = ?";
const HALTED: &str = "SELECT halted FROM switch WHERE one = 1";
const SET_HALTED: &str = "UPDATE switch SET halted = ? WHERE one = 1";
const PAYMENTS: &str = "SELECT sealed FROM payment WHERE key = ? ORDER BY place";
const PUT_PAYMENT: &str = "INSERT INTO payment VALUES (?, ?, ?) ON CONFLICT (key, place) \
    DO UPDATE SET sealed = excluded.sealed WHERE sealed <> excluded.sealed";
const REMOVE_PAYMENTS: &str = "DELETE FROM payment WHERE key = ? AND place >= ?";
const KEPT: &str = "SELECT status, fields, body, sum FROM kept WHERE key = ?";
const PUT_KEPT: &str = "INSERT INTO kept VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) \
    DO UPDATE SET status = excluded.status, fields = excluded.fields, body = excluded.body, \
    sum = excluded.sum WHERE sum <> excluded.sum";
const REMOVE_KEPT: &str = "DELETE FROM kept WHERE key = ?";
