//! The file of a SQLite ledger: how it is made and opened, and what is refused.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, MAIN_DB, OpenFlags, TransactionBehavior};

use super::failure::{Stored as _, reason};
use super::network;
use super::shelf::{Pages, TABLES};
use crate::meter::Meter;
use crate::shelf::Shelf as _;
use crate::sums::Shares;
use crate::{LedgerError, StoreError};

/// Why a ledger's file was not opened.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no such file. A ledger is made on purpose: an empty one in place of one that was
    /// lost would buy again what is paid.
    #[error("there is no ledger at this path")]
    Missing,
    /// There is a file already.
    #[error("there is a file at this path already")]
    Exists,
    /// It is on a file system that other machines write too, whose locks cannot be relied on.
    #[error("a ledger cannot be kept on a network file system ({0})")]
    Network(&'static str),
    /// The file system cannot share it between processes.
    #[error("the file system cannot share a ledger between processes")]
    Unshared,
    /// It is something else.
    #[error("the file is not a ledger")]
    NotALedger,
    /// It is of another version.
    #[error("the ledger's format is version {found}, and this program knows version {known}")]
    Version {
        /// The version of the file.
        found: i32,
        /// The version that this program reads and writes.
        known: i32,
    },
    /// The file system failed.
    #[error("the ledger's file cannot be used: {0}")]
    File(ErrorKind),
    /// The store failed.
    #[error("the ledger cannot be opened: {0}")]
    Store(#[from] StoreError),
}

/// How a file is opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    pub(crate) busy_timeout: Duration,
    pub(crate) most_pages: Option<u32>,
}

impl Opening {
    /// Makes a file with an empty ledger.
    pub(crate) fn create(self, path: &Path) -> Result<(Connection, Place), OpenError> {
        // an empty parent is the current directory
        let parent = path.parent().filter(|parent| *parent != Path::new(""));
        let parent = parent.unwrap_or_else(|| Path::new("."));
        network::refuse(parent)?;
        make(path)?;
        let made = self.fill(path).and_then(|connection| {
            sync(parent)?;
            Ok((connection, Place::of(path)?))
        });
        if made.is_err() {
            // nobody has written to it
            std::fs::remove_file(path).ok();
        }
        made
    }

    fn fill(self, path: &Path) -> Result<Connection, OpenError> {
        let mut connection = self.connect(path, true)?;
        let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = begun.stored()?;
        transaction.execute_batch(TABLES).stored()?;
        let daily = Pages::new(&transaction).add_meter(&Meter::daily_dollars());
        daily.map_err(|error| store_error(&error))?;
        transaction
            .pragma_update(None, "application_id", APPLICATION)
            .stored()?;
        transaction
            .pragma_update(None, "user_version", VERSION)
            .stored()?;
        transaction.commit().stored()?;
        Ok(connection)
    }

    /// Opens a file that holds a ledger.
    pub(crate) fn open(self, path: &Path) -> Result<(Connection, Place), OpenError> {
        let place = Place::of(path)?;
        network::refuse(path)?;
        let mut connection = self.connect(path, false)?;
        check(&connection)?;
        sum_up(&mut connection)?;
        Ok((connection, place))
    }

    pub(crate) fn connect(self, path: &Path, is_new: bool) -> Result<Connection, OpenError> {
        // a whole path: SQLite takes some short ones for something else than a file
        let path = std::fs::canonicalize(path).map_err(|error| not_found(&error))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).stored()?;
        let busy_timeout = self.busy_timeout.min(LONGEST_BUSY);
        connection.busy_timeout(busy_timeout).stored()?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        if connection.is_readonly(MAIN_DB).stored()? {
            return Err(StoreError::ReadOnly.into());
        }
        // before anything is written to what may be somebody else's
        refuse_foreign(&connection, is_new)?;
        let mode: String = connection
            .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))
            .stored()?;
        if mode != "wal" {
            return Err(OpenError::Unshared);
        }
        // a commit that was answered stands after the power went
        connection
            .pragma_update(None, "synchronous", "FULL")
            .stored()?;
        connection.pragma_update(None, "fullfsync", true).stored()?;
        if let Some(most) = self.most_pages {
            connection
                .pragma_update_and_check(None, "max_page_count", most, |_| Ok(()))
                .stored()?;
        }
        Ok(connection)
    }
}

/// Where the file is that was opened.
#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
    id: Option<(u64, u64)>,
}

impl Place {
    fn of(path: &Path) -> Result<Self, OpenError> {
        let path = std::fs::canonicalize(path).map_err(|error| not_found(&error))?;
        let metadata = std::fs::metadata(&path).map_err(|error| not_found(&error))?;
        if !metadata.is_file() {
            return Err(OpenError::NotALedger);
        }
        let id = id_of(&metadata);
        Ok(Self { path, id })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that the path still leads to the file: what is written to another is not read by
    /// whoever opens it next.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        let metadata = std::fs::metadata(&self.path).map_err(|_| StoreError::Moved)?;
        if id_of(&metadata) == self.id {
            Ok(())
        } else {
            Err(StoreError::Moved)
        }
    }
}

