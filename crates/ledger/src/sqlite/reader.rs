//! Reads a SQLite ledger beside the thread that writes it.

use std::path::PathBuf;

use futures_channel::oneshot;

use super::failure::Stored as _;
use super::file::{Opening, Place, check_version, store_error_of};
use super::shelf::Pages;
use crate::{Durable, LedgerError, StoreError};

/// Reads beside the thread that writes, each time by a connection of its own, of what was written
/// before.
#[derive(Debug)]
pub(crate) struct Reader {
    opening: Opening,
    path: PathBuf,
}

impl Reader {
    pub(crate) fn new(opening: Opening, place: &Place) -> Self {
        let path = place.path().to_owned();
        Self { opening, path }
    }

    /// Starts reading now, on a thread of its own, and returns what was read.
    pub(crate) fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut Pages<'_>) -> Result<T, LedgerError> + Send + 'static,
    ) -> Durable<Result<T, LedgerError>> {
        let (sender, answer) = oneshot::channel();
        let (opening, path) = (self.opening, self.path.clone());
        let thread = std::thread::Builder::new().name("paywait-statement".to_owned());
        let started = thread.spawn(move || {
            let read = (|| {
                let mut connection = opening.connect(&path, false).map_err(store_error_of)?;
                let transaction = connection.transaction().stored()?;
                check_version(&transaction)?;
                read(&mut Pages::new(&transaction))
            })();
            // whoever has gone needs no answer
            sender.send(read).ok();
        });
        Box::pin(async move {
            started.map_err(|_| StoreError::Closed)?;
            let answer = answer.await;
            answer.unwrap_or_else(|_| Err(StoreError::Closed.into()))
        })
    }
}
