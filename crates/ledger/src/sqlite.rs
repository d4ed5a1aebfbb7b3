//! A ledger in one SQLite file, which outlives the process and which processes of one machine share.

mod failure;
mod file;
mod network;
mod reader;
mod row;
mod shelf;
mod writer;

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use paywait_signals::Timestamp;
use paywait_x402::alloy_primitives::Address;
use paywait_x402::{Asset, PurchaseKey, SignedPayment, Usd};
use rusqlite::Connection;
use uuid::Uuid;

pub use file::OpenError;

use crate::bounds::Bounds;
use crate::line::lines;
use crate::shelf::Shelf as _;
use crate::{
    Durable, Fingerprint, Intent, Ledger, LedgerError, Limits, Line, Note, Origin, Owner, Pin,
    Record, Resolution, Taken,
};
use file::{Opening, Place};
use reader::Reader;
use writer::Queue;

/// A ledger in one SQLite file.
///
/// Processes of one machine that open the same file share its records and what they count; each
/// registers its own limits. A write is answered when it would survive a loss of power. Whoever can
/// read the file can cash the payments in it: it is made so that its owner alone can, and belongs
/// where keys belong.
///
/// One thread writes; what waits for it shares a transaction. Dropping the ledger has it write what
/// still waits, and blocks so long.
///
/// ```
/// use paywait_ledger::{OpenError, SqliteLedger};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("ledger.db");
/// // a ledger that is missing is never taken for an empty one
/// assert_eq!(SqliteLedger::open(&path).unwrap_err(), OpenError::Missing);
/// let ledger = SqliteLedger::create(&path)?;
/// # Ok(()) }
/// ```
pub struct SqliteLedger {
    bounds: Arc<Mutex<Bounds>>,
    queue: Queue,
    reader: Reader,
}

impl SqliteLedger {
    /// Makes a file with an empty ledger, as [`SqliteOptions`] do by default.
    ///
    /// # Errors
    ///
    /// [`OpenError::Exists`], if there is anything at `path`, and the others.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        SqliteOptions::default().create(path)
    }

    /// Opens the ledger of a file, as [`SqliteOptions`] do by default.
    ///
    /// # Errors
    ///
    /// [`OpenError::Missing`], if there is none, and the others.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        SqliteOptions::default().open(path)
    }

    /// Returns what counts against the day at `now`, in dollars: settled, held and presumed.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Store`].
    pub fn used_today(&self, now: Timestamp) -> Durable<Result<Usd, LedgerError>> {
        self.queue.write(move |books| books.used(now))
    }

    /// Returns the purchase of `key` as it was written last, beside the thread that writes. What is
    /// there for statements alone is not found.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Store`].
    pub fn purchase(&self, key: PurchaseKey) -> Durable<Result<Option<Record>, LedgerError>> {
        self.reader.read(move |pages| {
            let found = pages.get(key)?;
            Ok(found.filter(|record| !record.is_archived()))
        })
    }

    /// Returns whether everything is [halted](Ledger::halt), beside the thread that writes.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Store`].
    pub fn is_halted(&self) -> Durable<Result<bool, LedgerError>> {
        self.reader.read(|pages| pages.is_halted())
    }

    /// Returns the payees that are pinned, by origin and token, beside the thread that writes.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Store`].
    pub fn pins(&self) -> Durable<Result<Vec<Pin>, LedgerError>> {
        self.reader.read(|pages| pages.pins())
    }

    fn start(
        opening: Opening,
        (connection, place): (Connection, Place),
    ) -> Result<Self, OpenError> {
        let reader = Reader::new(opening, &place);
        // what was left behind is taken over within this opening alone
        let instance = Uuid::new_v4().as_u64_pair().0;
        let bounds = Arc::new(Mutex::new(Bounds::of_instance(instance)));
        let queue = Queue::start(connection, place, Arc::clone(&bounds))
            .map_err(|error| OpenError::File(error.kind()))?;
        Ok(Self {
            bounds,
            queue,
            reader,
        })
    }
}

/// How a SQLite ledger is opened.
#[derive(Clone, Copy, Debug)]
pub struct SqliteOptions {
    opening: Opening,
}

