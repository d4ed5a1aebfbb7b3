//! The one thread that writes a SQLite ledger, and the queue before it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use futures_channel::oneshot;
use rusqlite::{Connection, TransactionBehavior};

use super::failure::Stored as _;
use super::file::Place;
use super::shelf::Pages;
use crate::books::Books;
use crate::bounds::Bounds;
use crate::{Durable, LedgerError, StoreError};

/// The queue before the thread that writes. Dropping it has the thread write what waits, and waits
/// for it.
#[derive(Debug)]
pub(crate) struct Queue {
    jobs: Option<SyncSender<Box<dyn Job>>>,
    waiting: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl Queue {
    /// Starts the thread.
    pub(crate) fn start(
        connection: Connection,
        place: Place,
        bounds: Arc<Mutex<Bounds>>,
    ) -> std::io::Result<Self> {
        // a release is let in where other writes are not any more
        let (sender, jobs) = sync_channel(MOST_WAITING.saturating_mul(2));
        let waiting = Arc::default();
        let writer = Writer {
            connection,
            place,
            bounds,
            jobs,
            waiting: Arc::clone(&waiting),
        };
        let thread = std::thread::Builder::new().name("paywait-ledger".to_owned());
        Ok(Self {
            jobs: Some(sender),
            waiting,
            thread: Some(thread.spawn(move || writer.run())?),
        })
    }

    /// Queues a change now, and returns what comes of it once it is durable.
    pub(crate) fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Books<'_, Pages<'_>>) -> Result<T, LedgerError> + Send + 'static,
    ) -> Durable<Result<T, LedgerError>> {
        let (sender, answer) = oneshot::channel();
        let crowded = self.waiting.load(Ordering::Relaxed) >= MOST_WAITING;
        let queued = match crowded {
            true => Err(StoreError::Crowded),
            false => self.push(Write::new(change, Some(sender))),
        };
        Box::pin(async move {
            queued?;
            let answer = answer.await;
            answer.unwrap_or_else(|_| Err(StoreError::Closed.into()))
        })
    }

    /// Queues a change whose end nobody waits for. It may be lost where twice as much waits as
    /// should.
    pub(crate) fn leave(
        &self,
        change: impl FnOnce(&mut Books<'_, Pages<'_>>) -> Result<(), LedgerError> + Send + 'static,
    ) {
        self.push(Write::new(change, None)).ok();
    }

    fn push(&self, job: impl Job + 'static) -> Result<(), StoreError> {
        let jobs = self.jobs.as_ref().ok_or(StoreError::Closed)?;
        // counted first, so that it is never counted off before
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let sent = jobs.try_send(Box::new(job));
        sent.map_err(|error| {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            match error {
                std::sync::mpsc::TrySendError::Full(_) => StoreError::Crowded,
                std::sync::mpsc::TrySendError::Disconnected(_) => StoreError::Closed,
            }
        })
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        drop(self.jobs.take());
        let Some(thread) = self.thread.take() else {
            return;
        };
        // the thread itself may drop the last ledger, with a waiter that it wakes
        let is_own = thread.thread().id() == std::thread::current().id();
        if !is_own {
            thread.join().ok();
        }
    }
}

/// Owns the connection. It writes what waits in one transaction, so that many callers share one
/// wait for the disk.
struct Writer {
    connection: Connection,
    place: Place,
    bounds: Arc<Mutex<Bounds>>,
    jobs: Receiver<Box<dyn Job>>,
    waiting: Arc<AtomicUsize>,
}

impl Writer {
    fn run(mut self) {
        while let Ok(first) = self.jobs.recv() {
            let more = self.jobs.try_iter().take(MOST_AT_ONCE);
            let mut batch: Vec<_> = std::iter::once(first).chain(more).collect();
            self.waiting.fetch_sub(batch.len(), Ordering::Relaxed);
            let written = self.write(&mut batch);
            for job in batch {
                job.answer(written);
            }
        }
    }

    /// Writes all of a batch, or nothing.
    fn write(&mut self, batch: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
        self.place.check()?;
        let begun = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = begun.stored()?;
        super::file::check_version(&transaction)?;
        // what was registered before a change was queued holds for it
        let bounds = self.bounds.lock().unwrap_or_else(PoisonError::into_inner);
        let bounds = bounds.clone();
        let mut books = Books {
            shelf: &mut Pages::new(&transaction),
            bounds: &bounds,
        };
        for job in batch {
            job.run(&mut books)?;
        }
        transaction.commit().stored()
    }
}

/// One change that waits to be written.
trait Job: Send {
    /// Makes the change. An error is the store's: it undoes all that was made with it.
    fn run(&mut self, books: &mut Books<'_, Pages<'_>>) -> Result<(), StoreError>;

    /// Says what came of it, once all that was made with it is durable or undone.
    fn answer(self: Box<Self>, written: Result<(), StoreError>);
}

struct Write<T, F> {
    change: Option<F>,
    made: Result<T, LedgerError>,
    waiter: Option<oneshot::Sender<Result<T, LedgerError>>>,
}

impl<T, F> Write<T, F> {
    const fn new(change: F, waiter: Option<oneshot::Sender<Result<T, LedgerError>>>) -> Self {
        Self {
            change: Some(change),
            made: Err(LedgerError::Store(StoreError::Closed)),
            waiter,
        }
    }
}

impl<T, F> Job for Write<T, F>
where
    T: Send,
    F: FnOnce(&mut Books<'_, Pages<'_>>) -> Result<T, LedgerError> + Send,
{
    fn run(&mut self, books: &mut Books<'_, Pages<'_>>) -> Result<(), StoreError> {
        if let Some(change) = self.change.take() {
            self.made = change(books);
        }
        match self.made {
            Err(LedgerError::Store(error)) => Err(error),
            _ => Ok(()),
        }
    }

    fn answer(self: Box<Self>, written: Result<(), StoreError>) {
        if let Some(waiter) = self.waiter {
            // whoever has gone needs no answer
            waiter
                .send(written.map_err(LedgerError::Store).and(self.made))
                .ok();
        }
    }
}

/// So many writes may wait. At a millisecond each that is more than any caller waits for.
const MOST_WAITING: usize = 4096;

/// So many more are written together with one.
const MOST_AT_ONCE: usize = 255;
