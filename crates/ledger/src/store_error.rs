//! Why a store did not write.

/// Why a store did not write. None of it is a reason to sign all the same.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process held the store for longer than this one waits.
    #[error("another process keeps the ledger locked")]
    Busy,
    /// There is no more room, on the disk or under the bound that was set.
    #[error("the ledger has no room to grow")]
    Full,
    /// It may not be written.
    #[error("the ledger may not be written")]
    ReadOnly,
    /// What it holds is not what was written.
    #[error("the ledger is damaged")]
    Damaged,
    /// Its file is no longer where it was opened.
    #[error("the ledger's file was moved, replaced or deleted")]
    Moved,
    /// It was brought into the format of another version meanwhile.
    #[error("the ledger's format is of another version")]
    Version,
    /// So many writes wait that one more would wait too long.
    #[error("too many writes wait for the ledger")]
    Crowded,
    /// It did not confirm in time. It may have written all the same.
    #[error("the ledger did not confirm the write in time")]
    Late,
    /// The ledger was closed, or what writes it has died.
    #[error("the ledger is closed")]
    Closed,
    /// The store said something else.
    #[error("the ledger's store failed with code {code}")]
    Other {
        /// The store's own code: of SQLite, the extended result code.
        code: i32,
    },
}