impl SqliteOptions {
    /// Sets for how long a write waits for another process that has the file, and at most a day.
    /// Five seconds by default.
    #[must_use]
    pub const fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.opening.busy_timeout = timeout;
        self
    }

    /// Sets how large the file may grow, in pages of 4096 bytes. What would pass it is refused with
    /// [`StoreError::Full`](crate::StoreError::Full). The disk is the bound by default.
    #[must_use]
    pub const fn most_pages(mut self, most: u32) -> Self {
        self.opening.most_pages = Some(most);
        self
    }

    /// Makes a file with an empty ledger. It blocks while it does.
    ///
    /// # Errors
    ///
    /// [`OpenError::Exists`], if there is anything at `path`, and the others.
    pub fn create(self, path: impl AsRef<Path>) -> Result<SqliteLedger, OpenError> {
        SqliteLedger::start(self.opening, self.opening.create(path.as_ref())?)
    }

    /// Opens the ledger of a file, and checks the whole of it. It blocks while it does.
    ///
    /// # Errors
    ///
    /// [`OpenError::Missing`], if there is none, and the others.
    pub fn open(self, path: impl AsRef<Path>) -> Result<SqliteLedger, OpenError> {
        SqliteLedger::start(self.opening, self.opening.open(path.as_ref())?)
    }
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            opening: Opening {
                busy_timeout: BUSY_TIMEOUT,
                most_pages: None,
            },
        }
    }
}

impl Ledger for SqliteLedger {
    fn register(&self, limits: &Limits) {
        let mut bounds = self.bounds.lock().unwrap_or_else(PoisonError::into_inner);
        bounds.register(limits);
    }

    fn forgets_at_restart(&self) -> bool {
        false
    }

    fn take(
        &self,
        key: PurchaseKey,
        fingerprint: Fingerprint,
        owner: Owner,
        now: Timestamp,
    ) -> Durable<Result<Taken, LedgerError>> {
        self.queue
            .write(move |books| books.take(key, fingerprint, owner, now))
    }

    fn intend(
        &self,
        intent: Intent,
        owner: Owner,
        now: Timestamp,
    ) -> Durable<Result<Taken, LedgerError>> {
        self.queue
            .write(move |books| books.intend(intent, owner, now))
    }

    fn persist(
        &self,
        key: PurchaseKey,
        owner: Owner,
        payment: SignedPayment,
        now: Timestamp,
    ) -> Durable<Result<SignedPayment, LedgerError>> {
        self.queue
            .write(move |books| books.persist(key, owner, payment, now))
    }

    fn note(
        &self,
        key: PurchaseKey,
        owner: Owner,
        note: Note,
        now: Timestamp,
    ) -> Durable<Result<(), LedgerError>> {
        self.queue
            .write(move |books| books.note(key, owner, note, now))
    }

    fn renew(
        &self,
        key: PurchaseKey,
        owner: Owner,
        now: Timestamp,
    ) -> Durable<Result<(), LedgerError>> {
        self.queue.write(move |books| books.renew(key, owner, now))
    }

    fn release(&self, key: PurchaseKey, owner: Owner, signer_asked: bool) {
        // one that is lost leaves the hold, and the lease runs out
        self.queue
            .leave(move |books| books.release(key, owner, signer_asked));
    }

    fn open_purchases(&self) -> Durable<Result<Vec<Record>, LedgerError>> {
        self.queue.write(|books| books.shelf.open())
    }

    fn resolve(
        &self,
        key: PurchaseKey,
        resolution: Resolution,
        now: Timestamp,
    ) -> Durable<Result<(), LedgerError>> {
        self.queue
            .write(move |books| books.resolve(key, resolution, now))
    }

    fn halt(&self, halted: bool) -> Durable<Result<(), LedgerError>> {
        self.queue.write(move |books| books.halt(halted))
    }

    fn unpin(&self, origin: Origin, asset: Asset) -> Durable<Result<Option<Address>, LedgerError>> {
        self.queue.write(move |books| books.unpin(&origin, asset))
    }

    fn lines(
        &self,
        since: Timestamp,
        until: Timestamp,
        now: Timestamp,
    ) -> Durable<Result<Vec<Line>, LedgerError>> {
        // beside the thread that writes: a long statement keeps nobody from paying
        self.reader
            .read(move |pages| lines(pages, [since, until], now))
    }
}

impl fmt::Debug for SqliteLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteLedger").finish_non_exhaustive()
    }
}

const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
