//! What SQLite's errors say to a caller.

use rusqlite::{Error, ErrorCode};

use crate::StoreError;

/// A result of SQLite, as the reason for which nothing was written.
pub(crate) trait Stored<T> {
    fn stored(self) -> Result<T, StoreError>;
}

impl<T> Stored<T> for rusqlite::Result<T> {
    fn stored(self) -> Result<T, StoreError> {
        self.map_err(|error| reason(&error))
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "what has no reason of its own keeps its code"
)]
pub(crate) fn reason(error: &Error) -> StoreError {
    let Some(failure) = error.sqlite_error() else {
        // a value is missing, or of another type than was written
        return StoreError::Damaged;
    };
    match failure.code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreError::Busy,
        ErrorCode::DiskFull => StoreError::Full,
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => StoreError::ReadOnly,
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => StoreError::Damaged,
        _ => StoreError::Other {
            code: failure.extended_code,
        },
    }
}