/// Checks, within a transaction, that the format is still the one that was opened.
pub(crate) fn check_version(connection: &Connection) -> Result<(), StoreError> {
    let found: i32 = connection
        .prepare_cached("PRAGMA user_version")
        .and_then(|mut query| query.query_row([], |row| row.get(0)))
        .stored()?;
    if found == VERSION {
        Ok(())
    } else {
        Err(StoreError::Version)
    }
}

/// Makes an empty file that nobody else may read: what it will hold can be cashed. What SQLite
/// makes beside it gets the same permissions.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the file system's other reasons are told as they are"
)]
fn make(path: &Path) -> Result<(), OpenError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let made = options.open(path);
    made.map(drop).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => OpenError::Exists,
        kind => OpenError::File(kind),
    })
}

/// Makes the file's name as durable as what is in it.
fn sync(directory: &Path) -> Result<(), OpenError> {
    if cfg!(unix) {
        std::fs::File::open(directory)
            .and_then(|directory| directory.sync_all())
            .map_err(|error| OpenError::File(error.kind()))?;
    }
    Ok(())
}

/// Refuses what another program made, and what another version of this one did. An empty file is
/// nobody's yet, if it was made just now.
fn refuse_foreign(connection: &Connection, is_new: bool) -> Result<(), OpenError> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let application = pragma("application_id").map_err(|error| unreadable(&error))?;
    let is_nobodys = is_new && pragma("page_count").stored()? == 0;
    if application != APPLICATION && !is_nobodys {
        return Err(OpenError::NotALedger);
    }
    let found = pragma("user_version").stored()?;
    if found != VERSION && !is_nobodys {
        let known = VERSION;
        return Err(OpenError::Version { found, known });
    }
    Ok(())
}

/// Reads the whole file. An index that does not agree with its table would hide what counts, and a row
/// that is missing a purchase.
fn check(connection: &Connection) -> Result<(), OpenError> {
    let said: String = connection
        .pragma_query_value(None, "integrity_check", |row| row.get(0))
        .stored()?;
    let mut orphans = connection.prepare("PRAGMA foreign_key_check").stored()?;
    let is_whole = !orphans.exists([]).stored()?;
    if said == "ok" && is_whole {
        Ok(())
    } else {
        Err(StoreError::Damaged.into())
    }
}

/// Writes the sums anew, from the records, where they do not agree: the records are what is true. As
/// long as they agree, which takes long to see in a large file, nobody else is kept from writing.
fn sum_up(connection: &mut Connection) -> Result<(), OpenError> {
    let reading = connection.transaction().stored()?;
    let seen = disagreeing(&mut Pages::new(&reading)).map_err(|error| store_error(&error))?;
    drop(reading);
    if seen.is_none() {
        return Ok(());
    }
    let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate);
    let transaction = begun.stored()?;
    let mut pages = Pages::new(&transaction);
    let written = disagreeing(&mut pages).and_then(|counted| match counted {
        None => Ok(()),
        Some(counted) => pages.set_sums(&counted),
    });
    written.map_err(|error| store_error(&error))?;
    transaction.commit().stored()?;
    Ok(())
}

/// Returns the sums as the records say them, where those that are written say something else.
fn disagreeing(pages: &mut Pages<'_>) -> Result<Option<Shares>, LedgerError> {
    let counted = pages.counted()?;
    Ok((pages.sums()? != counted).then_some(counted))
}

/// Returns why what is open already could not be read.
pub(crate) fn store_error_of(error: OpenError) -> StoreError {
    match error {
        OpenError::Store(error) => error,
        OpenError::Version { .. } => StoreError::Version,
        OpenError::Missing
        | OpenError::Exists
        | OpenError::Network(_)
        | OpenError::Unshared
        | OpenError::NotALedger
        | OpenError::File(_) => StoreError::Moved,
    }
}

fn store_error(error: &LedgerError) -> StoreError {
    if let LedgerError::Store(error) = error {
        return *error;
    }
    // no rule is asked here
    StoreError::Damaged
}

fn not_found(error: &std::io::Error) -> OpenError {
    if error.kind() == ErrorKind::NotFound {
        OpenError::Missing
    } else {
        OpenError::File(error.kind())
    }
}

fn unreadable(error: &rusqlite::Error) -> OpenError {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => OpenError::NotALedger,
        _ => reason(error).into(),
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere a file has none")]
fn id_of(metadata: &std::fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
const fn id_of(_metadata: &std::fs::Metadata) -> Option<(u64, u64)> {
    None
}

/// "PayW", the mark of a ledger in the header of its file.
const APPLICATION: i32 = 0x5061_7957;

/// The version of the tables.
const VERSION: i32 = 1;

/// How many statements are kept prepared: all that there are.
const STATEMENTS: usize = 48;

/// The longest that SQLite can be told to wait is some days.
const LONGEST_BUSY: Duration = Duration::from_secs(24 * 60 * 60);
