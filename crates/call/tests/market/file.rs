//! Records in a file, which a process that dies leaves behind and the next one opens.

use std::sync::Arc;

use paywait_ledger::SqliteLedger;
use tempfile::TempDir;

use crate::market::{Books, ready};

/// Records in a new file.
pub(crate) fn in_a_file() -> Books {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let ledger = SqliteLedger::create(folder.path().join("ledger")).unwrap();
    of(ledger, folder)
}

fn of(ledger: SqliteLedger, folder: Arc<TempDir>) -> Books {
    let ledger = Arc::new(ledger);
    let used = Arc::clone(&ledger);
    Books {
        ledger,
        used: Arc::new(move |now| ready(used.used_today(now)).unwrap()),
        reopens: Arc::new(move |_| {
            let ledger = SqliteLedger::open(folder.path().join("ledger")).unwrap();
            of(ledger, Arc::clone(&folder))
        }),
    }
}
